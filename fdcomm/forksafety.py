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


# The only lock that is held across a fork. Re-entrant, because the collector may end a handle anywhere. With two of
# them, a thread that collects a handle of one kind while it opens one of the other could wait for a thread that forks.
_opening = threading.RLock()


def close_in_child(thing: Forkable) -> None:
    """Call ``thing.after_fork_in_child()`` in every child that this process forks from now on.

    Not in the children of such a child, unless the thing registers itself again when it is called.
    """
    with _opening:
        _objects.add(thing)


def no_fork() -> AbstractContextManager[Any]:
    """Let other threads fork only before or after the block: to open something and make it known. Keep it short.

    Return a re-entrant lock.
    """
    return _opening


def _after_fork_in_child() -> None:
    try:
        things = list(_objects)
        _objects.clear()  # before: what still has something to let go of registers itself again
        for thing in things:
            thing.after_fork_in_child()
    finally:
        _opening.release()


os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_after_fork_in_child)
