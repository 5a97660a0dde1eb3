"""What this process has made and not removed: it is removed at the process's orderly end.

A handle that is collected without :meth:`~fdcomm.IPCSignal.clear` takes nothing with it, because other processes use
the segment; the process stays its owner. A killed process leaves the segment to the next creator.
"""

from __future__ import annotations

import contextlib
import multiprocessing.util
import os
import weakref
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import clear, drive

__all__ = ("forget", "hold")

_AT_EXIT_S: Final = 5.0
_LAST: Final = -100  # after the ends of managers and child processes

_held: dict[int, tuple[Segment, Runtime, weakref.ref[Any]]] = {}
_process: list[int] = []


def hold(segment: Segment, handle: object, runtime: Runtime) -> None:
    """Keep a segment that the handle has made until it is cleared, closed, or the process ends."""
    for key, (old, _, user) in list(_held.items()):
        if user() is None and (not old.owned or old.superseded()):
            forget(old)
            old.close()
        del key
    _held[id(segment)] = (segment, runtime, weakref.ref(handle))
    if _process != [os.getpid()]:
        # Not atexit: the children of multiprocessing end without it, and their registry is empty at first.
        _process[:] = [os.getpid()]
        multiprocessing.util.Finalize(None, _end, exitpriority=_LAST)


def forget(segment: Segment) -> None:
    """The segment was cleared or closed."""
    _held.pop(id(segment), None)


def _end() -> None:
    while _held:
        segment, runtime, _ = _held.popitem()[1]
        with contextlib.suppress(FdcommError, OSError):
            if segment.owned:
                drive("clear", clear(segment.files, segment, runtime), runtime, Deadline(_AT_EXIT_S, SYSTEM.monotonic))
