"""A rank or a client of pauses that dies at a named point: ``tests.faults.pause_child PORT WHO POINT HIT``.

``WHO`` is "rank" or what a client does. ``HIT``-th passages of the point count from the first word on standard input,
or for a rank from the start. One word a line tells how far it has come.
"""

from __future__ import annotations

import sys
from typing import Any

from fdcomm import EngineCacheQueue, PauseControl
from fdcomm.testing.faults import Fault, FaultRuntime
from tests.conformance.waiting import until

__all__ = ("main",)

LIMIT_S = 60.0  # a watchdog


def _say(*words: object) -> None:
    print(*words, flush=True)


def _rank(queue: EngineCacheQueue, runtime: FaultRuntime, point: str) -> None:
    """All that a rank does once, with a pause that keeps its job."""
    control = PauseControl(queue, rank=True)
    job = control.admit(timeout=LIMIT_S)
    _say("admitted")
    jobs = control._jobs
    assert jobs is not None
    until(lambda: jobs._gate.shut, "the order")  # a look that is no call
    job.checkpoint(timeout=LIMIT_S)
    job.done()
    control.close()
    _say("passed", runtime.passages(point))


def _client(queue: EngineCacheQueue, what: str) -> None:
    control = PauseControl(queue)
    if what == "held":
        with control.held():
            _say("holds")
            sys.stdin.readline()
    elif what == "clear":
        control.clear(lambda: _say("clears"), timeout=LIMIT_S)
    else:
        getattr(control, what)(**({} if what == "statistics" else {"timeout": LIMIT_S}))


def main() -> None:
    """Run."""
    port, who, point, hit = sys.argv[1:]
    runtime = FaultRuntime([Fault(point, "kill", int(hit))] if who == "rank" else ())
    role: Any = None if who == "rank" else "producer"
    address = ("0.0.0.0", int(port))
    with EngineCacheQueue(address, num_client=2, client_id=0, role=role, runtime=runtime) as queue:
        if who == "rank":
            _rank(queue, runtime, point)
            return
        queue.result_queue_empty()  # opens this thread's connection
        _say("ready")
        sys.stdin.readline()
        runtime.arm(Fault(point, "kill", runtime.passages(point) + int(hit)))
        _client(queue, who)
        _say("done")


if __name__ == "__main__":
    main()
