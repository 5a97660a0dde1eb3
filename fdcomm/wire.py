"""One authenticated connection to a host, with a bound on every wait.

It speaks the protocol of ``multiprocessing.managers``: after a mutual challenge with the key, a request
``(object, method, args, kwargs)`` is answered by ``(kind, value)``. The standard proxies wait for an answer without
end and connect three times to fetch one object; this takes one connection and one round trip per call.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import select
import socket
import struct
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any, Final

from fdcomm.errors import AuthError, HostLostError, HostNotFoundError, ProtocolViolationError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.runtime import Runtime

__all__ = ("SERVICE", "STALL_S", "Wire", "limit_stalls", "tune_tcp")

SERVICE: Final = "fdcomm"
"""Identifier under which the host's server offers its service object."""

STALL_S: Final = 10.0
"""Seconds after which a host that is silent in the middle of a handshake or message counts as lost."""


def tune_tcp(sock: socket.socket) -> None:
    """Set what a TCP socket needs; does nothing to others.

    Without TCP_NODELAY a manager message of 16 to 64 KiB, which goes out in two writes, waits about 40 ms for the
    acknowledgement of the first. Keepalive finds a machine that is gone without a word within half a minute.
    """
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def limit_stalls(sock: socket.socket, seconds: float) -> None:
    """Make a blocking read or write fail with BlockingIOError after ``seconds`` without progress; 0 takes it back."""
    limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)


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
        self._end: socket.socket | Connection[Any, Any] | None = None
        close_in_child(self)
        self._connection = self._connect(address, key)
        self._open = [self._connection]
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
        poll = select.poll()  # its own: several threads may ask, and two may not use one object at a time
        try:
            poll.register(self._connection.fileno(), select.POLLIN)
        except OSError:  # closed, perhaps just now by another thread
            return False
        return not poll.poll(0)

    def close(self) -> None:
        """Close this process's end. Idempotent. For the thread that uses the connection, or after a fork.

        When the host dies, several threads may close the session's at the same time. Only one may close the file: its
        number may be another's by the time that the second does.
        """
        with contextlib.suppress(IndexError):
            self._open.pop().close()

    def after_fork_in_child(self) -> None:
        """Close the child's copy, also of a connection that is just being made."""
        if self._end is not None:
            self._end.close()

    def shut_down(self) -> None:
        """End the connection under a thread that may be waiting on it: its call raises HostLostError."""
        if not self._connection.closed:
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._connection.fileno())) as sock:
                sock.shutdown(socket.SHUT_RDWR)

    def _exchange(self, ident: str | None, method: str, args: tuple[Any, ...], wait_s: float | None) -> Any:
        point = self._runtime.point
        try:
            point("call.send")
            # Pickled plainly: Connection.send builds a special pickler each time, which takes as long as the rest.
            self._connection.send_bytes(pickle.dumps((ident, method, args, {}), protocol=5))
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
        except Exception as error:  # what the peer sent decides which: unpickling may raise anything
            self.close()
            raise ProtocolViolationError(
                f"{method}: the answer cannot be understood ({error!r}); is it an fdcomm host of this version?",
                operation=method,
            ) from error
        if kind == "#RETURN":
            return value
        if kind == "#ERROR" and isinstance(value, BaseException):
            raise value
        raise ProtocolViolationError(f"{method}: the host answered {kind}: {value}", operation=method)

    def _connect(self, address: str | tuple[str, int], key: bytes) -> Connection[Any, Any]:
        family = socket.AF_UNIX
        if not isinstance(address, str):
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        with no_fork():
            self._end = sock = socket.socket(family, socket.SOCK_STREAM)
        with contextlib.ExitStack() as undo:
            undo.callback(sock.close)
            limit_stalls(sock, STALL_S)
            try:
                tune_tcp(sock)
                sock.connect(address)
            except BlockingIOError as error:
                raise HostLostError(f"the host at {_show(address)} does not accept connections (stopped?)") from error
            except OSError as error:
                raise HostNotFoundError(f"nobody serves {_show(address)}: {error.strerror}") from error
            with no_fork():
                self._end = connection = Connection(sock.detach())
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
            except (AssertionError, ValueError) as error:  # how the standard library says so depends on its version
                raise AuthError(
                    f"what listens at {_show(address)} does not speak fdcomm's protocol: {error}"
                ) from error
            undo.pop_all()
        return connection


def _show(address: str | tuple[str, int]) -> str:
    return address if isinstance(address, str) else f"{address[0]}:{address[1]}"
