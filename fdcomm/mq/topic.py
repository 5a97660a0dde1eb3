"""A topic: one publisher, many subscribers, each of which gets everything from its subscription on.

A subscriber asks to be told when the publisher knows it, and waits for that: what is published afterwards reaches it.
Messages are numbered, so what a broken connection or a full subscriber lost is counted.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal

import zmq

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, FdcommError, UndecodableError, WrongRoleError
from fdcomm.forksafety import close_in_child
from fdcomm.mq.config import Config
from fdcomm.mq.ending import hold, let_go
from fdcomm.mq.frames import HEADER, Message, coded, decoded
from fdcomm.mq.link import bind, secure, url
from fdcomm.mq.statistics import TopicStatistics
from fdcomm.runtime import SYSTEM
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.paths import Claim
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Topic",)

_DATA: Final = b"d"
_WELCOME: Final = b"w"
_ID: Final = struct.Struct("<8s")
_JOIN_S: Final = 5.0

_log = logging.getLogger("fdcomm.mq")


class Topic:
    """One end of a topic: it becomes the publisher with the first :meth:`pub` or :meth:`bind`, a subscriber with
    :meth:`sub`. May be used by several threads.

    Args:
        name: Its name.
        config: Where it is, and options.
        when_full: What a publisher does when a subscriber has ``socket_config.sndhwm`` messages unread: "wait", or
            "drop" the message, for all, and count it.
    """

    def __init__(self, name: str, config: Config | None = None, *, when_full: Literal["wait", "drop"] = "wait") -> None:
        if when_full not in ("wait", "drop"):
            raise ConfigError(f"when_full={when_full!r} is neither 'wait' nor 'drop'")
        self.name = name
        self._config = config or Config()
        self._endpoint = self._config.endpoint(name)
        self._local = self._endpoint.protocol == "ipc"
        self._drops = when_full == "drop"
        self._what = f"topic {name!r}"
        self._lock = threading.Lock()
        self._claim: Claim | None = None
        self._socket: LockedSocket | None = None
        self._publishes = False
        self._thread: threading.Thread | None = None
        self._counts = dict.fromkeys(TopicStatistics.__dataclass_fields__, 0)
        self._there: set[bytes] = set()
        self._change = threading.Condition(self._lock)
        self._id = os.urandom(8)
        self._seen: tuple[bytes, int] | None = None
        self._ended = False
        close_in_child(self)

    # -- the publisher -----------------------------------------------------------------------------------------------

    def bind(self) -> None:
        """Become the publisher. Raises AddressInUseError: there is a live one."""
        self.wait_subscribers(0)

    def pub(self, data: object, *, timeout: Timeout = DEFAULT) -> bool:
        """Publish. Without subscribers it goes to nobody.

        Args:
            data: The message; what it may be is as for a queue.
            timeout: Seconds to wait while a subscriber is full.

        Returns:
            False if it was dropped.

        Raises:
            CommTimeoutError: A subscriber was full for so long. Nothing was published.
            PayloadError: It cannot be written. Nothing was published.
            WrongRoleError: This is a subscriber.
        """
        kind, body = coded(data, self._local, self._config.allow_pickle)
        with self._lock:
            self._require("pub")
            socket = self._bind()
            number = self._counts["published"] + 1
            parts = (_DATA + _ID.pack(self._id) + HEADER.pack(kind, number, 0, time.time()), body)
            try:
                socket.send(parts, "pub", 0.0 if self._drops else timeout)
            except CommTimeoutError:
                if not self._drops:
                    raise
                self._counts["dropped"] += 1
                return False
            self._counts["published"] = number
            return True

    def wait_subscribers(self, count: int = 1, timeout: Timeout = DEFAULT) -> None:
        """Wait until so many subscribers are there. Raises CommTimeoutError: they are not."""
        deadline = Deadline(timeout_seconds(timeout, "wait_subscribers"), SYSTEM.monotonic)
        with self._change:
            self._require("wait_subscribers")
            self._bind()
            while len(self._there) < count:
                if deadline.expired():
                    raise CommTimeoutError(
                        f"wait_subscribers: {self._what}: {len(self._there)} of {count} subscribers are there after "
                        f"{deadline.waited():.3g} s",
                        operation="wait_subscribers",
                        waited_s=deadline.waited(),
                    )
                self._change.wait(deadline.remaining())
                self._require("wait_subscribers")

    def _bind(self) -> LockedSocket:
        if self._socket is not None:
            if not self._publishes:
                raise WrongRoleError(f"pub: {self._what}: this is a subscriber", operation="pub")
            return self._socket
        options = secure(self._endpoint, binds=True)
        claim = Claim(self._endpoint.address) if self._local else None
        try:
            hwm = self._config.socket_config.sndhwm
            options = {"xpub_nodrop": True, "sndhwm": hwm, "sndbuf": self._config.socket_config.sndbuf, **options}
            port = ZmqPort(zmq.XPUB, linger_s=self._config.socket_config.linger / 1000, options=options)
            bind(port, self._endpoint)
        except BaseException:
            if claim is not None:
                claim.release()
            raise
        self._claim, self._publishes = claim, True
        self._socket = LockedSocket(port, self._what)
        hold(self._socket)
        self._start(self._welcome, self._socket)
        return self._socket

    def _welcome(self, socket: LockedSocket) -> None:
        """The publisher's thread: tell each new subscriber that it is known."""
        while True:
            try:
                (told,) = socket.receive("pub", None)
                token = bytes(told[1:])
                if token[:1] == _WELCOME:
                    if told[0]:
                        socket.send((token, _ID.pack(self._id)), "pub")
                    with self._change:
                        (self._there.add if told[0] else self._there.discard)(token)
                        self._change.notify_all()
            except ValueError:  # no subscription, but a message of many parts; ClosedError is one, too
                if socket.closed:
                    return
            except FdcommError:
                return

    # -- a subscriber ------------------------------------------------------------------------------------------------

    def sub(self, callback: Callable[[Message], object] | None = None, *, timeout: Timeout = DEFAULT) -> None:
        """Subscribe, and return when the publisher knows it: everything that it publishes from then on comes.

        Args:
            callback: Called with each message in a thread of the handle; None: take them with :meth:`get`.
            timeout: Seconds to wait for the publisher.

        Raises:
            CommTimeoutError: There is none. Nothing is subscribed.
            WrongRoleError: This is the publisher.
        """
        deadline = Deadline(timeout_seconds(timeout, "sub"), SYSTEM.monotonic)
        token = _WELCOME + os.urandom(16)
        with self._lock:
            self._require("sub")
            if self._socket is not None:
                role = "the publisher" if self._publishes else "subscribed already"
                raise WrongRoleError(f"sub: {self._what}: this is {role}", operation="sub")
            options = secure(self._endpoint, binds=False)
            options |= {"rcvhwm": self._config.socket_config.rcvhwm, "rcvbuf": self._config.socket_config.rcvbuf}
            port = ZmqPort(zmq.SUB, linger_s=0.0, options=options)
            port.socket.subscribe(_DATA)
            port.socket.subscribe(token)  # arrives after the one before
            port.connect(url(self._endpoint))
            socket = self._socket = LockedSocket(port, self._what)
            hold(socket)
        try:
            while True:
                first, *rest = socket.receive("sub", deadline.remaining())
                if first == token:
                    break
        except BaseException:
            with self._lock:
                self._socket = None
                let_go(socket)
                socket.close()
            raise
        self._counts["publishers"] = 1
        self._seen = (bytes(rest[0]), -1)
        if callback is not None:
            self._start(lambda socket: self._call(socket, callback), socket)

    def get(self, timeout: Timeout = DEFAULT) -> Message:
        """Return the next message.

        Raises:
            CommTimeoutError: None came.
            UndecodableError: It could not be decoded. It alone is lost.
        """
        socket = self._socket
        self._require("get")
        if socket is None or self._publishes or self._thread is not None:
            raise WrongRoleError(f"get: {self._what}: call sub() without a callback first", operation="get")
        return self._get(socket, timeout)

    def _get(self, socket: LockedSocket, timeout: Timeout) -> Message:
        deadline = Deadline(timeout_seconds(timeout, "get"), SYSTEM.monotonic)
        while True:
            parts = socket.receive("get", deadline.remaining())
            if len(parts) != 2 or len(parts[0]) != 1 + _ID.size + HEADER.size:
                continue  # a welcome of another publisher
            (publisher,) = _ID.unpack_from(parts[0], 1)
            kind, number, _, timestamp = HEADER.unpack_from(parts[0], 1 + _ID.size)
            with self._lock:
                if self._seen is None or self._seen[0] != publisher:
                    self._counts["publishers"] += 1
                elif self._seen[1] >= 0:
                    self._counts["missed"] += number - self._seen[1] - 1
                self._seen = (publisher, number)
            try:
                payload = decoded(kind, parts[1], self._local, self._config.allow_pickle)
            except UndecodableError:
                self._counts["undecodable"] += 1
                raise
            self._counts["received"] += 1
            return Message(payload, publisher.hex(), number, timestamp)

    def _call(self, socket: LockedSocket, callback: Callable[[Message], object]) -> None:
        """The subscriber's thread."""
        while not socket.closed:
            try:
                message = self._get(socket, None)
            except UndecodableError as error:
                _log.warning("%s: %s", self._what, error)
                continue
            except FdcommError:
                return
            try:
                callback(message)
            except Exception as error:  # noqa: BLE001  (whatever a callback raises is its own affair)
                self._counts["callback_errors"] += 1
                _log.warning("%s: the callback has failed: %s", self._what, type(error).__name__)

    # -- both --------------------------------------------------------------------------------------------------------

    def stop_sub(self) -> None:
        """End the subscription; :meth:`sub` may be called again. Does nothing on a publisher."""
        if not self._publishes:
            self._stop()

    def statistics(self) -> TopicStatistics:
        """Return a snapshot."""
        return TopicStatistics(**{**self._counts, "subscribers": len(self._there)})

    @property
    def closed(self) -> bool:
        """True once it was closed."""
        return self._ended

    def close(self) -> None:
        """Close. What is unsent is still sent within the linger. Idempotent."""
        self._ended = True
        self._stop()
        with self._change:
            self._change.notify_all()
            claim, self._claim = self._claim, None
        if claim is not None:
            claim.release()

    def _stop(self) -> None:
        with self._lock:
            socket, self._socket = self._socket, None
            thread, self._thread = self._thread, None
        if socket is not None:
            socket.close()
            let_go(socket)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_S)

    def _start(self, body: Callable[[LockedSocket], None], socket: LockedSocket) -> None:
        self._thread = SYSTEM.spawn(lambda: body(socket), f"fdcomm-mq-{self._what}")

    def _require(self, operation: str) -> None:
        if self._ended:
            raise ClosedError(f"{operation}: {self._what} was closed", operation=operation)

    def after_fork_in_child(self) -> None:
        """The child's copy is closed; the socket answers with ForkedHandleError before it is looked at."""
        self._lock = threading.Lock()
        self._change = threading.Condition(self._lock)

    def __enter__(self) -> Topic:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
