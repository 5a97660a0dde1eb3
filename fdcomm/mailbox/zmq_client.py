"""ZmqIpcClient and ZmqTcpClient: send requests to a server, and receive what it answers."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Final, TypeVar

import zmq

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import ConfigError, ProtocolViolationError, UndecodableError
from fdcomm.mailbox import options
from fdcomm.zsocket.codec import Buffer, decode, encode, loads
from fdcomm.zsocket.curve import CurveKeys, client_options
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort

__all__ = ("ZmqClientBase", "ZmqIpcClient", "ZmqTcpClient")

C = TypeVar("C", bound="ZmqClientBase")

_MODES: Final = {int(zmq.PUSH): "PUSH", int(zmq.DEALER): "DEALER", int(zmq.PULL): "PULL"}


class ZmqClientBase:
    """A client of one server. Safe to use from several threads; after a fork only the parent may use it.

    ``zmq.PUSH`` sends requests to a server that pulls. ``zmq.DEALER`` talks with a server that routes: it says which
    request it waits for (:meth:`send_handle`) and receives its results (:meth:`recv_results`). ``zmq.PULL`` receives
    the batches of a server that pushes.

    Args:
        mode: One of these.
        allow_pickle: Objects are pickled, and pickled ones are accepted; else they are MessagePack.
        limit: Most messages that wait for the server; a sender waits for room. 0 is no limit.
        timeout: Seconds that a call waits, unless it says otherwise.
        linger_s: Seconds that what is unsent is still sent for after the close, and at the end of the process.
    """

    def __init__(
        self,
        mode: int,
        *,
        allow_pickle: bool,
        limit: int | None = None,
        timeout: Timeout = DEFAULT,
        linger_s: float = options.LINGER_S,
    ) -> None:
        if int(mode) not in _MODES:
            raise ConfigError(f"a client has the modes zmq.PUSH, zmq.DEALER and zmq.PULL, not {mode!r}")
        self.mode = int(mode)
        self.address = ""
        self._formats = options.formats(allow_pickle)
        self._limit = options.default_limit() if limit is None else limit
        self._timeout = timeout
        self._linger_s = linger_s
        self._socket: LockedSocket | None = None
        self._edge: tuple[Buffer, ...] = (b"",) if int(mode) == zmq.DEALER else ()

    def connect(self) -> None:
        """Connect. The server may come later. A second call does nothing."""
        raise NotImplementedError

    def _connect(self, address: str, more: dict[str, Any]) -> None:
        if self._socket is not None:
            return
        port = ZmqPort(self.mode, linger_s=self._linger_s, options={"sndhwm": self._limit, **more})
        port.connect(address)
        self.address = address
        self._socket = LockedSocket(port, f"the client of {address}")

    def send_json(self, data: Any, flags: int = 0, *, timeout: Timeout = DEFAULT) -> None:
        """Send what JSON can say.

        Args:
            data: The message.
            flags: ``zmq.NOBLOCK`` is ``timeout=0``.
            timeout: Seconds to wait for room.

        Raises:
            PayloadError: It is not JSON.
            CommTimeoutError: There was no room in time. Nothing was sent.
            ClosedError, ForkedHandleError, ProtocolViolationError: The client is closed, of another process, or not
                connected.
        """
        self._send(encode(data, "json"), "send_json", flags, timeout)

    def send_pyobj(self, data: Any, flags: int = 0, *, timeout: Timeout = DEFAULT) -> None:
        """Send an object. As :meth:`send_json`."""
        self._send(encode(data, self._formats[0]), "send_pyobj", flags, timeout)

    def recv_json(self, flags: int = 0, *, timeout: Timeout = DEFAULT) -> Any:
        """Return the next message, which must be JSON.

        Raises:
            CommTimeoutError: None came in time.
            UndecodableError: It is something else. It is lost; the next call has the next message.
        """
        return decode(self._receive("recv_json", flags, timeout), ("json",)).data

    def recv_pyobj(self, flags: int = 0, *, timeout: Timeout = DEFAULT) -> Any:
        """Return the next message, an object. As :meth:`recv_json`."""
        return decode(self._receive("recv_pyobj", flags, timeout), self._formats).data

    def send_handle(self, request_id: str, *, timeout: Timeout = DEFAULT) -> None:
        """Ask for the results of a request (mode DEALER). Its results may be there already."""
        self._require(zmq.DEALER, "send_handle")
        self._send(request_id.encode(), "send_handle", 0, timeout)

    def recv_results(self, *, timeout: Timeout = DEFAULT) -> list[Any]:
        """Return the next results of the requests that this client has asked for (mode DEALER).

        A message has one or several, of one request and in their order.
        """
        self._require(zmq.DEALER, "recv_results")
        found: list[Any] = list(loads(self._receive("recv_results", 0, timeout), self._formats))
        return found

    def recv_batch(self, *, timeout: Timeout = DEFAULT) -> list[Any]:
        """Return the next batch of a server that pushes (mode PULL)."""
        self._require(zmq.PULL, "recv_batch")
        found: list[Any] = list(loads(self._receive("recv_batch", 0, timeout), self._formats))
        return found

    def send_control_cmd(self, command: dict[str, Any], *, timeout: Timeout = DEFAULT) -> None:
        """Send a command, which has a ``task_id`` (mode DEALER). It is MessagePack."""
        self._require(zmq.DEALER, "send_control_cmd")
        self._send(options.pack(command), "send_control_cmd", 0, timeout)

    def recv_control_result(self, *, timeout: Timeout = DEFAULT) -> Any:
        """Return the next answer to a command (mode DEALER)."""
        self._require(zmq.DEALER, "recv_control_result")
        return options.unpack(self._receive("recv_control_result", 0, timeout))

    def close(self) -> None:
        """Close; what is unsent is still sent for ``linger_s``, in the background. Idempotent."""
        if self._socket is not None:
            self._socket.close()

    def __enter__(self: C) -> C:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- within ------------------------------------------------------------------------------------------------------

    def _send(self, message: Buffer, operation: str, flags: int, timeout: Timeout) -> None:
        limit = options.limit_of(flags, self._timeout if timeout is DEFAULT else timeout)
        self._connected(operation).send((*self._edge, message), operation, limit)

    def _receive(self, operation: str, flags: int, timeout: Timeout) -> Buffer:
        limit = options.limit_of(flags, self._timeout if timeout is DEFAULT else timeout)
        parts = self._connected(operation).receive(operation, limit)
        if len(parts) != len(self._edge) + 1:
            raise UndecodableError(f"{operation}: a message of {len(parts)} frames, not of {len(self._edge) + 1}")
        return parts[-1]

    def _connected(self, operation: str) -> LockedSocket:
        if self._socket is None:
            raise ProtocolViolationError(f"{operation}: call connect() first", operation=operation)
        return self._socket

    def _require(self, mode: int, operation: str) -> None:
        if self.mode != mode:
            raise ConfigError(
                f"{operation} is for clients of the mode zmq.{_MODES[int(mode)]}, not zmq.{_MODES[int(self.mode)]}",
                operation=operation,
            )


class ZmqIpcClient(ZmqClientBase):
    """A client of a :class:`fdcomm.ZmqIpcServer` on this machine, of the same user.

    Args:
        name: The server's.
        mode: ``zmq.PUSH``, ``zmq.DEALER`` or ``zmq.PULL``.
        allow_pickle: By default objects are pickled: only processes of this user can reach the socket.
        more: As :class:`ZmqClientBase`.
    """

    def __init__(self, name: str | int, mode: int, *, allow_pickle: bool = True, **more: Any) -> None:
        super().__init__(mode, allow_pickle=allow_pickle, **more)
        self.name = name
        self.file_name = options.file_of(name, mode, server=False)

    def connect(self) -> None:
        """Connect. The server may come later. A second call does nothing."""
        self._connect(f"ipc://{self.file_name}", {})


class ZmqTcpClient(ZmqClientBase):
    """A client of a :class:`fdcomm.ZmqTcpServer`.

    Args:
        host: The server's machine.
        port: Its port.
        mode: ``zmq.PUSH``, ``zmq.DEALER`` or ``zmq.PULL``.
        keys: What the server lets in; None for a server on this machine that has none.
        allow_pickle: Accept pickled objects, and send them. Needs keys.
        more: As :class:`ZmqClientBase`.

    Raises:
        UnsafeConfigError: No keys, for another machine or for pickle.
    """

    def __init__(
        self,
        host: str,
        port: int,
        mode: int,
        *,
        keys: CurveKeys | None = None,
        allow_pickle: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(mode, allow_pickle=allow_pickle, **more)
        options.require_safe(host, keys, allow_pickle)
        self._keys = keys
        self._endpoint = options.numeric(host, port)

    def connect(self) -> None:
        """Connect. The server may come later. A second call does nothing."""
        curve = client_options(self._keys) if self._keys is not None else {}
        self._connect(self._endpoint, {**options.TCP_OPTIONS, **curve})
