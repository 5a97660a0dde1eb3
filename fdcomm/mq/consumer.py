"""The consumer of a queue: takes each message of each producer once, and acknowledges what it is done with."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final, Protocol

import zmq

from fdcomm.core.fmq import Receiver
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    ForkedHandleError,
    UndecodableError,
    UndeliverableError,
    WrongThreadError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.mq.config import Config, Endpoint
from fdcomm.mq.frames import HEADER, IN_MEMORY, RAW_IN_MEMORY, Message, decoded, id_of
from fdcomm.mq.link import Bell, bind, secure, wait_for
from fdcomm.mq.payloads import Payloads, loaded
from fdcomm.mq.producer import Trace
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.paths import Claim
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Consumer", "ConsumerStatistics", "Inbox", "ZmqInbox")

_RECLAIM_EVERY_S: Final = 1.0


@dataclass(frozen=True)
class ConsumerStatistics:
    """A snapshot.

    Attributes:
        received: Messages that were returned by ``get``.
        duplicates: Messages that came again, and were dropped.
        skipped: Messages that an earlier consumer was done with, and whose producer had not heard of it.
        undecodable: Messages that could not be decoded. Each raised UndecodableError once.
        malformed: What was read and is no message of ours.
        acknowledged: Acknowledgements that were sent.
        reclaimed: Payloads of producers that are gone, which nobody could ask for any more.
        producers: Producers that are known.
    """

    received: int = 0
    duplicates: int = 0
    skipped: int = 0
    undecodable: int = 0
    malformed: int = 0
    acknowledged: int = 0
    reclaimed: int = 0
    producers: int = 0


class Inbox(Protocol):
    """The consumer's socket. Nobody else can have one of the same queue. All calls but ``wait`` are made under its
    owner's lock."""

    def start(self) -> None:
        """Let producers connect."""

    def receive(self) -> tuple[bytes, Buffer, Buffer | None] | None:
        """Return the peer, the frame and its second part, if it has one, of the next message; None: there is none.

        Raises:
            UndecodableError: What was read has more parts, or fewer.
        """

    def send(self, peer: bytes, data: bytes) -> bool:
        """Send to a peer. False: it is not connected any more, and everything that it has sent can be received."""

    def wait(self, seconds: float | None) -> None:
        """Return when something may have come, at a ring, or after so many seconds. Without the lock."""

    def ring(self) -> None:
        """End the wait, or the next one."""

    def stop(self) -> None:
        """Close the socket. Nobody may be waiting."""

    def release(self) -> None:
        """Let others have one."""


class ZmqInbox:
    """An inbox that is a ZeroMQ socket, on a path that has one live owner."""

    def __init__(self, endpoint: Endpoint, config: Config) -> None:
        """Raises:
        AddressInUseError: Another live consumer has the endpoint.
        UnsafeConfigError: It can be reached from other machines, and has no keys.
        """
        self.endpoint = endpoint
        self._options = {
            "router_mandatory": True,
            "sndhwm": 0,
            "rcvhwm": 0,
            "rcvbuf": config.socket_config.rcvbuf,
            **secure(endpoint, binds=True),
        }
        self._linger_s = config.socket_config.linger / 1000
        self._claim = Claim(endpoint.address) if endpoint.protocol == "ipc" else None
        self._port: ZmqPort | None = None
        self._socket: Any = None
        self._fd: Any = -1
        self._bell = Bell()
        close_in_child(self)

    def start(self) -> None:
        """Bind."""
        self._port = ZmqPort(zmq.ROUTER, linger_s=self._linger_s, options=self._options)
        self._socket = self._port.socket
        self._fd = self._socket.getsockopt(zmq.FD)
        bind(self._port, self.endpoint)

    def receive(self) -> tuple[bytes, Buffer, Buffer | None] | None:
        """Return what came next."""
        socket = self._socket
        try:
            peer: bytes = socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return None
        if not socket.getsockopt(zmq.RCVMORE):
            raise UndecodableError("a message without a frame")
        frame: bytes = socket.recv(zmq.NOBLOCK)
        body: Buffer | None = None
        if socket.getsockopt(zmq.RCVMORE):
            body = socket.recv(zmq.NOBLOCK, copy=False).buffer
            if socket.getsockopt(zmq.RCVMORE):
                while socket.getsockopt(zmq.RCVMORE):
                    socket.recv(zmq.NOBLOCK)
                raise UndecodableError("a message of too many parts")
        return peer, frame, body

    def send(self, peer: bytes, data: bytes) -> bool:
        """Send to a peer."""
        try:
            return self._port is not None and self._port.send((peer, data))
        except UndeliverableError:
            return False

    def wait(self, seconds: float | None) -> None:
        """Wait."""
        wait_for((self._fd, self._bell.fd), seconds)
        self._bell.silence()

    def ring(self) -> None:
        """End the wait."""
        self._bell.ring()

    def stop(self) -> None:
        """Close the socket."""
        if self._port is not None:
            self._port.close()
        self._bell.close()

    def release(self) -> None:
        """Give the path up."""
        if self._claim is not None:
            self._claim.release()

    def after_fork_in_child(self) -> None:
        """The child keeps no copy of the connections; bell and claim see to themselves."""
        if self._port is not None:
            self._port.after_fork_in_child()


class Consumer:
    """One consumer. Used by one thread at a time; ``close`` may be called by any.

    Args:
        inbox: Its socket.
        what: What messages call it.
        ack_every: Acknowledge after so many messages at the latest.
        payloads: Shared memory of large messages; None: the producers are elsewhere.
        pickles: Accept pickle from elsewhere.
        trace: Called under the lock with each action.
    """

    def __init__(
        self,
        inbox: Inbox,
        what: str,
        *,
        ack_every: int,
        payloads: Payloads | None = None,
        pickles: bool = False,
        runtime: Runtime = SYSTEM,
        trace: Trace | None = None,
    ) -> None:
        self.linger_s = 0.0
        self._inbox = inbox
        self._what = what
        self._ack_every = ack_every
        self._payloads = payloads
        self._pickles = pickles
        self._runtime = runtime
        self._trace = trace
        self._changed = runtime.condition()
        self._lock = lock_of(self._changed)
        self._receiver = Receiver()
        self._peers: dict[bytes, dict[int, bytes]] = {}  # producer -> its connections -> their routing ids
        self._given: set[bytes] = set()
        self._in_memory: dict[bytes, list[int]] = {}
        self._owed: set[bytes] = set()
        self._since = 0
        self._counts = dict.fromkeys(ConsumerStatistics.__dataclass_fields__, 0)
        self._refusal: type[FdcommError] | None = None
        self._thread: int | None = None
        self._busy = False
        self._reclaim_at = runtime.monotonic()
        self._drained: set[bytes] = set()
        close_in_child(self)
        try:
            self._sweep()
            self._note("StartConsumer", {})
            inbox.start()
        except BaseException:
            inbox.stop()
            inbox.release()
            raise

    # -- for its user ------------------------------------------------------------------------------------------------

    def get(self, timeout: Timeout = DEFAULT) -> Message:
        """Return the next message. What was returned before is done: it is acknowledged.

        Raises:
            CommTimeoutError: None came.
            UndecodableError: A message could not be decoded. It is lost, and nothing else is.
            WrongThreadError: Another thread uses the handle.
        """
        deadline: Deadline | None = None
        with self._lock:
            self._enter("get")
            self._finish()
            while True:
                message = self._next()
                if message is not None:
                    return message
                if deadline is None:
                    deadline = Deadline(timeout_seconds(timeout, "get"), self._runtime.monotonic)
                if self._settle():
                    continue  # sending may have taken in what ZeroMQ has to tell, so look again
                if deadline.expired():
                    raise CommTimeoutError(
                        f"get: {self._what}: no message came within {deadline.waited():.3g} s",
                        operation="get",
                        waited_s=deadline.waited(),
                    )
                self._wait(deadline.remaining())
                self._require("get")

    def look(self) -> Message | None:
        """Return the next message, or None: there is none now. As :meth:`get` otherwise."""
        with self._lock:
            self._enter("get")
            self._finish()
            while True:
                message = self._next()
                if message is not None or not self._settle():
                    return message

    def done(self) -> None:
        """What was returned is done, and is acknowledged now."""
        with self._lock:
            self._enter("done")
            self._finish()
            self._acknowledge()

    def rebind(self) -> None:
        """Let another thread use the handle from now on: the one that calls ``get`` next."""
        with self._lock:
            self._require("rebind")
            self._thread = None

    def close(self, *, done: bool = True) -> None:
        """End. ``done``: what was returned is done; else it is delivered again, to the next consumer. Idempotent."""
        with self._lock:
            if self._refusal is not None:
                return
            if done and not self._busy:
                self._finish()
            self._acknowledge()
            self._refusal = ClosedError
            while self._busy:
                self._inbox.ring()
                self._changed.wait(0.1)
            self._inbox.stop()
            self._note("EndConsumer", {})
            self._sweep()
            self._inbox.release()

    def statistics(self) -> ConsumerStatistics:
        """Return a snapshot."""
        with self._lock:
            counts = {**self._counts, "producers": len(self._receiver.producers)}
            return ConsumerStatistics(**counts)

    @property
    def closed(self) -> bool:
        """True once it was closed, or came here by fork."""
        return self._refusal is not None

    def after_fork_in_child(self) -> None:
        """The child's copy answers every call with ForkedHandleError."""
        self._changed = self._runtime.condition()
        self._lock = lock_of(self._changed)
        if self._refusal is None:
            self._refusal = ForkedHandleError

    # -- under the lock ----------------------------------------------------------------------------------------------

    def _next(self) -> Message | None:
        while True:
            try:
                read = self._inbox.receive()
            except UndecodableError:
                self._counts["malformed"] += 1
                continue
            if read is None:
                return None
            message = self._read(*read)
            if message is not None:
                return message

    def _read(self, peer: bytes, frame: Buffer, body: Buffer | None) -> Message | None:
        named = id_of(peer)
        if named is None or len(frame) < HEADER.size:
            self._counts["malformed"] += 1
            return None
        producer, connection = named
        kind, number, base, timestamp = HEADER.unpack_from(frame)
        if producer not in self._peers:
            self._peers[producer] = {}
            self._forget(producer, base)
        self._peers[producer][connection] = peer
        view: memoryview | None = None
        in_memory = kind in (IN_MEMORY, RAW_IN_MEMORY)
        if in_memory:
            if self._payloads is None or number > (1 << 62):
                self._counts["malformed"] += 1
                return None
            view = self._payloads.open(producer.hex(), number)
        verdict = self._receiver.read(producer, connection, number, base, not in_memory or view is not None)
        if verdict == "hole":
            self._counts["malformed"] += 1
            return None
        args = {"producer": producer.hex(), "number": number, "base": base, "connection": connection}
        if verdict == "duplicate":
            self._note("Drop", args)
            self._counts["duplicates"] += 1
            self._owed.add(producer)
            return None
        self._given.add(producer)
        if verdict == "skipped":
            self._note("Skip", args)
            self._counts["skipped"] += 1
            return None
        self._note("Take", args)
        if view is not None:
            self._in_memory.setdefault(producer, []).append(number)
        try:
            if view is not None:
                payload = loaded(kind, view)
            else:
                payload = decoded(kind, frame[HEADER.size :] if body is None else body, *self._trusts())
        except UndecodableError:
            self._counts["undecodable"] += 1
            raise
        self._counts["received"] += 1
        return Message(payload, producer.hex(), number, timestamp, 0 if view is None else len(view))

    def _trusts(self) -> tuple[bool, bool]:
        return self._payloads is not None, self._pickles

    def _finish(self) -> None:
        """What was given is done: its payloads go, then it may be acknowledged."""
        if not self._given:
            return
        for producer in self._given:
            for number in self._in_memory.pop(producer, ()):
                if self._payloads is not None:
                    self._payloads.remove(producer.hex(), number)
            self._runtime.point("fmq.finish.removed")
            self._note("Finish", {"producer": producer.hex(), "number": self._receiver.finish(producer)})
        self._owed |= self._given
        self._given.clear()
        self._since += 1
        if self._since >= self._ack_every:
            self._acknowledge()

    def _acknowledge(self) -> bool:
        """Tell the producers what is done. Return whether there was something to tell."""
        owed, self._owed, self._since = self._owed, set(), 0
        for producer in owed:
            number = self._receiver.acknowledge(producer)
            if number:
                connection = self._receiver.producers[producer].peer
                self._note("Acknowledge", {"producer": producer.hex(), "number": number, "connection": connection})
                peer = self._peers[producer][connection]
                self._counts["acknowledged"] += self._inbox.send(peer, number.to_bytes(8, "little"))
        return bool(owed)

    def _forget(self, producer: bytes, base: int) -> None:
        """What a producer had dropped, or a consumer was done with, before this one read of it does not come."""
        if self._payloads is not None and base:
            for number in self._payloads.listed().get(producer.hex(), ()):
                if number <= base:
                    self._payloads.remove(producer.hex(), number)

    def _settle(self) -> bool:
        """There is nothing to read: acknowledge, and remove what nobody can ask for. Return whether to read again."""
        self._finish()
        self._reclaim()
        told = self._acknowledge()
        return self._look_for_gone() or told

    def _look_for_gone(self) -> bool:
        """Find producers that are gone. Return whether there are some: what they have sent has to be read first."""
        if self._payloads is None or self._runtime.monotonic() < self._reclaim_at:
            return False
        self._reclaim_at = self._runtime.monotonic() + _RECLAIM_EVERY_S
        for producer, connections in self._peers.items():
            with self._payloads.of_gone(producer.hex()) as gone:
                # A connection that takes no message is over, and what it has brought can be read by now.
                if gone and not any(self._inbox.send(peer, bytes(8)) for peer in connections.values()):
                    self._drained.add(producer)
        return bool(self._drained)

    def _reclaim(self) -> None:
        """Remove what is left of producers that are gone and of which everything was read."""
        for producer in self._drained:
            if self._payloads is not None and producer in self._receiver.producers:
                last = self._receiver.reclaim(producer)
                self._note("Reclaim", {"producer": producer.hex(), "number": last})
                self._counts["reclaimed"] += self._payloads.reclaim(producer.hex()) or 0
            self._peers.pop(producer, None)
            self._owed.discard(producer)
        self._drained.clear()

    def _sweep(self) -> None:
        """Nobody serves the queue: what producers that are gone have left nobody can ask for."""
        for producer in self._payloads.listed() if self._payloads is not None else ():
            count = self._payloads.reclaim(producer) if self._payloads is not None else None
            if count is not None:
                self._note("Sweep", {"producer": producer})
                self._counts["reclaimed"] += count

    def _wait(self, seconds: float | None) -> None:
        self._busy = True
        self._changed.__exit__(None, None, None)
        try:
            self._inbox.wait(seconds)
        finally:
            self._changed.__enter__()
            self._busy = False
            if self._refusal is not None:
                self._changed.notify_all()

    def _enter(self, operation: str) -> None:
        self._require(operation)
        me = threading.get_ident()
        if self._thread is None:
            self._thread = me
        elif self._thread != me:
            raise WrongThreadError(
                f"{operation}: {self._what}: another thread uses this consumer, and would have its message taken for "
                "done; call rebind() to hand it over",
                operation=operation,
            )

    def _require(self, operation: str) -> None:
        if self._refusal is ForkedHandleError:
            raise ForkedHandleError(
                f"{operation}: {self._what} came to this process by fork; open a new one here", operation=operation
            )
        if self._refusal is not None:
            raise ClosedError(f"{operation}: {self._what} was closed", operation=operation)

    def _note(self, action: str, args: dict[str, Any]) -> None:
        if self._trace is not None:
            self._trace(action, args)
