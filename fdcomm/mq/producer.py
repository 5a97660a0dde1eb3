"""The producer of a queue: keeps what is not acknowledged, and sends it again on every new connection.

The thread that puts sends. A thread of the handle (its keeper) notices broken connections, makes new ones, and hears
acknowledgements; while the connection holds and none comes, it sleeps.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable
from typing import Any, Final

from fdcomm.core.fmq import Sender
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, ForkedHandleError
from fdcomm.forksafety import close_in_child
from fdcomm.mq.frames import framed, peer_of
from fdcomm.mq.link import Line, Link
from fdcomm.mq.memory import Pool
from fdcomm.mq.payloads import Mark, Payloads, Pieces
from fdcomm.mq.refusing import require_open
from fdcomm.mq.statistics import ProducerStatistics
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.zsocket.codec import Buffer

__all__ = ("Item", "Producer", "Trace")

_FIRST_TRY_S: Final = 0.001
_LAST_TRY_S: Final = 0.05
_END_S: Final = 5.0
# Who puts looks for acknowledgements once in so many messages.
_LOOK_EVERY: Final = 16

_log = logging.getLogger("fdcomm.mq")

Trace = Callable[[str, dict[str, Any]], None]


class Item:
    """A message that is kept: what its frame is made of again."""

    __slots__ = ("body", "kind", "timestamp")

    def __init__(self, kind: int, body: Buffer, timestamp: float) -> None:
        self.kind = kind
        self.body = body
        self.timestamp = timestamp


class Producer:
    """One producer. Safe for several threads; after a fork only the parent may use it.

    Args:
        line: Where it connects.
        what: What messages call it.
        window: Most messages that are not acknowledged.
        keeps: Send again what is not acknowledged.
        payloads: Shared memory for large messages, if the consumer is on this machine.
        shm_window: Most bytes there that are not acknowledged, unless it is one message.
        linger_s: How long the end waits for acknowledgements.
        trace: Called under the lock with each action, before others can see it.
    """

    def __init__(
        self,
        line: Line,
        what: str,
        *,
        window: int,
        keeps: bool = True,
        payloads: Payloads | None = None,
        shm_window: int = 1 << 26,
        linger_s: float = _END_S,
        runtime: Runtime = SYSTEM,
        trace: Trace | None = None,
        identity: bytes | None = None,
    ) -> None:
        self.identity = os.urandom(8) if identity is None else identity
        self.linger_s = linger_s
        self.waits = True
        self._line = line
        self._what = what
        self._runtime = runtime
        self._sender: Sender[Item] = Sender(window, keeps)
        self._trace = trace
        self._changed = runtime.condition()
        self._lock = lock_of(self._changed)
        self._waiting = 0
        self._link: Link | None = None
        self._connections = 0
        self._resent = 0
        self._full = 0
        self._pause = _FIRST_TRY_S
        self._again_at = runtime.monotonic()
        self._refusal: type[FdcommError] | None = None
        self._mark = None if payloads is None else Mark(payloads, self.identity.hex())
        self._pool = None if payloads is None else Pool(payloads, self.identity.hex(), shm_window)
        close_in_child(self)
        self._keeper = runtime.spawn(self._keep, f"fdcomm-mq-{what}")

    # -- for its user ------------------------------------------------------------------------------------------------

    def put(self, kind: int, body: Buffer | Pieces, timeout: Timeout = DEFAULT) -> int:
        """Put a message that :func:`fdcomm.mq.frames.coded` or ``pieces_of`` has made. Return its number.

        Raises:
            CommTimeoutError: There was no room for so long. Nothing was put.
            SignalSpaceError: There is no shared memory for it. Nothing was put.
        """
        with self._lock:
            self._require("put")
            nbytes = body.nbytes if isinstance(body, Pieces) else 0
            if not self._may_put(nbytes):
                self._full += 1
                self._until(lambda: self._may_put(nbytes), "put", timeout, "no room")
            return self._put(kind, body)

    def flush(self, timeout: Timeout = DEFAULT) -> None:
        """Wait until the consumer is done with everything that was put.

        Raises:
            CommTimeoutError: It is not, after so long. It still may be.
        """
        with self._lock:
            self._require("flush")
            self._until(self._settled, "flush", timeout, "messages are not acknowledged")

    def close(self) -> None:
        """As :meth:`end` within ``linger_s``."""
        self.end()

    def end(self, linger_s: float | None = None) -> int:
        """Wait for acknowledgements, at most so long, and end. Return how many messages are not acknowledged.

        They may have arrived all the same; what was not sent is lost. Idempotent.
        """
        linger = self.linger_s if linger_s is None else linger_s
        deadline = Deadline(linger, self._runtime.monotonic)
        with self._lock:
            if self._refusal is not None:
                return 0
            with contextlib.suppress(CommTimeoutError):
                self._until(self._settled, "close", linger, "")
            if self.closed:  # by another thread meanwhile
                return 0
            self._refusal = ClosedError
            self._hear()
            self._note("End", {})
            left = self._sender.end()
            link, self._link = self._link, None
            if link is not None:
                link.close(deadline.remaining() or 0.0)
            self._line.ring()
            self._changed.notify_all()
        if left:
            _log.warning("%s: %d messages are not acknowledged at its end", self._what, left)
        self._keeper.join(_END_S)
        if self._mark is not None and self._pool is not None:
            self._mark.drop(remove=not left or not self._pool.left())
            self._pool.close()
        return left

    def statistics(self) -> ProducerStatistics:
        """Return a snapshot."""
        with self._lock:
            self._hear()
            sender = self._sender
            return ProducerStatistics(
                sent=sender.sent,
                acknowledged=sender.base - sender.dropped,
                dropped=sender.dropped,
                unacknowledged=sender.sent - sender.base,
                resent=self._resent,
                connections=self._connections,
                connected=sender.linked,
                full=self._full,
            )

    @property
    def closed(self) -> bool:
        """True once it was closed, or came here by fork."""
        return self._refusal is not None

    def after_fork_in_child(self) -> None:
        """The child's copy answers every call with ForkedHandleError."""
        self._changed = self._runtime.condition()  # the parent's may have been held
        self._lock = lock_of(self._changed)
        if self._refusal is None:
            self._refusal = ForkedHandleError
        self._link = None

    # -- under the lock ----------------------------------------------------------------------------------------------

    def _may_put(self, nbytes: int) -> bool:
        """Say whether there is room for a message, of so many bytes in shared memory."""
        sender = self._sender
        if sender.sent - sender.base >= sender.window:
            self._hear()
        if sender.full or not (sender.keeps or sender.linked):
            return False
        if nbytes and self._pool is not None and not self._pool.has_room(nbytes, sender.base):
            self._hear()
            return self._pool.has_room(nbytes, sender.base)
        return True

    def _settled(self) -> bool:
        self._hear()
        return self._sender.sent == self._sender.base

    def _put(self, kind: int, body: Buffer | Pieces) -> int:
        sender = self._sender
        number, timestamp = sender.sent + 1, time.time()
        if isinstance(body, Pieces):
            if self._pool is None:
                raise ClosedError("this producer has no shared memory")
            self._pool.write(number, body, sender.base)
            body = body.nbytes.to_bytes(8, "little")
            self._runtime.point("fmq.put.written")
        if self._trace is not None:
            self._note("Put", {"number": number, "base": sender.base, "connection": self._connections})
        sender.put(Item(kind, body, timestamp))
        if sender.linked and self._link is not None:
            self._link.send(framed(kind, number, sender.base, timestamp, body))
            if self._waiting or number % _LOOK_EVERY == 0:
                self._hear()  # sending may have taken in the signal that the keeper waits for
        return number

    def _hear(self) -> None:
        news, link = False, self._link
        while link is not None and self._sender.live and (told := link.hear()):
            if told > self._sender.sent:  # from something that is not our consumer
                _log.warning("%s: an acknowledgement of a message that was never put", self._what)
                continue
            self._note("HearAck", {"number": told})
            news = self._sender.hear(told) or news
        if news and self._waiting:
            self._changed.notify_all()

    def _until(self, holds: Callable[[], bool], operation: str, timeout: Timeout, lacking: str) -> None:
        deadline = Deadline(timeout_seconds(timeout, operation), self._runtime.monotonic)
        self._waiting += 1
        try:
            while not holds():
                if deadline.expired():
                    state = "connected to its consumer" if self._sender.linked else "there is no consumer"
                    raise CommTimeoutError(
                        f"{operation}: {self._what}: {lacking} within {deadline.waited():.3g} s: "
                        f"{self._sender.sent - self._sender.base} of at most {self._sender.window} messages are not "
                        f"acknowledged; {state}",
                        operation=operation,
                        waited_s=deadline.waited(),
                    )
                self._changed.wait(deadline.remaining())
                if self._refusal is not None and operation == "close":
                    return
                self._require(operation)
        finally:
            self._waiting -= 1

    def _look(self) -> float | None:
        """Take in what has happened to the connection. Return when to look again; None: when something happens."""
        link = self._link
        state = None if link is None else link.state()
        if link is not None and state == "down":
            self._hear()  # also what it has brought before it broke
            self._pause = _FIRST_TRY_S if self._sender.linked else min(2 * self._pause, _LAST_TRY_S)
            self._again_at = self._runtime.monotonic() + (0.0 if self._sender.linked else self._pause)
            if self._sender.linked:
                self._note("Cut", {"connection": self._connections})
                self._sender.cut()
                self._changed.notify_all()
            link.close(0.0)
            self._link = link = None
        elif link is not None:
            if state == "up" and not self._sender.linked:
                self._connect(link)
            self._hear()
            return None
        now = self._runtime.monotonic()
        if now >= self._again_at:
            self._link = self._line.open(peer_of(self.identity, self._connections + 1))
            if self._link is not None:
                return 0.0  # only after a look does the wait end when something happens
            self._pause = min(2 * self._pause, _LAST_TRY_S)
            self._again_at = now + self._pause
        return self._again_at - now

    def _connect(self, link: Link) -> None:
        self._connections += 1
        base, again = self._sender.connect()
        self._note("Connect", {"connection": self._connections, "base": base, "again": len(again)})
        self._resent += len(again) if self._connections > 1 else 0
        for number, item in enumerate(again, base + 1):
            link.send(framed(item.kind, number, base, item.timestamp, item.body))
        self._changed.notify_all()

    def _require(self, operation: str) -> None:
        require_open(self._refusal, operation, self._what)

    def _note(self, action: str, args: dict[str, Any]) -> None:
        if self._trace is not None:
            self._trace(action, {"producer": self.identity.hex(), **args})

    # -- the keeper --------------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        while True:
            with self._lock:
                if self._refusal is not None:
                    break
                seconds = self._look()
                link = self._link
            self._line.wait(link, seconds)
        self._line.close()
