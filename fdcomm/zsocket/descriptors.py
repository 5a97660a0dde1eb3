"""The descriptors behind ZeroMQ's sockets: ZeroMQ does not tell them, but the kernel knows which address they have."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from typing import Any

__all__ = ("close_of",)


def close_of(endpoint: str, *, bound: bool) -> int:
    """Close every descriptor of this process that belongs to a socket of an endpoint; return how many.

    For a forked child, in which no thread of ZeroMQ runs: as long as the child has copies, peers do not see the end
    of the parent.

    Args:
        endpoint: ``ipc://<path>`` or ``tcp://<numeric address>:<port>``.
        bound: The socket was bound to it, or connected.
    """
    kind, _, rest = endpoint.partition("://")
    host, _, port = rest.rpartition(":")
    closed = 0
    for fd in _descriptors():
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                name = _name(fd, bound)
                hit = name == rest if kind == "ipc" else isinstance(name, tuple) and name[1] == int(port)
                if hit and (bound or kind == "ipc" or name[0] == host.strip("[]")):
                    os.close(fd)
                    closed += 1
    return closed


def _descriptors() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir(folder)]
    return []


def _name(fd: int, local: bool) -> Any:
    """Return the address of one end of a connection, the local or the other. That of who listens is local."""
    # Not of the descriptor itself: the end of a socket object would close it.
    with socket.socket(fileno=os.dup(fd)) as seen:
        return seen.getsockname() if local else seen.getpeername()
