"""A rank that runs jobs in two threads until its standard input ends: ``python -m tests.multiproc.pause_rank``."""

from __future__ import annotations

import contextlib
import json
import random
import sys
import threading

from fdcomm import EngineCacheQueue, FdcommError, JobCancelledError, PauseControl

__all__ = ("main",)


def main() -> None:
    """Run."""
    port, rank, seed = map(int, sys.argv[1:])
    ended = [0, 0]
    stop = threading.Event()
    with EngineCacheQueue(("0.0.0.0", port), num_client=4, client_id=rank) as queue:
        control = PauseControl(queue, rank=True)

        def work(number: int) -> None:
            rng = random.Random(seed * 10 + number)
            while not stop.is_set():
                try:
                    with contextlib.suppress(JobCancelledError), control.admit(timeout=60) as job:
                        for _ in range(rng.randrange(4)):
                            job.checkpoint(timeout=60)
                            stop.wait(0.0005)
                except FdcommError:
                    if not stop.is_set():
                        raise
                ended[number] += 1

        threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        print("joined", flush=True)
        sys.stdin.read()
        stop.set()
        control.close()
        for thread in threads:
            thread.join(60)
        if control.inflight:
            raise SystemExit("a job is still counted")
        print(json.dumps({"ended": sum(ended)}), flush=True)


if __name__ == "__main__":
    main()
