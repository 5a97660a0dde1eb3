"""The consumer of a queue: takes each message of each producer once, and acknowledges what it is done with."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from fdcomm.core.fmq import Receiver
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    ForkedHandleError,
    UndecodableError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.mq.frames import HEADER, RAW_IN_MEMORY, Message, decoded
from fdcomm.mq.inbox import Inbox
from fdcomm.mq.memory import Loan, Loans
from fdcomm.mq.payloads import Payloads, loaded
from fdcomm.mq.peers import Peers
from fdcomm.mq.producer import Trace
from fdcomm.mq.refusing import OneThread, require_open
from fdcomm.mq.statistics import ConsumerStatistics
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.zsocket.codec import Buffer

__all__ = ("Consumer",)

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
        self.waits = False
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
        self._peers = Peers()
        self._given: set[bytes] = set()
        self._loans = None if payloads is None else Loans(payloads)
        self._owed: set[bytes] = set()
        self._since = 0
        self._counts = dict.fromkeys(ConsumerStatistics.__dataclass_fields__, 0)
        self._refusal: type[FdcommError] | None = None
        self._user = OneThread()
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
        with contextlib.suppress(CommTimeoutError):
            return self.get(0.0)
        return None

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
            self._user = OneThread()

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
        named = self._peers.of(peer)
        if named is None or len(frame) < HEADER.size:
            self._counts["malformed"] += 1
            return None
        producer, connection, name = named
        kind, number, base, timestamp = HEADER.unpack_from(frame)
        content = frame[HEADER.size :] if body is None else body
        loan: Loan | None = None
        if kind >= RAW_IN_MEMORY:
            if self._loans is None or len(content) != 8:
                self._counts["malformed"] += 1
                return None
            known = producer in self._receiver.producers
            loan = self._loans.lend(name, number, int.from_bytes(content, "little"), 0 if known else base)
        there = kind < RAW_IN_MEMORY or loan is not None
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
        try:
            if loan is not None and self._loans is not None:
                self._loans.keep(loan)
                payload = loaded(kind, loan.view())
            else:
                payload = decoded(kind, content, self._payloads is not None, self._pickles)
        except UndecodableError:
            self._counts["undecodable"] += 1
            raise
        self._counts["received"] += 1
        return Message(payload, name, number, timestamp, 0 if loan is None else loan.nbytes)

    def _finish(self) -> None:
        """What was given is done: its payloads go, then it may be acknowledged."""
        if not self._given:
            return
        large = self._loans is not None and self._loans.finish()
        self._runtime.point("fmq.finish.removed")
        for producer in self._given:
            number = self._receiver.finish(producer)
            if self._trace is not None:
                self._note("Finish", {"producer": producer.hex(), "number": number})
        self._owed |= self._given
        self._given.clear()
        self._since += 1
        if large or self._since >= self._ack_every:  # a producer may wait for memory
            self._acknowledge()

    def _acknowledge(self) -> bool:
        """Tell the producers what is done. Return whether there was something to tell."""
        owed, self._owed, self._since = self._owed, set(), 0
        for producer in owed:
            number = self._receiver.acknowledge(producer)
            if number:
                connection = self._receiver.producers[producer].peer
                self._note("Acknowledge", {"producer": producer.hex(), "number": number, "connection": connection})
                peer = self._peers.routing_id(producer, connection)
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
        self._drained.update(self._peers.gone(self._payloads, self._inbox.send))
        return bool(self._drained)

    def _reclaim(self) -> None:
        """Remove what is left of producers that are gone and of which everything was read."""
        for producer in self._drained:
            if self._payloads is not None and producer in self._receiver.producers:
                last = self._receiver.reclaim(producer)
                self._note("Reclaim", {"producer": producer.hex(), "number": last})
                self._counts["reclaimed"] += self._payloads.reclaim(producer.hex()) or 0
            self._peers.forget(producer)
            self._owed.discard(producer)
        if self._drained and self._loans is not None:
            self._loans.forget()
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
        self._user.claim(operation, self._what)

    def _require(self, operation: str) -> None:
        require_open(self._refusal, operation, self._what)

    def _note(self, action: str, args: dict[str, Any]) -> None:
        if self._trace is not None:
            self._trace(action, args)
