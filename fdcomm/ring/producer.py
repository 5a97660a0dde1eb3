"""``Producer``: one of several processes that put into one ring, in turn.

For each put it takes the writer's place, which is a lock of the kernel and ends with its process; reads from memory
where the last writer was; publishes; and gives the place back. Who waits for room keeps it. Who has put several times
in a row takes the place with no system call, and knows where the last writer was, until somebody else wants to put.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import CommTimeoutError, FencedError, PeerLostError
from fdcomm.items import not_pickled
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BIAS, COUNT, HEAD, LIVES, WRITER_PID
from fdcomm.ring.look import last_published
from fdcomm.ring.members import holder
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Overflows
from fdcomm.ring.payload import Encoded, dump, raw
from fdcomm.ring.place import WriterPlace
from fdcomm.ring.publisher import Publisher
from fdcomm.ring.putting import Putting
from fdcomm.ring.turns import last_turn, wait_turn
from fdcomm.runtime import SYSTEM

__all__ = ("InTurn", "Producer")

_RELEASE_S: Final = 5.0

_Write: TypeAlias = Callable[[float | None, str], None]


class InTurn(Publisher):
    """A publisher that others publish beside, and that publishes nothing while a rank is lost."""

    def sync(self) -> None:
        """Look where the last writer was, and store that: so HEAD is never more than one message behind."""
        self.see()
        self._words[HEAD] = self.head

    def see(self) -> None:
        """Look where the last writer was."""
        self.head = head = last_published(self._words, self._seqs)
        self.slot = head % self._slots

    def require_all(self) -> None:
        """Raise PeerLostError if the reader of a rank was given up, and has no successor yet."""
        words = self._words
        for place, life in self._lives:
            if life & 1 or words[place] != life:
                self.look()
                return

    def look(self) -> bool:
        """See :class:`Publisher`.

        Raises:
            PeerLostError: ``missing`` names ranks whose reader was given up.
        """
        found = super().look()
        if len(self._cursors) < len(self._lives):
            lost = tuple(place - LIVES for place, life in self._lives if life & 1)
            raise PeerLostError(f"ranks {lost} have lost their readers", missing=lost)
        return found


class Producer:
    """Puts objects for all ranks, beside other producers of this machine. Safe for several threads.

    Args:
        memory: The ring. It stays the caller's.
        most: How many bytes an object may have.
    """

    def __init__(self, memory: Memory, most: int) -> None:
        self._memory = memory
        self._board: Board = memory.board
        self._mutex = threading.Lock()
        memory.locks.open_writer()
        self._overflows = Overflows(memory)
        self._publisher = InTurn(memory.board)
        self._putting = Putting(memory, self._publisher, self._overflows, most)
        self._payloads = memory.payloads
        self._plain = min(memory.shape.slot_bytes, most)
        self._counts = tuple(memory.shape.of_slot(slot, COUNT) for slot in range(memory.shape.slots))
        self._pid = pid = os.getpid()
        self._place = WriterPlace(memory.board, memory.locks, pid)

    def put(self, thing: object, limit: Timeout, operation: str, count: int = 1) -> int:
        """Put an object that counts for ``count`` things. Returns its number.

        Raises:
            PayloadError: It cannot be pickled.
            PayloadTooLargeError: It is larger than ``most``.
            CommTimeoutError: There was no room, or other producers had the place all the time.
            PeerLostError: A rank is lost.
        """
        if self._putting.straight:
            return self._do(partial(self._write_straight, thing), limit, operation, count)
        refuse = partial(not_pickled, operation)
        stream, found = dump(thing, refuse)
        if not found and len(stream) <= self._plain:
            return self._do(stream, limit, operation, count)
        made = Encoded(stream, raw(found, refuse))
        self._putting.check(made.nbytes, operation)
        return self._do(partial(self._putting.put_complex, made), limit, operation, count)

    def put_stream(self, stream: bytes, limit: Timeout, operation: str, count: int, wanted: Callable[[], bool]) -> int:
        """Put an object that was pickled elsewhere, if it is still wanted when there is room. Errors: see :meth:`put`.

        Raises:
            FencedError: It is not wanted any more.
        """
        self._putting.check(len(stream), operation)
        what: bytes | _Write = stream
        if len(stream) > self._plain:
            what = partial(self._putting.put_complex, Encoded(stream, ()))
        return self._do(what, limit, operation, count, wanted)

    def adopt(self, deadline: Deadline) -> bool:
        """Keep the segments that other producers have left, as far as they are still read, and remove the rest.

        Returns False, and does nothing, while somebody is putting: what was left can wait.
        """
        place, locks, words = self._place, self._memory.locks, self._board.words
        if not self._mutex.acquire(False):
            return False
        taken = False
        try:
            if not place.enter(words):
                taken = locks.try_writer()
                if not taken:
                    return False
                if (bias := words[BIAS]) and not self._ended(bias):
                    return False
            self._overflows.take_over(deadline, self._passed())
            return True
        finally:
            try:
                if place.inside:
                    place.leave(words)
                elif taken:
                    locks.leave_writer()
            finally:
                self._mutex.release()

    def close(self, *, remove: bool = False) -> None:
        """Let go of the segments: what is over is removed, and whoever adopts the rest has it then; or remove all."""
        with last_turn(self._mutex):
            deadline = Deadline(_RELEASE_S, SYSTEM.monotonic)
            self._overflows.close(deadline, remove=remove, passed=self._passed())
            self._place.drop()

    def _ended(self, bias: int) -> bool:
        """End a bias, if nobody puts now."""
        try:
            self._place.end(bias, Deadline(0.0, SYSTEM.monotonic), "adopt")
        except CommTimeoutError:
            return False
        return True

    def _passed(self) -> int:
        """The last message that everybody is done with, or will never ask for. Others may be putting now."""
        self._publisher.see()
        with contextlib.suppress(PeerLostError):
            self._publisher.look()
        return self._publisher.passed

    def _do(
        self,
        what: bytes | _Write,
        limit: Timeout,
        operation: str,
        count: int,
        wanted: Callable[[], bool] | None = None,
    ) -> int:
        """Take a turn: wait for it and for room, write and publish the next message, and give the turn back.

        Args:
            what: What goes into a slot as it is; or a function that writes and publishes, and may have to wait.
            limit: For all the waits together. When there is nothing to wait for no clock is read.
        """
        mutex, publisher, place = self._mutex, self._publisher, self._place
        deadline = None if isinstance(what, bytes) else self._deadline(limit, operation)
        if not mutex.acquire(False):
            deadline = deadline or self._deadline(limit, operation)
            wait_turn(mutex, deadline.remaining(), operation, "putting")
        words, taken = self._board.words, False
        try:
            if not place.enter(words):
                locks = self._memory.locks
                taken = locks.try_writer()
                if not taken:
                    deadline = deadline or self._deadline(limit, operation)
                    locks.wait_writer(deadline, operation, lambda: holder(self._board))
                    taken = True
                words[WRITER_PID] = self._pid
                if bias := words[BIAS]:
                    deadline = deadline or self._deadline(limit, operation)
                    place.end(bias, deadline, operation)
                before = publisher.head
                publisher.sync()
                in_a_row = before == publisher.head
            elif not place.sure:
                publisher.sync()
            place.sure = False
            if publisher.head >= publisher.room:
                publisher.make_room(limit if deadline is None else deadline.remaining(), operation)
            else:
                publisher.require_all()
            if wanted is not None and not wanted():
                raise FencedError(f"{operation}: nobody waits for this put any more", operation=operation)
            slot = publisher.slot
            words[self._counts[slot]] = count
            if isinstance(what, bytes):
                size = len(what)
                self._payloads[slot][:size] = what
                publisher.publish(size)
            else:
                what(None if deadline is None else deadline.remaining(), operation)
            words[HEAD] = number = publisher.head
            if taken:
                place.count(words, in_a_row)
            else:
                place.sure = True
            return number
        finally:
            try:
                if place.inside:
                    place.leave(words)
                elif taken:
                    words[WRITER_PID] = 0
                    locks.leave_writer()
            finally:
                mutex.release()

    def _deadline(self, limit: Timeout, operation: str) -> Deadline:
        return Deadline(timeout_seconds(limit, operation), SYSTEM.monotonic)

    def _write_straight(self, thing: object, limit: float | None, operation: str) -> None:
        self._putting.put_straight(thing, limit, operation, partial(not_pickled, operation))
