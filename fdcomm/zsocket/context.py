"""The ZeroMQ context of this process, and the end of its sockets: with the process, within their linger.

One context serves all sockets of a process. A forked child gets its own: what came by fork is left alone, and its
copies of the connections are closed, so that peers see the parent's death. A child of multiprocessing ends its own
when its function has returned, as it does with everything of ``multiprocessing.util.Finalize``.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import weakref
from collections.abc import Callable
from typing import Any, Final, Protocol

import zmq

from fdcomm.forksafety import close_in_child, no_fork

__all__ = ("Closable", "at_end", "context", "keep")

_LAST: Final = -90  # after the ends of managers and child processes, and before that of signals


class Closable(Protocol):
    """A socket that this process closes at its end."""

    linger_s: float

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
    """Close what is open. Lingers run side by side, so the end takes as long as the longest."""
    ending, _process.context = _process.context, None
    if ending is None:
        return
    for thing in list(_process.open):
        thing.close()
    for ender in _process.enders:
        ender()
    # This waits for what lingers. A socket that somebody has made by other means, and left open, lingers no more.
    ending.destroy(linger=0)


atexit.register(_end)
