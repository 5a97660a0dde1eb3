"""The end of a child of multiprocessing, which runs none of ``atexit``: what is unsent still goes out."""

from __future__ import annotations

import multiprocessing.util
import os
from typing import Final

from fdcomm.zsocket import context

__all__ = ("at_the_end_of_children",)

_LAST: Final = -90
_process: list[int] = []


def at_the_end_of_children() -> None:
    """Close this process's sockets at its end also when it is a child of multiprocessing."""
    if _process != [os.getpid()]:
        _process[:] = [os.getpid()]
        multiprocessing.util.Finalize(None, context._end, exitpriority=_LAST)
