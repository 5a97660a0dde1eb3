"""After a fork the child must not keep what tells the host that the parent lives.

A host knows that a process is gone when its connections close. A forked child inherits copies of those connections,
so it closes them first thing; the object it inherited then answers every call with ``ForkedHandleError``.

What is just being opened has to be known as well: who opens it does so inside :func:`no_fork`.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ("Forkable", "close_in_child", "no_fork")


class Forkable(Protocol):
    """An object with file descriptors that must not survive into a forked child."""

    def after_fork_in_child(self) -> None:
        """Close them, without telling anybody."""


_objects: weakref.WeakSet[Forkable] = weakref.WeakSet()


_opening = threading.RLock()


def close_in_child(thing: Forkable) -> None:
    """Call ``thing.after_fork_in_child()`` in every child that this process forks from now on."""
    with _opening:
        _objects.add(thing)


def no_fork() -> AbstractContextManager[Any]:
    """Let other threads fork only before or after the block: to open something and make it known. Keep it short."""
    return _opening


def _after_fork_in_child() -> None:
    try:
        for thing in list(_objects):
            thing.after_fork_in_child()
        _objects.clear()
    finally:
        _opening.release()


os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_after_fork_in_child)
