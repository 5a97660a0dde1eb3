"""``Producer``: one of several processes that put into one ring, in turn.

For each put it takes the writer's place, which is a lock of the kernel and ends with its process; reads from memory
where the last writer was; publishes; and gives the place back. Who waits for room keeps it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import FencedError, PeerLostError
from fdcomm.items import not_pickled
from fdcomm.ring.board import Board
from fdcomm.ring.layout import COUNT, HEAD, LIVES, WRITER_PID
from fdcomm.ring.look import last_published
from fdcomm.ring.members import holder
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Overflows
from fdcomm.ring.payload import Encoded, encode
from fdcomm.ring.publisher import Publisher
from fdcomm.ring.putting import Putting
from fdcomm.ring.turns import wait_turn
from fdcomm.runtime import SYSTEM

__all__ = ("InTurn", "Producer")

_RELEASE_S: Final = 5.0


class InTurn(Publisher):
    """A publisher that others publish beside, and that publishes nothing while a rank is lost."""

    def sync(self) -> None:
        """Look where the last writer was, and store that: so HEAD is never more than one message behind."""
        self._words[HEAD] = self.head = last_published(self._words, self._seqs)
        self.slot = self.head % self._slots

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
        self._slot_bytes = memory.shape.slot_bytes
        self._counts = tuple(memory.shape.of_slot(slot, COUNT) for slot in range(memory.shape.slots))
        self._pid = os.getpid()

    def put(self, thing: object, limit: float | None, operation: str, count: int = 1) -> int:
        """Put an object that counts for ``count`` things. Returns its number.

        Raises:
            PayloadError: It cannot be pickled.
            PayloadTooLargeError: It is larger than ``most``.
            CommTimeoutError: There was no room, or other producers had the place all the time.
            PeerLostError: A rank is lost.
        """
        if self._putting.straight:
            return self._do(thing, None, limit, operation, count)
        made = encode(thing, partial(not_pickled, operation))
        self._putting.check(made.nbytes, operation)
        return self._do(thing, made, limit, operation, count)

    def put_stream(
        self, stream: bytes, limit: float | None, operation: str, count: int, wanted: Callable[[], bool]
    ) -> int:
        """Put an object that was pickled elsewhere, if it is still wanted when there is room. Errors: see :meth:`put`.

        Raises:
            FencedError: It is not wanted any more.
        """
        self._putting.check(len(stream), operation)
        return self._do(stream, Encoded(stream, ()), limit, operation, count, wanted)

    def adopt(self, deadline: Deadline) -> bool:
        """Keep the segments that other producers have left, as far as they are still read, and remove the rest.

        Returns False, and does nothing, while somebody is putting: what was left can wait.
        """
        locks = self._memory.locks
        if not self._mutex.acquire(False):
            return False
        try:
            if not locks.try_writer():
                return False
            try:
                self._overflows.take_over(deadline, self._passed())
            finally:
                locks.leave_writer()
            return True
        finally:
            self._mutex.release()

    def close(self, *, remove: bool = False) -> None:
        """Let go of the segments: what is over is removed, and whoever adopts the rest has it then; or remove all."""
        with self._mutex:
            deadline = Deadline(_RELEASE_S, SYSTEM.monotonic)
            self._overflows.close(deadline, remove=remove, passed=self._passed())

    def _passed(self) -> int:
        """The last message that everybody is done with, or will never ask for."""
        self._publisher.sync()
        with contextlib.suppress(PeerLostError):
            self._publisher.look()
        return self._publisher.passed

    def _do(
        self,
        thing: object,
        made: Encoded | None,
        limit: float | None,
        operation: str,
        count: int,
        wanted: Callable[[], bool] | None = None,
    ) -> int:
        """Take a turn: wait for it and for room, write and publish the next message, and give the turn back.

        ``made`` is the pickled object; without it the object is pickled straight into its place. ``limit`` is for all
        the waits together.
        """
        mutex, publisher, locks = self._mutex, self._publisher, self._memory.locks
        deadline = Deadline(limit, SYSTEM.monotonic)
        if not mutex.acquire(False):
            wait_turn(mutex, limit, operation, "putting")
        try:
            if not locks.try_writer():
                locks.wait_writer(deadline, operation, lambda: holder(self._board))
            words = self._board.words
            try:
                words[WRITER_PID] = self._pid
                publisher.sync()
                if publisher.head >= publisher.room:
                    publisher.make_room(deadline.remaining(), operation)
                else:
                    publisher.require_all()
                if wanted is not None and not wanted():
                    raise FencedError(f"{operation}: nobody waits for this put any more", operation=operation)
                words[self._counts[publisher.slot]] = count
                self._write(thing, made, deadline, operation)
                words[HEAD] = number = publisher.head
                return number
            finally:
                words[WRITER_PID] = 0
                locks.leave_writer()
        finally:
            mutex.release()

    def _write(self, thing: object, made: Encoded | None, deadline: Deadline, operation: str) -> None:
        if made is None:
            self._putting.put_straight(thing, deadline.remaining(), operation, partial(not_pickled, operation))
        elif made.nbytes <= self._slot_bytes and not made.buffers:
            self._payloads[self._publisher.slot][: made.nbytes] = made.stream
            self._publisher.publish(made.nbytes)
        else:
            self._putting.put_complex(made, deadline.remaining(), operation)
