"""Calls that wait in a thread of their own while the caller is told how they go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final, TypeVar

from fdcomm import arguments
from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, FdcommError
from fdcomm.runtime import Condition, Runtime

__all__ = ("AGAIN_S", "period", "until", "watched")

T = TypeVar("T")
S = TypeVar("S")
AGAIN_S: Final = 0.05
"""How long to wait before a call is ended once more: it may not have reached the host yet."""


def period(progress: object, every: Timeout, operation: str) -> float | None:
    """Return the seconds between two calls of a progress function; None when there is no such function.

    Raises:
        ConfigError: It cannot be called, or ``every`` is no number of seconds above 0.
    """
    wrong = f"{operation}: every={every!r} must be a number of seconds above 0"
    try:
        seconds = timeout_seconds(every, operation)
    except ConfigError:
        raise ConfigError(wrong, operation=operation) from None
    if not seconds:
        raise ConfigError(wrong, operation=operation)
    if progress is None:
        return None
    arguments.function(progress, "progress", operation)
    return seconds


def until(
    changed: Condition,
    clock: Callable[[], float],
    look: Callable[[], T | None],
    late: Callable[[float], FdcommError],
    limit: float | None,
    progress: Callable[[], object] | None = None,
    every: float | None = None,
) -> T:
    """Wait in this thread until a look finds something; meanwhile call ``progress`` every so often.

    Args:
        changed: Is notified when a look may find something. Its lock is held during a look, and at no other time.
        clock: The runtime's.
        look: Returns what was found, or None.
        late: Makes the error of a wait that was so many seconds long, and in vain.
        limit: Seconds; None: for ever.
        progress: What it raises ends the wait.
        every: Seconds; None where there is no ``progress``.
    """
    deadline = Deadline(limit, clock)
    while True:
        news = Deadline(every, clock)
        with changed:
            while (found := look()) is None and not news.expired():
                if deadline.expired():
                    raise late(deadline.waited())
                left = [seconds for seconds in (deadline.remaining(), news.remaining()) if seconds is not None]
                changed.wait(min(left, default=None))
        if found is not None:
            return found
        if progress is not None:
            progress()


def watched(
    runtime: Runtime,
    call: Callable[[], T],
    *,
    look: Callable[[], S],
    progress: Callable[[S], object],
    every: float,
    end: Callable[[], object],
    undo: Callable[[T], object] = lambda answer: None,
) -> T:
    """Let a call wait in a thread of its own, and pass on here, every so often, what a look shows.

    When ``progress`` raises, or this thread is interrupted, ``end`` is called until the call has ended, and the same
    is raised; if the call was answered nevertheless, ``undo`` is called with the answer.
    """
    ended = runtime.condition()
    found: list[tuple[Any, BaseException | None]] = []

    def wait() -> None:
        answer: Any = None
        error: BaseException | None = None
        try:
            answer = call()
        except BaseException as caught:  # noqa: BLE001 - raised below, in the caller's thread
            error = caught
        with ended:
            found.append((answer, error))
            ended.notify_all()

    def over(seconds: float) -> bool:
        with ended:
            if not found:
                ended.wait(seconds)
            return bool(found)

    runtime.spawn(wait, "fdcomm-watched")
    try:
        while not over(every):
            try:
                seen = look()
            except FdcommError:  # what has happened to the host is what the call is told, too
                continue
            progress(seen)
    except BaseException:
        while not over(AGAIN_S):
            with contextlib.suppress(FdcommError):  # then the call itself ends with this error
                end()
        if found[0][1] is None:
            undo(found[0][0])
        raise
    answer, error = found[0]
    if error is not None:
        raise error
    result: T = answer
    return result
