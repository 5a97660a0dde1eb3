"""Waiting until a signal has what the caller wants, without a busy loop.

A setter that finds no waiter does two memory accesses and no system call. That is sound because of what a waiter does:
it raises a flag, and then runs a barrier on the processors of all setters (membarrier), so that each of them has either
stored before, and the waiter sees it, or will see the flag. ``tla/word/Word.tla`` is the proof, step by step.

The interval at which a sleeping waiter looks by itself is a safety net, and the only one for: a setter that is killed
between its store and its wake-up, foreign code that stores into the array, a system without membarrier.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, FdcommError, SignalReplacedError
from fdcomm.signals.access import FIRST_PAUSE_S, LONGEST_PAUSE_S, WAITING, Access
from fdcomm.signals.layout import SUCCESSOR, WAITERS, WAKE

__all__ = ("INTERVAL_S", "wait_for")

T = TypeVar("T")

INTERVAL_S: Final = 0.25
"""How long a waiter sleeps at most before it looks again."""

# Where barriers do not reach the setters, and between the mark of a replaced segment and its loss of the name.
_SHORT_INTERVAL_S: Final = 0.01


def wait_for(
    access: Access, load: Callable[[], T], predicate: Callable[[T], bool], deadline: Deadline, operation: str
) -> T:
    """Return what ``load`` gives as soon as the predicate accepts it.

    Raises:
        CommTimeoutError: The deadline is over.
        ConfigError: The predicate cannot be called.
        SignalReplacedError: Another segment has the name, or none: nobody sets this one any more.
        ClosedError: The signal was closed in this process.
    """
    access.check()
    if not callable(predicate):
        raise ConfigError(f"{operation}: predicate={predicate!r} must be a function of the value", operation=operation)
    value = load()
    if predicate(value):
        return value
    if not access.sleeps:
        return _poll(access, load, predicate, deadline, operation)
    fd = access.descriptor()
    try:
        access.take(fd, WAITING, deadline, operation, shared=True)
        try:
            return _sleep(access, load, predicate, deadline, operation)
        finally:
            access.runtime.point("word.wait.leave")
            with contextlib.suppress(ClosedError):
                if access.try_take(fd, WAITING):
                    access.store(WAITERS, 0)
            access.give(fd, WAITING)
    finally:
        access.put_back(fd)


def _sleep(
    access: Access, load: Callable[[], T], predicate: Callable[[T], bool], deadline: Deadline, operation: str
) -> T:
    access.store(WAITERS, 1)
    interval = INTERVAL_S if access.kernel.barrier() else _SHORT_INTERVAL_S
    access.runtime.point("word.wait.announced")
    while True:
        token = access.load(WAKE)
        value = load()
        if predicate(value):
            return value
        access.check()
        marked = access.load(SUCCESSOR) != 0
        if marked and access.segment.superseded():
            raise replaced(access, operation)
        left = deadline.remaining()
        if left == 0:
            raise _late(access, value, deadline, operation)
        longest = _SHORT_INTERVAL_S if marked else interval
        access.sleep(token, longest if left is None else min(longest, left))


def _poll(
    access: Access, load: Callable[[], T], predicate: Callable[[T], bool], deadline: Deadline, operation: str
) -> T:
    pause = FIRST_PAUSE_S
    while True:
        access.check()
        if access.segment.superseded():
            raise replaced(access, operation)
        left = deadline.remaining()
        value = load()
        if predicate(value):
            return value
        if left == 0:
            raise _late(access, value, deadline, operation)
        access.runtime.sleep(pause if left is None else min(pause, left))
        pause = min(2 * pause, LONGEST_PAUSE_S)


def replaced(access: Access, operation: str) -> FdcommError:
    """Return the error of who uses a segment that is not the name's any more."""
    return SignalReplacedError(
        f"{operation}: the signal {access.name!r} was replaced or removed; attach again", operation=operation
    )


def _late(access: Access, value: object, deadline: Deadline, operation: str) -> FdcommError:
    return CommTimeoutError(
        f"{operation}: the signal {access.name!r} has had no value that was waited for in {deadline.waited():.3g} s; "
        f"it is {value!r}",
        operation=operation,
        waited_s=deadline.waited(),
    )
