"""``RingWriter``: broadcasts objects to every rank of one machine."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, Final

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.ring import clearing, members
from fdcomm.ring.layout import BIAS, LIVES, PID, WRITER_PID, Shape
from fdcomm.ring.memory import Memory, remove_segment
from fdcomm.ring.overflow import Overflows, clean
from fdcomm.ring.payload import Encoded, dump, raw
from fdcomm.ring.place import end_bias
from fdcomm.ring.publisher import Publisher
from fdcomm.ring.putting import Putting
from fdcomm.ring.turns import last_turn, wait_turn
from fdcomm.runtime import SYSTEM

__all__ = ("RingStatistics", "RingWriter")

_SLOT_BYTES: Final = 65536


@dataclass(frozen=True)
class RingStatistics:
    """State of a ring at one moment.

    Attributes:
        published: Messages so far.
        passed: Of these, those that every counted rank is done with.
        epoch: Clears so far.
        counted: Ranks that the writer waits for.
        lost: Ranks whose reader was given up.
        away: Counted ranks that have no reader just now.
        slots: Messages that may be under way at once.
        overflow_segments: Segments for payloads that are larger than a slot.
        overflow_bytes: Their size.
        sleeps: How often this side has slept.
        barrier: Sleepers' barriers reach this process; else it runs a fence after each message.
        memory_order: What the ring relies on.
    """

    published: int
    passed: int
    epoch: int
    counted: tuple[int, ...]
    lost: tuple[int, ...]
    away: tuple[int, ...]
    slots: int
    overflow_segments: int
    overflow_bytes: int
    sleeps: int
    barrier: bool
    memory_order: str = "x86-64: loads in order, stores in order"


class RingWriter:
    """Puts objects into a ring; every rank gets each of them once, in order.

    Made by :meth:`create` or :meth:`take_over`. Safe for several threads. One process at a time is the writer; when it
    dies, :meth:`take_over` goes on where it was: there is nothing to repair.
    """

    def __init__(self, memory: Memory, deadline: Deadline, operation: str, *, fresh: bool) -> None:
        self._memory = memory
        self._mutex = threading.Lock()
        words = memory.board.words
        memory.locks.wait_writer(deadline, operation, lambda: members.holder(memory.board))
        words[WRITER_PID] = os.getpid()
        if bias := words[BIAS]:
            end_bias(memory.board, memory.locks, bias, deadline, operation)
        self._payloads = memory.payloads
        self._slot_bytes = memory.shape.slot_bytes
        self._overflows = Overflows(memory)
        if fresh:
            clean(memory, deadline)
        else:
            self._overflows.take_over(deadline)
        self._publisher = Publisher(memory.board)
        self._putting = Putting(memory, self._publisher, self._overflows)

    @classmethod
    def create(
        cls,
        name: str,
        ranks: int,
        *,
        depth: int = 1,
        slot_bytes: int = _SLOT_BYTES,
        directory: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> RingWriter:
        """Make a ring, in the place of one whose owner is gone, and become its writer.

        Args:
            name: Name of the ring on this machine.
            ranks: Number of ranks. All of them are waited for from the start, whether they have come or not.
            depth: Messages that may be under way. 1: a put waits until every rank has taken the message before.
            slot_bytes: Memory for each of them, a multiple of 64; larger ones go to segments of their own.
            directory: Where the memory is; by default the system's place for shared memory.
            timeout: Seconds to wait for another process that changes the name.

        Raises:
            SignalInUseError: A live process owns the ring.
            MemoryOrderError: This processor, or system, is none that the ring is proved for.
        """
        deadline = _deadline(timeout, "create")
        memory = Memory.make(name, Shape(ranks, depth, slot_bytes), directory, deadline)
        return cls._of(memory, deadline, "create", fresh=True)

    @classmethod
    def take_over(cls, name: str, *, directory: str | None = None, timeout: Timeout = DEFAULT) -> RingWriter:
        """Become the writer of a ring whose writer is gone. Waits until it is.

        Raises:
            SignalNotFoundError: There is no such ring.
            CommTimeoutError: Its writer lives.
        """
        deadline = _deadline(timeout, "take_over")
        memory = Memory.open(name, directory, deadline)
        memory.own()
        return cls._of(memory, deadline, "take_over", fresh=False)

    @classmethod
    def _of(cls, memory: Memory, deadline: Deadline, operation: str, *, fresh: bool) -> RingWriter:
        try:
            return cls(memory, deadline, operation, fresh=fresh)
        except BaseException:
            memory.close(deadline)
            raise

    # -- putting -----------------------------------------------------------------------------------------------------

    def put(self, thing: object, timeout: Timeout = DEFAULT) -> None:
        """Put an object. Returns when it is in the ring, not when it was read.

        Raises:
            PayloadError: It cannot be pickled. Nothing was put.
            CommTimeoutError: The ring was full; ``missing`` names the ranks that are behind. Nothing was put.
            PeerLostError: The ring is full and no rank has a reader any more. Nothing was put.
            SignalReplacedError: The ring is full and its name is another ring's, or nobody's. Nothing was put.
        """
        mutex = self._mutex
        if not mutex.acquire(False):
            wait_turn(mutex, timeout_seconds(timeout, "put"), "put", "putting")
        try:
            publisher, putting = self._publisher, self._putting
            if putting.straight:
                putting.put_straight(thing, timeout, "put")
                return
            stream, found = dump(thing)
            if publisher.head >= publisher.room:
                publisher.make_room(timeout, "put")
            size = len(stream)
            if size <= self._slot_bytes and not found:
                self._payloads[publisher.slot][:size] = stream
                publisher.publish(size)
            else:
                putting.put_complex(Encoded(stream, raw(found)), timeout, "put")
        finally:
            mutex.release()

    def wait_taken(self, timeout: Timeout = DEFAULT) -> None:
        """Wait until every counted rank is done with everything that was put.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that are behind.
            PeerLostError: No rank has a reader any more.
        """
        with self._mutex:
            self._publisher.wait_passed(self._publisher.head, timeout, "wait_taken")

    # -- control -----------------------------------------------------------------------------------------------------

    def clear(self, epoch: int | None = None, timeout: Timeout = DEFAULT) -> bool:
        """Take back every message that no rank has begun. See :func:`fdcomm.ring.clearing.clear`."""
        return clearing.clear(self._memory.board, epoch, _deadline(timeout, "clear"))

    def fence(self, rank: int, timeout: Timeout = DEFAULT) -> bool:
        """Give up the reader of a rank, which may be stopped: it is not waited for any more.

        A dead one is given up by itself when a put has to wait for it. Returns False when there was none to give up.
        """
        return members.fence(self._memory.board, rank, _deadline(timeout, "fence"))

    @property
    def epoch(self) -> int:
        """Clears so far."""
        return clearing.epoch_of(self._memory.board)

    def statistics(self) -> RingStatistics:
        """Return the state of the ring."""
        board, shape = self._memory.board, self._memory.shape
        publisher = self._publisher
        publisher.look()
        lives = {rank: board.words[LIVES + rank] for rank in range(shape.ranks)}
        counted = tuple(rank for rank, life in lives.items() if not life & 1)
        return RingStatistics(
            published=publisher.head,
            passed=publisher.passed,
            epoch=self.epoch,
            counted=counted,
            lost=tuple(rank for rank, life in lives.items() if life & 1),
            away=tuple(rank for rank in counted if not board.words[shape.of_line(shape.line(rank, lives[rank]), PID)]),
            slots=shape.slots,
            overflow_segments=len(self._overflows),
            overflow_bytes=self._overflows.nbytes,
            sleeps=publisher.patience.sleeps,
            barrier=not board.fenced,
        )

    def close(self, *, remove: bool = True, timeout: Timeout = DEFAULT) -> None:
        """Stop being the writer, and remove the ring. Idempotent.

        Args:
            remove: False leaves the ring to the next writer, with the messages that are under way.
            timeout: Seconds to wait for another process that changes the name.
        """
        self._memory.begin_close()
        with last_turn(self._mutex):
            deadline = _deadline(timeout, "close")
            memory = self._memory
            if not memory.closed:
                over = remove and memory.segment.owned
                if over:  # first the ring: so nobody misses a segment of one that is there
                    remove_segment(memory.segment, deadline, memory.board.runtime)
                else:
                    over = memory.board.is_over()
                    self._publisher.look()
                self._overflows.close(deadline, remove=over, passed=self._publisher.passed)
                memory.board.words[WRITER_PID] = 0
                memory.close(deadline)

    def __enter__(self) -> RingWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a RingWriter cannot be pickled")

    def __repr__(self) -> str:
        state = "closed" if self._memory.closed else f"{self._publisher.head} published"
        return f"<RingWriter {self._memory.segment.name!r} ({state})>"


def _deadline(timeout: Timeout, operation: str) -> Deadline:
    return Deadline(timeout_seconds(timeout, operation), SYSTEM.monotonic)
