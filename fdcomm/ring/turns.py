"""Threads of one process that use one end of a ring take turns."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Final

from fdcomm.errors import CommTimeoutError

__all__ = ("last_turn", "wait_turn")

_CLOSE_S: Final = 5.0


def wait_turn(mutex: threading.Lock, limit: float | None, operation: str, doing: str) -> None:
    """Take a mutex that another thread has.

    Raises:
        CommTimeoutError: It had it for ``limit`` seconds.
    """
    if not mutex.acquire(timeout=-1 if limit is None else limit):
        raise CommTimeoutError(
            f"{operation}: another thread of this process has been {doing} all the time", operation=operation
        )


@contextlib.contextmanager
def last_turn(mutex: threading.Lock) -> Iterator[None]:
    """The turn of who closes. Waits were told to end; a mutex that an interrupt left taken delays the close only."""
    taken = mutex.acquire(timeout=_CLOSE_S)
    try:
        yield
    finally:
        if taken:
            mutex.release()
