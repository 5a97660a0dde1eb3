"""The ZeroMQ context of this process, and the end of its sockets: with the process, within their linger.

One context serves all sockets of a process. A forked child gets its own: what came by fork is left alone, and its
copies of the connections are closed, so that peers see the parent's death. A child of multiprocessing ends its own
when its function has returned, as it does with everything of ``multiprocessing.util.Finalize``.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, Protocol

import zmq

# Before this module registers what it does at the end of the process: it holds what is sent without being copied, lets
# go of it at the end of the process, and that has to come after the lingers.
import zmq.utils.garbage

from fdcomm.forksafety import close_in_child, no_fork

__all__ = ("Closable", "at_end", "context", "keep")

_LAST: Final = -90  # after the ends of managers and child processes, and before that of signals


class Closable(Protocol):
    """A socket that this process closes at its end.

    Attributes:
        linger_s: What is unsent is still sent for so many seconds.
        waits: Its close takes that long; else it returns at once, and ZeroMQ goes on.
    """

    linger_s: float
    waits: bool

    def close(self) -> None:
        """Close it; what is unsent is still sent for ``linger_s`` seconds."""


class _Process:
    """The context, and who uses it."""

    def __init__(self) -> None:
        self.context: zmq.Context[zmq.Socket[bytes]] | None = None
        self.open: weakref.WeakSet[Any] = weakref.WeakSet()
        self.enders: list[Callable[[], None]] = []

    def after_fork_in_child(self) -> None:
        """pyzmq neither closes nor ends what another process made; so these references may go."""
        self.context = None
        self.open = weakref.WeakSet()
        self.enders = []
        close_in_child(self)


_process = _Process()
close_in_child(_process)


def context() -> zmq.Context[zmq.Socket[bytes]]:
    """Return the context of this process."""
    with no_fork():
        if _process.context is None:
            _process.context = zmq.Context()
            # Beside atexit: the children of multiprocessing end without it.
            multiprocessing.util.Finalize(None, _end, exitpriority=_LAST)
        return _process.context


def keep(thing: Closable) -> None:
    """Close the socket at the end of the process, if nobody has by then."""
    with no_fork():
        _process.open.add(thing)


def at_end(ender: Callable[[], None]) -> None:
    """Call ``ender`` at the end of the process, after the sockets are closed and before the context ends."""
    with no_fork():
        _process.enders.append(ender)


def _end() -> None:
    """Close what is open. Lingers run side by side, so the end takes as long as the longest.

    No thread can be started any more: who waits does so one after the other, each for what is left of its time.
    """
    ending, _process.context = _process.context, None
    if ending is None:
        return
    began = time.monotonic()
    for thing in sorted(_process.open, key=lambda thing: (thing.waits, thing.linger_s)):
        thing.linger_s = max(0.0, thing.linger_s - (time.monotonic() - began))
        thing.close()
    for ender in _process.enders:
        ender()
    # This waits for what lingers. A socket that somebody has made by other means, and left open, lingers no more.
    ending.destroy(linger=0)


atexit.register(_end)
