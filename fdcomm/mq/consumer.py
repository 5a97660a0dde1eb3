"""The consumer of a queue: takes each message of each producer once, and acknowledges what it is done with."""

from __future__ import annotations

import mmap
import threading
from typing import Any, Final

from fdcomm.core.fmq import Receiver
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    ForkedHandleError,
    UndecodableError,
    WrongThreadError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.mq.frames import HEADER, IN_MEMORY, RAW_IN_MEMORY, Message, decoded, id_of
from fdcomm.mq.inbox import Inbox
from fdcomm.mq.memory import Loan, Loans
from fdcomm.mq.payloads import Payloads, loaded
from fdcomm.mq.producer import Trace
from fdcomm.mq.statistics import ConsumerStatistics
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.zsocket.codec import Buffer

__all__ = "Consumer"

_RECLAIM_EVERY_S: Final = 1.0


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
        self._names: dict[bytes, tuple[bytes, int, str]] = {}
        self._lent: list[Loan] = []
        self._loans = None if payloads is None else Loans(payloads)
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
            if self._loans is not None:
                self._loans.close()
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
        named = self._names.get(peer) or self._named(peer)
        if named is None or len(frame) < HEADER.size:
            self._counts["malformed"] += 1
            return None
        producer, connection, name = named
        kind, number, base, timestamp = HEADER.unpack_from(frame)
        content = frame[HEADER.size :] if body is None else body
        memory: mmap.mmap | None = None
        damaged: UndecodableError | None = None
        if kind in (IN_MEMORY, RAW_IN_MEMORY):
            if self._payloads is None or len(content) != 8:
                self._counts["malformed"] += 1
                return None
            if producer not in self._receiver.producers and base:
                # What its producer had dropped, or a consumer was done with, before this one read of it does not come.
                self._payloads.forget(name, base)
            try:
                memory = self._payloads.open(name, number, int.from_bytes(content, "little"))
            except UndecodableError as error:
                damaged = error
        there = kind < RAW_IN_MEMORY or memory is not None or damaged is not None
        verdict = self._receiver.read(producer, connection, number, base, there)
        if verdict == "hole":
            self._counts["malformed"] += 1
            return None
        if self._trace is not None:
            args = {"producer": name, "number": number, "base": base, "connection": connection}
            self._note({"given": "Take", "skipped": "Skip", "duplicate": "Drop"}[verdict], args)
        if verdict == "duplicate":
            self._counts["duplicates"] += 1
            self._owed.add(producer)
            return None
        self._given.add(producer)
        if verdict == "skipped":
            self._counts["skipped"] += 1
            return None
        if memory is not None:
            self._lent.append(Loan(name, number, memory))
        try:
            if damaged is not None:
                raise damaged
            if memory is not None:
                payload = loaded(kind, memoryview(memory))
            else:
                payload = decoded(kind, content, self._payloads is not None, self._pickles)
        except UndecodableError:
            self._counts["undecodable"] += 1
            raise
        self._counts["received"] += 1
        return Message(payload, name, number, timestamp, 0 if memory is None else len(memory))

    def _named(self, peer: bytes) -> tuple[bytes, int, str] | None:
        named = id_of(peer)
        if named is None:
            return None
        producer, connection = named
        self._peers.setdefault(producer, {})[connection] = peer
        found = self._names[peer] = (producer, connection, producer.hex())
        return found

    def _finish(self) -> None:
        """What was given is done: its payloads go, then it may be acknowledged."""
        if not self._given:
            return
        while self._lent:
            loan = self._lent.pop()
            if self._loans is not None:
                self._loans.finish(loan)
        self._runtime.point("fmq.finish.removed")
        for producer in self._given:
            number = self._receiver.finish(producer)
            if self._trace is not None:
                self._note("Finish", {"producer": producer.hex(), "number": number})
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
            for peer in self._peers.pop(producer, {}).values():
                self._names.pop(peer, None)
            self._owed.discard(producer)
        self._drained.clear()

    def _sweep(self) -> None:
        """Nobody serves the queue: what producers that are gone have left nobody can ask for."""
        for producer, count in self._payloads.sweep() if self._payloads is not None else ():
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
