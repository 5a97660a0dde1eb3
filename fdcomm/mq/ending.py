"""The end of handles: with their process, and not when the last reference to them is gone.

A child of multiprocessing runs none of ``atexit``: what is unsent still goes out.
"""

from __future__ import annotations

import multiprocessing.util
import os
from typing import Final

from fdcomm.zsocket import context

__all__ = ("at_the_end_of_children", "hold", "let_go")

_LAST: Final = -90
_process: list[int] = []
_held: set[object] = set()


def at_the_end_of_children() -> None:
    """Close this process's sockets at its end also when it is a child of multiprocessing."""
    if _process != [os.getpid()]:
        _process[:] = [os.getpid()]
        multiprocessing.util.Finalize(None, context._end, exitpriority=_LAST)


def hold(handle: object) -> None:
    """Keep an open handle that nobody refers to: it serves until it is closed."""
    _held.add(handle)


def let_go(handle: object) -> None:
    """It was closed."""
    _held.discard(handle)
