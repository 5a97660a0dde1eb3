"""The writer's side of a ring, word by word: ``tla/ring/Ring.tla``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, PeerLostError, SignalReplacedError
from fdcomm.ring.board import Board
from fdcomm.ring.layout import CURSOR, LIVES, SEQ
from fdcomm.ring.members import fence_dead
from fdcomm.ring.waiting import Patience, wake_readers

__all__ = ("Publisher",)

_TURNS: Final = 20


class Publisher:
    """Says which slot is free, and publishes it. Only who has the writer's lock may have one.

    All that it knows is in the ring's memory, so the next writer goes on where a killed one was.

    Attributes:
        head: Number of the last message that was published.
        slot: The slot of the next one. Free while ``head < room``.
        room: Slots are free for messages up to this number.
        passed: The last message that everybody who is counted was done with at the last look, or that was taken back.
        patience: How it waits.
    """

    def __init__(self, board: Board, turns: int = _TURNS, patience: Patience | None = None) -> None:
        shape, words = board.shape, board.words
        self._board = board
        self._words = words
        self._slots = shape.slots
        self._seqs = tuple(shape.of_slot(slot, SEQ) for slot in range(shape.slots))
        self._flag_words = tuple(shape.flag_words)
        self._fence = board.kernel.fence if board.fenced else None
        self._lives = tuple((LIVES + rank, words[LIVES + rank]) for rank in range(shape.ranks))
        self._cursors = tuple(place for _, place in self._counted())
        self.patience = patience or Patience(board, turns)
        self.passed = 0
        self._slowest = shape.of_line(0, CURSOR)
        self.head = max(abs(words[place]) for place in self._seqs)
        self.room = self.head or self._slots  # a ring in which nothing was put is free
        self.slot = self.head % self._slots
        board.users.append(self)

    def publish(self, size: int) -> None:
        """The payload is in the slot: store its size, and then the number that makes it a message."""
        words = self._words
        number = self.head + 1
        place = self._seqs[self.slot]
        words[place + 1] = size
        words[place] = number
        self.head = number
        self.slot = number % self._slots
        if self._fence is not None:
            self._fence()
        for flags in self._flag_words:
            if words[flags]:
                wake_readers(self._board, number)
                break

    # -- room --------------------------------------------------------------------------------------------------------

    def make_room(self, timeout: Timeout, operation: str) -> None:
        """Wait until everybody who is counted is past the next message's slot, or the message there is taken back.

        Raises:
            CommTimeoutError: Somebody is not, and lives.
            PeerLostError: Nobody is counted any more.
            SignalReplacedError: Readers come to another ring, or the host of its queue is gone.
        """
        self.wait_passed(self.head - self._slots + 1, timeout, operation)
        self.room = self.passed + self._slots

    def look(self) -> bool:
        """Look at the cursors of who is counted, and then whether it was the right ones; False: nobody is counted.

        A rank that comes back is counted before it looks what the others have begun. So if it is not counted yet when
        all cursors have been loaded, it will begin no earlier than they say.
        """
        words = self._words
        while True:
            low = self.head
            for place in self._cursors:
                cursor = words[place]
                if cursor < low:
                    low, self._slowest = cursor, place
            for place, life in self._lives:
                if (now := words[place]) != life:
                    self._lives = tuple((at, now if at == place else old) for at, old in self._lives)
                    self._cursors = tuple(place for _, place in self._counted())
                    break
            else:
                self.passed = low if low == self.head else self._past_voids(low)
                return bool(self._cursors)

    @property
    def gave_up(self) -> bool:
        """Some reader was given up, by the time of the last look."""
        return any(life for _, life in self._lives)

    def _past_voids(self, low: int) -> int:
        """Return the last message of those that follow in one piece and were taken back: they hold nobody up."""
        words, seqs, slots, head = self._words, self._seqs, self._slots, self.head
        low = max(low, head - slots)  # what was overwritten is over
        while low < head and words[seqs[low % slots]] < 0:
            low += 1
        return low

    def late(self, number: int) -> tuple[int, ...]:
        """The ranks that are counted and not done with a message."""
        return tuple(rank for rank, place in self._counted() if self._words[place] < number)

    def wait_passed(self, number: int, timeout: Timeout, operation: str) -> None:
        """Wait until everybody who is counted is done with a message, or it is taken back.

        Errors: see :meth:`make_room`.
        """
        deadline, patience = None, self.patience
        settled = self._settled(number)
        while not settled:
            if patience.spin(self._slowest, number):
                settled = self._settled(number)
                continue
            if deadline is None:
                deadline = Deadline(timeout_seconds(timeout, operation), self._board.runtime.monotonic)
            if self._board.closing:
                raise ClosedError(f"{operation}: the ring was closed meanwhile", operation=operation)
            if self._board.is_over():
                raise SignalReplacedError(f"{operation}: the ring was removed, or made anew", operation=operation)
            if deadline.remaining() == 0:
                raise self._late(number, deadline, operation)
            settled = patience.sleep_writer(number, lambda: self._settled(number), deadline)
            if not settled:
                fence_dead(self._board, [rank for rank, _ in self._counted()])
                settled = self._settled(number)
        if not self._cursors:
            raise self._nobody(operation)

    def _settled(self, number: int) -> bool:
        """Look; is there nothing to wait for? The look that says so is the last one of its wait."""
        return not self.look() or self.passed >= number

    def _counted(self) -> Iterator[tuple[int, int]]:
        """Each counted rank with the place of its cursor."""
        shape = self._board.shape
        for rank, (_, life) in enumerate(self._lives):
            if not life & 1:
                yield rank, shape.of_line(shape.line(rank, life), CURSOR)

    def _late(self, number: int, deadline: Deadline, operation: str) -> FdcommError:
        late = self.late(number)
        return CommTimeoutError(
            f"{operation}: rank {', '.join(map(str, late))} has not taken message {number} for {deadline.waited():.3g} "
            "s; a stopped reader can be given up with fence()",
            operation=operation,
            missing=late,
            waited_s=deadline.waited(),
        )

    def _nobody(self, operation: str) -> FdcommError:
        return PeerLostError(
            f"{operation}: no rank has a reader any more; a restarted one comes back by attaching",
            operation=operation,
            missing=tuple(range(self._board.shape.ranks)),
        )
