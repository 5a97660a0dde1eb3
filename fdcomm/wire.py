"""One authenticated connection to a host, with a bound on every wait.

It speaks the protocol of ``multiprocessing.managers``: after a mutual challenge with the key, a request
``(object, method, args, kwargs)`` is answered by ``(kind, value)``. The standard proxies wait for an answer without
end and connect three times to fetch one object; this takes one connection and one round trip per call.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import select
import socket
import struct
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any, Final

from fdcomm.errors import AuthError, HostLostError, HostNotFoundError, ProtocolViolationError
from fdcomm.runtime import Runtime

__all__ = ("SERVICE", "STALL_S", "Wire", "no_delay")

SERVICE: Final = "fdcomm"
"""Identifier under which the host's server offers its service object."""

STALL_S: Final = 10.0
"""Seconds after which a host that is silent in the middle of a handshake or message counts as lost."""


def no_delay(sock: socket.socket) -> None:
    """Send small TCP segments at once.

    A manager message of 16 to 64 KiB goes out in two writes, and without this the second one waits about 40 ms for
    the acknowledgement of the first.
    """
    if sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


class Wire:
    """A connection. Used by one thread at a time."""

    def __init__(self, address: str | tuple[str, int], key: bytes, runtime: Runtime) -> None:
        """Connect and authenticate.

        Raises:
            HostNotFoundError: Nobody listens there.
            AuthError: The host does not accept the key.
            HostLostError: Somebody listens but does not answer.
        """
        self._runtime = runtime
        self._connection = _connect(address, key)
        self._poll = select.poll()
        self._poll.register(self._connection.fileno(), select.POLLIN)
        self.call_manager("accept_connection", "fdcomm")

    def call_manager(self, function: str, *args: Any) -> Any:
        """Call a function of the manager server itself."""
        return self._exchange(None, function, args, STALL_S)

    def call(self, method: str, *args: Any, wait_s: float | None) -> Any:
        """Call a method of the service object.

        Args:
            method: Name of the method.
            args: Its arguments.
            wait_s: Seconds until a host that has not begun to answer counts as lost; None waits for ever.

        Raises:
            HostLostError: No answer, or the connection broke. Whether the call took effect is not known.
            FdcommError: What the method raised.
        """
        return self._exchange(SERVICE, method, args, wait_s)

    def is_open(self) -> bool:
        """Return False once the host has closed the connection (nothing else is ever sent unasked)."""
        return not self._poll.poll(0)

    def close(self) -> None:
        """Close. Idempotent."""
        self._connection.close()

    def _exchange(self, ident: str | None, method: str, args: tuple[Any, ...], wait_s: float | None) -> Any:
        point = self._runtime.point
        try:
            point("call.send")
            self._connection.send((ident, method, args, {}))
            point("call.sent")
            if not self._poll.poll(None if wait_s is None else wait_s * 1000):
                self.close()
                raise HostLostError(
                    f"{method}: the host has not answered for {wait_s:.1f} s (stopped, or overloaded); whether the "
                    "call took effect is not known",
                    operation=method,
                    waited_s=wait_s or 0.0,
                )
            kind, value = self._connection.recv()
            point("call.received")
        except BlockingIOError as error:
            self.close()
            raise HostLostError(
                f"{method}: the host went silent in the middle of a message; the outcome is not known", operation=method
            ) from error
        except (EOFError, ConnectionError, OSError) as error:
            if isinstance(error, HostLostError):
                raise
            self.close()
            raise HostLostError(
                f"{method}: the host is gone; start a new one and open new handles", operation=method
            ) from error
        if kind == "#RETURN":
            return value
        if kind == "#ERROR" and isinstance(value, BaseException):
            raise value
        raise ProtocolViolationError(f"{method}: the host answered {kind}: {value}", operation=method)


def _connect(address: str | tuple[str, int], key: bytes) -> Connection[Any, Any]:
    if isinstance(address, str):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
    with contextlib.ExitStack() as undo:
        undo.callback(sock.close)
        limit = struct.pack("ll", int(STALL_S), 0)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        try:
            no_delay(sock)
            sock.connect(address)
        except BlockingIOError as error:
            raise HostLostError(f"the host at {_show(address)} does not accept connections (stopped?)") from error
        except OSError as error:
            raise HostNotFoundError(f"nobody serves {_show(address)}: {error.strerror}") from error
        connection: Connection[Any, Any] = Connection(sock.detach())
        undo.callback(connection.close)
        try:
            answer_challenge(connection, key)
            deliver_challenge(connection, key)
        except multiprocessing.AuthenticationError as error:
            raise AuthError(
                f"the host at {_show(address)} does not accept the key; pass the authkey that its server was given "
                "(none, if it was given none)"
            ) from error
        except (EOFError, OSError) as error:
            raise HostLostError(f"the host at {_show(address)} broke off the handshake: {error}") from error
        undo.pop_all()
    return connection


def _show(address: str | tuple[str, int]) -> str:
    return address if isinstance(address, str) else f"{address[0]}:{address[1]}"
