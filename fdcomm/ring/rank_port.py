"""``RankPort``: takes a rank's messages from a ring that serves a queue."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError
from fdcomm.ring import members
from fdcomm.ring.clearing import complete
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.contents import Contents
from fdcomm.ring.layout import TOLD
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.spin import default_spin_s
from fdcomm.ring.turns import last_turn, wait_turn
from fdcomm.runtime import SYSTEM

__all__ = ("RankPort", "Taken")

_LEAVE_S: Final = 5.0

Decode: TypeAlias = Callable[["memoryview | bytes", int, str], object]
"""Makes the object of a payload with that many buffers beside its stream, for a call."""


class Taken(NamedTuple):
    """A message that was taken: its number, what was made of it, and whether every rank has it now."""

    number: int
    thing: object
    all_read: bool


class RankPort:
    """The reader of a rank, until it leaves. Safe for several threads.

    Args:
        memory: The ring. It stays the caller's.
        rank: The rank; it has no live reader.
        look: What the ring holds.
        deadline: Until when to wait for others who come or go.
    """

    def __init__(self, memory: Memory, rank: int, look: Look, deadline: Deadline) -> None:
        self._memory = memory
        self._board = memory.board
        self._look = look
        self._mutex = threading.Lock()
        self._barrier = threading.Lock()
        self._place = members.attach(memory.board, rank, deadline)
        self._consumer = Consumer(memory.board, self._place, spin_s=default_spin_s())
        self._contents = Contents(memory)
        self._payloads = memory.payloads
        shape = memory.shape
        self._others = tuple(other for other in range(shape.ranks) if other != rank)
        self._tolds = tuple(shape.of_line(line, TOLD) for line in range(shape.lines))
        self._told = self._tolds[self._place.line]

    @property
    def position(self) -> int:
        """The last message that the rank is done with."""
        return self._consumer.position

    def take(self, decode: Decode, ticket: int, limit: float | None, operation: str) -> Taken | None:
        """Take the next message.

        Args:
            decode: Makes the object. What it raises is raised when the message counts as taken.
            ticket: Take this message or nothing, without waiting; 0: take whichever is next.
            limit: Seconds to wait; 0: not at all; None: for ever.
            operation: Name of the call.

        Returns:
            None when there is nothing and the call does not wait.

        Raises:
            CommTimeoutError: Nothing was put for ``limit`` seconds.
            FencedError: The rank's reader was given up.
        """
        mutex = self._mutex
        if not mutex.acquire(False):
            if limit == 0:
                return None
            wait_turn(mutex, limit, operation, "getting")
        try:
            size = self._begin(ticket, limit, operation)
            if size is None:
                return None
            return self._finish(decode, size, limit, operation)
        finally:
            mutex.release()

    def close(self, *, leave: bool) -> None:
        """Stop being the reader: in order, so that the next one goes on here; or as one that has died."""
        with last_turn(self._mutex):
            if leave:
                members.leave(self._board, self._place, Deadline(_LEAVE_S, SYSTEM.monotonic))
            else:
                self._board.locks.give_line(self._place.line)
            self._contents.close()
            with contextlib.suppress(ValueError):
                self._board.users.remove(self._consumer)

    def _begin(self, ticket: int, limit: float | None, operation: str) -> int | None:
        consumer = self._consumer
        if limit != 0 and not ticket:
            return consumer.begin(limit, operation)
        while number := ticket or consumer.next_number():
            size = consumer.try_begin(number)
            if size is not None:
                return size
            if consumer.next_number() != number:
                if ticket:
                    return None
                continue  # it was taken back just now
            # A clear is under way, which decides whether the message stays.
            with self._board.locks.members(Deadline(_LEAVE_S, SYSTEM.monotonic), operation):
                complete(self._board)
        consumer.check()
        return None

    def _finish(self, decode: Decode, size: int, limit: float | None, operation: str) -> Taken:
        consumer, parts = self._consumer, 0
        number = consumer.position + 1
        payload: memoryview | bytes
        if size >= 0:
            payload = self._payloads[consumer.slot][:size].tobytes()
        else:
            payload, parts, shared = self._contents.begun(
                consumer, lambda: Deadline(max(limit or 0.0, _LEAVE_S), SYSTEM.monotonic), operation
            )
            if shared:
                try:
                    thing = decode(payload, parts, operation)
                finally:
                    all_read = self._end(number)
                    consumer.tell()
                return Taken(number, thing, all_read)
        all_read = self._end(number)
        try:
            return Taken(number, decode(payload, parts, operation), all_read)
        finally:
            consumer.tell()

    def _end(self, number: int) -> bool:
        """Count the message as taken. Returns True in one reader: when it ends, all have taken the message.

        Whoever finds before its own store that all others have stored is the only one that does, and says so before
        its cursor can be seen. When nobody finds that, two have stored at the same time: then each that sees all of
        them asks under a lock who was told. Each says so on its own line: a reader that was given up in between, and
        goes on now, would put the past into a common word. When a rank came back meanwhile, perhaps nobody is told.
        """
        board, consumer = self._board, self._consumer
        if self._all_others(number):
            board.words[self._told] = number
            if board.fenced:
                board.kernel.fence()  # nobody comes back before it is seen
            consumer.end()
            return True
        consumer.end()
        self._fence()
        if not self._all_others(number) or self._is_told(number):
            return False
        try:
            with board.locks.members(Deadline(_LEAVE_S, SYSTEM.monotonic), "get"):
                if self._is_told(number):
                    return False
                board.words[self._told] = number
                return True
        except CommTimeoutError:  # who has the lock is stopped; the message was taken, and counts
            return False

    def _is_told(self, number: int) -> bool:
        words = self._board.words
        return any(words[place] >= number for place in self._tolds)

    def _all_others(self, number: int) -> bool:
        words, places = self._board.words, self._look.places()
        for rank in self._others:  # noqa: SIM110 - each get does this, and a generator costs as much as the loads
            if words[places[rank]] < number:
                return False
        return True

    def _fence(self) -> None:
        """A locked operation of the processor: a store before it is seen by others before a load after it is done."""
        self._barrier.acquire()
        self._barrier.release()
