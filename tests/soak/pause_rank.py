"""A rank of the soak of pauses: each of its threads runs jobs, one after the other, until standard input ends.

Arguments: port, rank, number of the process, file of the shared words.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from pathlib import Path

from fdcomm import EngineCacheQueue, FdcommError, Job, JobCancelledError, PauseControl
from tests.soak.pause_words import RANKS, THREADS, Words

__all__ = ("main",)

LIMIT_S = 120.0  # a watchdog


def _do(job: Job, words: Words, who: tuple[int, int], rng: random.Random, stop: threading.Event) -> str:
    """Touch what a pause protects, except at checkpoints; returns how it ended."""
    words.busy(*who, True)
    for _ in range(rng.randrange(4)):
        words.busy(*who, False)
        try:
            job.checkpoint(timeout=LIMIT_S)
        except JobCancelledError:
            return "told to end"
        finally:
            words.busy(*who, True)
        stop.wait(rng.random() * 0.002)
    return "done"


def main() -> None:
    """Run."""
    port, rank, number = map(int, sys.argv[1:4])
    stop, failed = threading.Event(), threading.Event()
    with (
        Words(Path(sys.argv[4])) as words,
        EngineCacheQueue(("0.0.0.0", port), num_client=RANKS, client_id=rank) as queue,
    ):
        control = PauseControl(queue, rank=True)

        def jobs(thread: int) -> None:
            rng, who = random.Random(number * THREADS + thread), (rank, thread)
            while not stop.is_set():
                with control.admit(timeout=LIMIT_S) as job:
                    count = words.begun(*who)
                    how = _do(job, words, who, rng, stop)
                    queue.put_transfer_done_signal((number, rank, thread, count, how))
                    words.posted(*who)
                    words.busy(*who, False)
                stop.wait(rng.random() * 0.004)

        def work(thread: int) -> None:
            try:
                jobs(thread)
            except FdcommError as error:
                if not stop.is_set():
                    failed.set()
                    print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(THREADS)]
        for each in threads:
            each.start()
        print("joined", flush=True)
        sys.stdin.read()
        stop.set()
        control.close()
        for each in threads:
            each.join(LIMIT_S)
        left = control.inflight + sum(each.is_alive() for each in threads)
        print(json.dumps({"failed": failed.is_set(), "left": left, "counts": words.counts(rank)}), flush=True)


if __name__ == "__main__":
    main()
