"""Small runs of a real host, recorded: the accepted half of the corpus. All of one shape: 2 ranks, depth 2."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from fdcomm.errors import ClosedError, CommTimeoutError, PeerLostError
from tests.conformance.backends import Queue, lose, opened
from tests.conformance.waiting import Background, until

__all__ = ("RECORDINGS", "record")

_LONG_S = 60.0


def _steady(queue: Queue) -> None:
    first, second = queue.readers()
    for number in range(2):
        queue.engine.put_tasks(number, timeout=_LONG_S)
    for reader in (first, second, second, first):
        reader.get_tasks()
    queue.engine.put_tasks("last", timeout=_LONG_S)
    second.get_tasks()
    first.get_tasks()


def _clear(queue: Queue) -> None:
    first, second = queue.readers()
    for number in range(2):
        queue.engine.put_tasks(number, timeout=_LONG_S)
    first.get_tasks()
    queue.engine.clear_data()  # drops the second batch, keeps the first for rank 1
    queue.engine.put_tasks("new", timeout=_LONG_S)
    for reader in (second, second, first):
        reader.get_tasks()
    first.clear_data()
    queue.engine.put_tasks("newest", timeout=_LONG_S)
    second.clear_data()  # the same clear as that of rank 0: drops nothing
    for reader in (first, second):
        reader.get_tasks()


def _restart(queue: Queue) -> None:
    first, second = queue.readers()
    for number in range(2):
        queue.engine.put_tasks(number, timeout=_LONG_S)
    first.get_tasks()
    lose(second)
    until(lambda: queue.engine.statistics().lost == (1,))
    with contextlib.suppress(PeerLostError):
        queue.engine.put_tasks("for nobody", timeout=_LONG_S)
    again = queue.client(1, role="reader")  # skips the batch that rank 0 has started
    again.get_tasks()
    first.get_tasks()
    again.close()
    queue.engine.put_tasks("waits for the next reader", timeout=_LONG_S)
    first.get_tasks()
    queue.client(1).get_tasks()


def _waiting(queue: Queue) -> None:
    first, second = queue.readers()
    other = queue.client(0, role="producer")
    for number in range(2):
        queue.engine.put_tasks(number, timeout=_LONG_S)
    puts = []
    for number, handle in enumerate((queue.engine, other, queue.engine), 1):
        puts.append(Background(lambda h=handle: h.put_tasks("waits", timeout=_LONG_S)))  # type: ignore[misc]
        until(lambda n=number: queue.engine.statistics().waiting_puts == n)  # type: ignore[misc]
    with contextlib.suppress(CommTimeoutError):
        queue.engine.put_tasks("in vain", timeout=0.0)
    lose(other)
    until(lambda: queue.engine.statistics().waiting_puts == 2)
    with contextlib.suppress(ClosedError):
        puts[1].value()
    for reader in (first, second):
        reader.get_tasks()
        reader.get_tasks()
    for put in (puts[0], puts[2]):
        put.value()
    for reader in (first, second):
        reader.get_tasks()
        reader.get_tasks()


RECORDINGS: dict[str, Callable[[Queue], None]] = {
    "steady": _steady,
    "clear": _clear,
    "restart": _restart,
    "waiting": _waiting,
}


def record(name: str, trace: Path) -> None:
    """Run a scenario and record it."""
    with opened("unix", ranks=2, depth=2, trace=trace) as queue:
        RECORDINGS[name](queue)
