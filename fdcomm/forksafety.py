"""After a fork the child must not keep what tells the host that the parent lives.

A host knows that a process is gone when its connections close. A forked child inherits copies of those connections,
so it closes them first thing; the object it inherited then answers every call with ``ForkedHandleError``.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ("Forkable", "close_in_child")


class Forkable(Protocol):
    """An object with file descriptors that must not survive into a forked child."""

    def after_fork_in_child(self) -> None:
        """Close them, without telling anybody."""


_objects: weakref.WeakSet[Forkable] = weakref.WeakSet()


def close_in_child(thing: Forkable) -> None:
    """Call ``thing.after_fork_in_child()`` in every child that this process forks from now on."""
    _objects.add(thing)


def _after_fork_in_child() -> None:
    for thing in list(_objects):
        thing.after_fork_in_child()
    _objects.clear()


os.register_at_fork(after_in_child=_after_fork_in_child)
