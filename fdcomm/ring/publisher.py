"""The writer's side of a ring, word by word: ``tla/ring/Ring.tla``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, PeerLostError
from fdcomm.ring.board import Board
from fdcomm.ring.layout import CURSOR, LIVES, SEQ, SIZE
from fdcomm.ring.members import fence_dead
from fdcomm.ring.waiting import Patience, wake_readers

__all__ = ("Publisher",)

_SPINS: Final = 200


class Publisher:
    """Says which slot is free, and publishes it. Only who has the writer's lock may have one.

    All that it knows is in the ring's memory, so the next writer goes on where a killed one was.

    Attributes:
        head: Number of the last message that was published.
        room: Slots are free for messages up to this number.
    """

    def __init__(self, board: Board, spins: int = _SPINS, patience: Patience | None = None) -> None:
        shape, words = board.shape, board.words
        self._board = board
        self._words = words
        self._slots = shape.slots
        self._seqs = tuple(shape.of_slot(slot, SEQ) for slot in range(shape.slots))
        self._ranks = range(shape.ranks)
        self._patience = patience or Patience(board, spins)
        self._flag_words = tuple(shape.flag_words)
        self._fence = board.kernel.fence if board.fenced else None
        self._low = 0
        board.users.append(self)
        self.head = self.room = max(words[place] for place in self._seqs)
        self._lives = [words[LIVES + rank] for rank in self._ranks]

    @property
    def slot(self) -> int:
        """The slot of the next message. Free once :attr:`room` is more than :attr:`head`."""
        return self.head % self._slots

    def publish(self, size: int) -> None:
        """The payload is in the slot: store its size, and then the number that makes it a message."""
        words = self._words
        number = self.head + 1
        place = self._seqs[self.head % self._slots]
        words[place + SIZE] = size
        words[place] = number
        self.head = number
        if self._fence is not None:
            self._fence()
        for flags in self._flag_words:
            if words[flags]:
                wake_readers(self._board, number)
                break

    # -- room --------------------------------------------------------------------------------------------------------

    def make_room(self, deadline: Deadline, operation: str) -> None:
        """Wait until everybody who is counted is past the next message's slot.

        Raises:
            CommTimeoutError: Somebody is not, and lives.
            PeerLostError: Nobody is counted any more.
        """
        self.wait_passed(self.head - self._slots + 1, deadline, operation)
        self.room = self._low + self._slots

    @property
    def passed(self) -> int:
        """The last message that everybody who is counted was done with at the last look."""
        return self._low

    @property
    def sleeps(self) -> int:
        """How often it has slept."""
        return self._patience.sleeps

    def look(self) -> bool:
        """Look at the cursors of who is counted, and then whether it was the right ones; False: nobody is counted.

        A rank that comes back is counted before it looks what the others have begun. So if it is not counted yet when
        all cursors have been loaded, it will begin no earlier than they say.
        """
        words, shape, lives = self._words, self._board.shape, self._lives
        while True:
            low = self.head
            for rank in self._ranks:
                life = lives[rank]
                if not life & 1:
                    cursor = words[shape.of_line(shape.line(rank, life), CURSOR)]
                    low = min(low, cursor)
            for rank in self._ranks:
                life = words[LIVES + rank]
                if life != lives[rank]:
                    lives[rank] = life
                    break
            else:
                self._low = low
                return not all(life & 1 for life in lives)

    def late(self, number: int) -> tuple[int, ...]:
        """The ranks that are counted and not done with a message."""
        words, shape = self._words, self._board.shape
        places = {
            rank: shape.of_line(shape.line(rank, life), CURSOR)
            for rank, life in enumerate(self._lives)
            if not life & 1
        }
        return tuple(rank for rank, place in places.items() if words[place] < number)

    def lost(self) -> tuple[int, ...]:
        """The ranks that were given up, as of the last look."""
        return tuple(rank for rank, life in enumerate(self._lives) if life & 1)

    def wait_passed(self, number: int, deadline: Deadline, operation: str) -> None:
        """Wait until everybody who is counted is done with a message. Errors: see :meth:`make_room`."""
        patience = self._patience
        while True:
            counted = self.look()
            if counted and self._low >= number:
                return
            if not counted:
                raise self._nobody(operation)
            if self._board.closing:
                raise ClosedError(f"{operation}: the ring was closed meanwhile", operation=operation)
            if patience.spin(self._slowest(number), number):
                continue
            patience.tired()
            if deadline.remaining() == 0:
                raise self._late(number, deadline, operation)
            slept = patience.sleeps
            patience.sleep_writer(number, self._due(number), deadline)
            if patience.sleeps > slept and self._words[self._slowest(number)] < number:
                fence_dead(self._board, self.late(number))

    def _slowest(self, number: int) -> int:
        shape = self._board.shape
        for rank, life in enumerate(self._lives):
            place = shape.of_line(shape.line(rank, life), CURSOR)
            if not life & 1 and self._words[place] < number:
                return place
        return shape.of_line(0, CURSOR)

    def _due(self, number: int) -> Callable[[], bool]:
        return lambda: not self.look() or self._low >= number

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
            missing=tuple(self._ranks),
        )
