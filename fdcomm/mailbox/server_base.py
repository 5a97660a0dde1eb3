"""What servers of all transports do: receive requests, and send results to the clients that ask for them."""

from __future__ import annotations

import itertools
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Final, TypeVar

import zmq

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, UndecodableError, UndeliverableError
from fdcomm.mailbox import options
from fdcomm.mailbox.results import Results
from fdcomm.mailbox.values import MailboxStatistics, Piece, Undelivered
from fdcomm.trace import Recorder
from fdcomm.zsocket.codec import Buffer, Format, decode, dumps, loads
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort

__all__ = ("CLOSED", "ZmqServerBase")

S = TypeVar("S", bound="ZmqServerBase")

CLOSED: Final = "zmp socket has closed"
"""What ``receive_json_once`` says of a closed server; callers of FastDeploy compare it."""

_LOG = logging.getLogger("fdcomm.mailbox")
_MODES: Final = {int(zmq.PULL): "PULL", int(zmq.ROUTER): "ROUTER", int(zmq.PUSH): "PUSH"}
_LOOK_S: Final = 0.5


class ZmqServerBase:
    """A server. Safe to use from several threads; after a fork only the parent may use it.

    ``zmq.PULL`` receives requests. ``zmq.ROUTER`` receives handles, each of which says that a client waits for the
    results of a request, and sends the results; or it receives commands and answers them (not both: a message is
    received by whoever looks first). ``zmq.PUSH`` sends batches of
    results to the clients that pull, each to one of them.

    Args:
        mode: One of these.
        allow_pickle: Objects are pickled, and pickled ones are accepted; else they are MessagePack.
        limit: Most messages that wait for one client; a sender waits for room, ``send_timeout`` at most. 0 is no
            limit. By default ``FD_ZMQ_SNDHWM``, else 10,000.
        capacity: Most calls of ``send_response`` whose results wait for a handle, of all requests together.
        ttl_s: Seconds after which a request is given up for which nothing happens. None: never.
        send_timeout: Seconds after which a client that takes nothing is given up.
        linger_s: Seconds that what is unsent is still sent for after the close, and at the end of the process.
        undelivered: Called with results that reach nobody.
        recorder: Records every action, see :mod:`fdcomm.trace`.
    """

    def __init__(
        self,
        mode: int,
        *,
        allow_pickle: bool,
        limit: int | None = None,
        capacity: int = 100_000,
        ttl_s: float | None = 600.0,
        send_timeout: Timeout = 5.0,
        linger_s: float = options.LINGER_S,
        undelivered: Callable[[Undelivered], None] | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        if int(mode) not in _MODES:
            raise ConfigError(f"a server has the modes zmq.PULL, zmq.ROUTER and zmq.PUSH, not {mode!r}")
        self.mode = int(mode)
        self.address = ""
        self._formats = options.formats(allow_pickle)
        self._limit = options.default_limit() if limit is None else limit
        self._send_timeout = send_timeout
        self._linger_s = linger_s
        self._commands: OrderedDict[str, bytes] = OrderedDict()
        self._most_commands = max(1, capacity)
        self._results = Results(
            self._send_pieces, capacity=capacity, ttl_s=ttl_s, undelivered=undelivered, recorder=recorder
        )
        self._look_s = _LOOK_S if ttl_s is None else min(_LOOK_S, ttl_s / 2)

    def _open(self, endpoint: str, more: dict[str, Any]) -> None:
        """Bind. ``zmq.ZMQError`` is the caller's to explain."""
        extra: dict[str, Any] = {"sndhwm": self._limit, **more}
        if self.mode == zmq.ROUTER:
            extra["router_mandatory"] = True
        port = ZmqPort(self.mode, linger_s=self._linger_s, options=extra)
        try:
            self.address = port.bind(endpoint)
        except BaseException:
            port.close()
            raise
        self._socket = LockedSocket(port, f"the server at {self.address}")

    # -- requests ----------------------------------------------------------------------------------------------------

    def receive_json_once(self, block: bool = False, *, timeout: Timeout = DEFAULT) -> tuple[str | None, Any]:
        """Return ``(error, request)`` (mode PULL).

        ``(None, None)``: there is none now; with ``block``, none came within ``timeout`` seconds. The error is
        "zmp socket has closed" once the server is closed. What cannot be decoded is logged, counted and passed over.
        """
        return self._once(block, ("json",), "receive_json_once", timeout)

    def receive_pyobj_once(self, block: bool = False, *, timeout: Timeout = DEFAULT) -> tuple[str | None, Any]:
        """As :meth:`receive_json_once`, for objects."""
        return self._once(block, self._formats, "receive_pyobj_once", timeout)

    def _once(
        self, block: bool, allowed: tuple[Format, ...], operation: str, timeout: Timeout
    ) -> tuple[str | None, Any]:
        self._require(zmq.PULL, operation)
        try:
            while True:
                parts = self._socket.receive(operation, timeout) if block else self._socket.look(operation)
                if parts is None:
                    return None, None
                try:
                    if len(parts) != 1:
                        raise UndecodableError(f"a message of {len(parts)} frames, not of 1")
                    return None, decode(parts[0], allowed).data
                except UndecodableError as error:
                    self._refuse(operation, error)
        except CommTimeoutError:
            return None, None
        except ClosedError:
            return CLOSED, None

    # -- results -----------------------------------------------------------------------------------------------------

    def recv_result_handle(self) -> None:
        """Receive handles until the server is closed (mode ROUTER): the body of a thread."""
        while True:
            try:
                self.receive_handle_once(timeout=self._look_s)
            except ClosedError:
                return
            except (CommTimeoutError, UndeliverableError) as error:
                _LOG.debug("recv_result_handle: %s", error)  # nothing came, or whose results it was has been told
            self._results.expire()

    def receive_handle_once(self, *, timeout: Timeout = DEFAULT) -> bool:
        """Receive one handle (mode ROUTER), and send what waits for it.

        Returns False if it was refused: the request has another client or has ended, or the message is no handle.

        Raises:
            CommTimeoutError: None came in time, or the client takes nothing.
            UndeliverableError: The client is gone, and results waited for it.
            ClosedError: The server was closed.
        """
        operation = "recv_result_handle"
        self._require(zmq.ROUTER, operation)
        try:
            client, name = self._addressed(self._socket.receive(operation, timeout))
            request = str(name, "utf-8")
        except (UndecodableError, UnicodeDecodeError) as error:
            self._refuse(operation, error)
            return False
        return self._results.handle(request, client, self._send_timeout)

    def send_response(self, req_id: str, data: Sequence[Any], *, timeout: Timeout = DEFAULT) -> None:
        """Send the next results of a request to the client that asks for them, or keep them until one does.

        What has a ``to_dict`` is sent as its result. The last result has ``finished`` (an attribute, or a key of the
        dictionary). In the mode PUSH ``data`` is a batch, and ``req_id`` is not used.

        Args:
            req_id: The request.
            data: One or more results. None at all is FastDeploy's way to ask for a flush, which needs no asking here.
            timeout: Seconds that the client may take nothing; by default ``send_timeout``.

        Raises:
            UndeliverableError: The client is gone, or the request was given up: these results reach nobody.
            CommTimeoutError: There is no room to keep them, and nothing was changed. Or the client has taken nothing
                for so long, and the request was given up.
            PayloadError: They cannot be encoded. Nothing was changed.
            ProtocolViolationError: The request had its last result.
            ClosedError, ForkedHandleError: The server was closed, or is another process's.
        """
        if self.mode == zmq.PUSH:
            self.send_batch_response(data, timeout=timeout)
            return
        self._require(zmq.ROUTER, "send_response")
        if not data:
            return
        last = _finished(data[-1])
        piece = Piece(dumps([_plain(item) for item in data], self._formats[0]), len(data))
        self._results.put(req_id, piece, last, self._send_timeout if timeout is DEFAULT else timeout)

    def send_batch_response(self, batch: Iterable[Any], *, timeout: Timeout = DEFAULT) -> None:
        """Send a batch to one of the clients that pull (mode PUSH).

        Raises:
            CommTimeoutError: No client has room. Nothing was sent.
            PayloadError: It cannot be encoded.
        """
        operation = "send_batch_response"
        self._require(zmq.PUSH, operation)
        message = dumps([_plain(item) for item in batch], self._formats[0])
        self._socket.send([message], operation, self._send_timeout if timeout is DEFAULT else timeout)

    def _send_pieces(self, client: bytes, batch: Sequence[Piece], seconds: float | None) -> None:
        message = batch[0].message
        if len(batch) > 1:
            whole = itertools.chain.from_iterable(loads(piece.message, self._formats) for piece in batch)
            message = dumps(list(whole), self._formats[0])
        self._socket.send((client, b"", message), "send_response", seconds)

    # -- commands ----------------------------------------------------------------------------------------------------

    def recv_control_cmd(self, *, timeout: Timeout = 0.0) -> dict[str, Any] | None:
        """Return the next command (mode ROUTER): a dictionary with ``task_id``. None: there is none."""
        operation = "recv_control_cmd"
        self._require(zmq.ROUTER, operation)
        while True:
            try:
                parts = self._socket.receive(operation, timeout)
            except CommTimeoutError:
                return None
            try:
                client, message = self._addressed(parts)
                command = options.unpack(message)
                if not isinstance(command, dict) or not isinstance(command.get("task_id"), str):
                    raise UndecodableError("a command must be a map with a task_id")
            except UndecodableError as error:
                self._refuse(operation, error)
                continue
            self._commands[command["task_id"]] = client
            while len(self._commands) > self._most_commands:
                forgotten, _ = self._commands.popitem(last=False)
                _LOG.warning("command %s was not answered, and is forgotten", forgotten)
            return command

    def response_for_control_cmd(self, task_id: str, result: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Answer a command (mode ROUTER).

        Raises:
            UndeliverableError: There is no such command, or its client is gone.
        """
        operation = "response_for_control_cmd"
        self._require(zmq.ROUTER, operation)
        message = options.pack(result)
        client = self._commands.pop(task_id, None)
        if client is None:
            raise UndeliverableError(
                f"{operation}: no command {task_id} waits for an answer", operation=operation, request=task_id
            )
        self._socket.send((client, b"", message), operation, self._send_timeout if timeout is DEFAULT else timeout)

    # -- life --------------------------------------------------------------------------------------------------------

    def statistics(self) -> MailboxStatistics:
        """Return a snapshot."""
        return self._results.statistics()

    def stage(self, req_id: str) -> str:
        """Return ``open``, or how a request ended: over, lost, late, expired, closed."""
        return self._results.stage(req_id)

    def close(self) -> None:
        """End all requests and close; what the socket has taken is still sent for ``linger_s``. Idempotent."""
        self._results.close()
        self._socket.close()

    def __enter__(self: S) -> S:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _addressed(self, parts: Sequence[Buffer]) -> tuple[bytes, Buffer]:
        if len(parts) != 3 or len(parts[1]):
            raise UndecodableError(f"a message of {len(parts)} frames, not of a client, an empty one and a text")
        return bytes(parts[0]), parts[2]

    def _refuse(self, operation: str, error: Exception) -> None:
        self._results.undecodable += 1
        # A UnicodeDecodeError quotes what it could not decode.
        _LOG.warning("%s: refused: %s", operation, error if isinstance(error, UndecodableError) else "no UTF-8")

    def _require(self, mode: int, operation: str) -> None:
        if self.mode != mode:
            raise ConfigError(
                f"{operation} is for servers of the mode zmq.{_MODES[int(mode)]}, not zmq.{_MODES[int(self.mode)]}",
                operation=operation,
            )


def _finished(result: Any) -> bool:
    return bool(result.get("finished") if isinstance(result, dict) else getattr(result, "finished", False))


def _plain(result: Any) -> Any:
    to_dict = getattr(result, "to_dict", None)
    return result if to_dict is None else to_dict()
