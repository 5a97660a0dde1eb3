"""The ``BaseManager`` server of a host: a session lives exactly as long as the connection that opened it."""

from __future__ import annotations

import errno
import os
import pickle
import socket
import threading
from multiprocessing import managers
from multiprocessing.connection import Connection
from typing import Any, ClassVar, Final

from fdcomm.errors import HostLostError, ProtocolViolationError
from fdcomm.host.service import Hello, HostService, Welcome
from fdcomm.wire import SERVICE, STALL_S, limit_stalls, tune_tcp

__all__ = ("Front", "HostServer")

EXPOSED: Final = {"open_session", "close_session", "act"}

_OUT_OF: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_CLOSED: Final = (errno.EBADF, errno.EINVAL, None)  # None: the standard listener's own "listener is closed"
_PAUSE_S: Final = 0.05
"""How long to leave a machine alone that has no file descriptor, thread or memory left."""


class Front:
    """The object that clients call: the service, and the book of which connection opened which session."""

    service: HostService

    def __init__(self) -> None:
        self._thread = threading.local()  # each connection is served by one thread
        self._sockets: dict[int, socket.socket] = {}
        self._lock = threading.Lock()
        self._refused = 0

    def refuse(self) -> None:
        """Count a connection that could not be served."""
        with self._lock:
            self._refused += 1

    def refused(self) -> int:
        """Return how many connections could not be served."""
        return self._refused

    def begin(self, connection: Connection[Any, Any]) -> None:
        self._thread.connection = connection
        self._thread.session = 0

    def open_session(self, hello: Hello) -> Welcome:
        try:
            sock = socket.socket(fileno=os.dup(self._thread.connection.fileno()))
        except OSError as error:
            raise HostLostError(f"the host cannot serve another session: {error.strerror}; raise its limits") from error
        try:
            welcome = self.service.open_session(hello)
        except BaseException:
            sock.close()
            raise
        self._thread.session = welcome["session"]
        self._sockets[welcome["session"]] = sock
        return welcome

    def __getattr__(self, name: str) -> Any:
        # Methods of EXPOSED that need no book-keeping here.
        return getattr(self.service, name)

    def end(self) -> None:
        session = self._thread.session
        if session:
            self.service.lose_session(session)
            sock = self._sockets.pop(session, None)
            if sock is not None:
                sock.close()

    def is_connected(self, session: int) -> bool:
        sock = self._sockets.get(session)
        if sock is None:  # its open_session is about to return; one that has ended is no member any more
            return True
        try:
            return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


class HostServer(managers.Server):
    """A manager server that offers one object, and tells it when a connection ends."""

    # Nothing else of the standard server: no creation of objects, no shutdown, no access to the object itself.
    public: ClassVar[list[str]] = ["accept_connection"]  # type: ignore[misc]

    def __init__(self, address: str | tuple[str, int], key: bytes, front: Front) -> None:
        super().__init__({}, address, key, "pickle")
        listener: Any = self.listener  # type: ignore[attr-defined]
        tune_tcp(listener._listener._socket)  # accepted sockets inherit it
        self._front = front

    def handle_request(self, conn: Connection[Any, Any]) -> None:
        """Authenticate and serve a new connection, in its own thread. A peer that is silent meanwhile is dropped."""
        _limit(conn, STALL_S)
        super().handle_request(conn)

    def serve_client(self, conn: Connection[Any, Any]) -> None:
        """Serve one authenticated connection until it ends.

        The same messages as the standard server's loop, pickled plainly: its pickler is built anew for every answer,
        to find reducers for objects that fdcomm never sends, and that costs as much as the rest of a call.
        """
        _limit(conn, 0)
        self._front.begin(conn)
        try:
            while True:
                conn.send_bytes(self._answer(conn.recv_bytes()))
        except (EOFError, OSError):  # the client is gone
            return
        finally:
            self._front.end()

    def _answer(self, request: bytes) -> bytes:
        try:
            ident, method, args, _ = pickle.loads(request)
            if ident != SERVICE or method not in EXPOSED:
                raise ProtocolViolationError(f"{ident}.{method} is not offered", operation=str(method))
            answer = ("#RETURN", getattr(self._front, method)(*args))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets it
            answer = ("#ERROR", error)
        return pickle.dumps(answer, protocol=5)

    def accepter(self) -> None:
        """Accept connections for as long as the listener is open. One that finds no thread is closed, and counted.

        The standard server's loop ends with the first thread that cannot be started, and does not rest while no
        file descriptor is left.
        """
        rest = threading.Event()
        listener: Any = self.listener  # type: ignore[attr-defined]
        while True:
            try:
                conn = listener.accept()
            except OSError as error:
                if error.errno in _OUT_OF:  # the connection waits in the backlog
                    rest.wait(_PAUSE_S)
                elif error.errno in _CLOSED:
                    return
                continue
            try:
                threading.Thread(target=self.handle_request, args=(conn,), name="fdcomm-serve", daemon=True).start()
            except (RuntimeError, MemoryError):
                conn.close()
                self._front.refuse()
                rest.wait(_PAUSE_S)

    def start(self) -> None:
        """Accept connections in a daemon thread."""
        threading.Thread(target=self.accepter, name="fdcomm-accept", daemon=True).start()


def _limit(conn: Connection[Any, Any], seconds: float) -> None:
    sock = socket.socket(fileno=conn.fileno())  # no copy: there may be no file descriptor left
    try:
        limit_stalls(sock, seconds)
    finally:
        sock.detach()
