"""Threads of one process that use one end of a ring take turns."""

from __future__ import annotations

import threading

from fdcomm.errors import CommTimeoutError

__all__ = ("wait_turn",)


def wait_turn(mutex: threading.Lock, limit: float | None, operation: str, doing: str) -> None:
    """Take a mutex that another thread has.

    Raises:
        CommTimeoutError: It had it for ``limit`` seconds.
    """
    if not mutex.acquire(timeout=-1 if limit is None else limit):
        raise CommTimeoutError(
            f"{operation}: another thread of this process has been {doing} all the time", operation=operation
        )
