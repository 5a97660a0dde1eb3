"""A reader's side of a ring, word by word: ``tla/ring/Ring.tla``."""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, FencedError, SignalReplacedError
from fdcomm.ring.board import Board
from fdcomm.ring.clearing import complete
from fdcomm.ring.layout import BEGUN, CURSOR, GATE, LIVES, SEQ, SIZE, VOID, WANT
from fdcomm.ring.members import Place
from fdcomm.ring.waiting import Patience, wake_writer

__all__ = ("Consumer",)

_TURNS: Final = 20
_GATE_PAUSE_S: Final = 0.00002


class Consumer:
    """Says which message is next, and gives its slot back. Only who has the line's lock may have one.

    Attributes:
        position: The last message that it is done with.
        slot: The slot of the next one.
    """

    def __init__(self, board: Board, place: Place, turns: int = _TURNS, patience: Patience | None = None) -> None:
        shape = board.shape
        self._board = board
        self._words = board.words
        self._place = place
        self._seqs = tuple(shape.of_slot(slot, SEQ) for slot in range(shape.slots))
        self._slots = shape.slots
        self._begun = shape.of_line(place.line, BEGUN)
        self._cursor = shape.of_line(place.line, CURSOR)
        self._life_at = LIVES + place.rank
        self._life = place.life
        self._patience = patience or Patience(board, turns)
        self._fence = board.kernel.fence if board.fenced else None
        self.position = place.position
        self.slot = self.position % self._slots
        board.users.append(self)

    def begin(self, timeout: Timeout, operation: str) -> int:
        """Wait for the next message, and announce that it is begun. Returns its size, or what stands for it.

        The caller copies the payload, and then calls :meth:`end`. Nothing that it has copied counts before.

        Raises:
            CommTimeoutError: Nothing was put in that time.
            FencedError: The rank was given up.
        """
        words = self._words
        while True:
            number = self.position + 1
            place = self._seqs[self.slot]
            if (seen := words[place]) != number:
                self._wait(place, seen, timeout, operation)
            words[self._begun] = number
            if self._fence is not None:
                self._fence()
            if words[GATE] & 1:
                self._wait_gate(timeout, operation)
            size = words[place + 1]
            if size != VOID:
                return size
            self.end()
            self.tell()

    def check(self) -> None:
        """Raise FencedError if the rank was given up: what was copied does not count."""
        if self._words[self._life_at] != self._life:
            raise self._given_up("get")

    def end(self) -> None:
        """Look whether what was copied counts, and give the slot back. Call :meth:`tell` soon.

        Raises:
            FencedError: The rank was given up meanwhile: the slot may hold something else.
        """
        words = self._words
        if words[self._life_at] != self._life:
            raise self._given_up("get")
        number = self.position + 1
        words[self._cursor] = number
        self.position = number
        self.slot = number % self._slots

    def tell(self) -> None:
        """Wake the writer if it sleeps until this slot is given back. Not at once: first the caller gets on."""
        if self._fence is not None:
            self._fence()
        wanted = self._words[WANT]
        if wanted and self.position >= wanted:
            wake_writer(self._board, self._place.line, self.position)

    def waiting(self) -> int:
        """How many messages are there for this reader now."""
        words, position = self._words, self.position
        count = 0
        for number in range(position + 1, position + self._slots + 1):
            place = self._seqs[(number - 1) % self._slots]
            if words[place] != number:
                break
            count += words[place + SIZE] != VOID
        return count

    # -- waiting -----------------------------------------------------------------------------------------------------

    def _wait(self, place: int, seen: int, timeout: Timeout, operation: str) -> None:
        """The word of the next message was seen to be something else: wait until it is its number."""
        words, number, patience = self._words, self.position + 1, self._patience
        deadline = None
        while seen != number:
            if seen > number or words[self._life_at] != self._life:
                raise self._given_up(operation)
            if not patience.spin(place, number):
                if deadline is None:
                    deadline = Deadline(timeout_seconds(timeout, operation), self._board.runtime.monotonic)
                self._check_wait(deadline, operation, "nothing was put")
                patience.sleep_reader(self._place.line, lambda: self._is_due(place, number), deadline)
            seen = words[place]

    def _is_due(self, place: int, number: int) -> bool:
        return self._words[place] >= number or self._words[self._life_at] != self._life

    def _wait_gate(self, timeout: Timeout, operation: str) -> None:
        """A clear is under way. If its process was killed, this one does the rest of it."""
        board = self._board
        deadline = Deadline(timeout_seconds(timeout, operation), board.runtime.monotonic)
        while self._words[GATE] & 1:
            lock = board.locks.try_members()
            if lock is None:
                self._check_wait(deadline, operation, "a clear, whose process may be stopped, has not ended")
                board.runtime.sleep(_GATE_PAUSE_S)
            else:
                with lock:
                    complete(board)

    def _check_wait(self, deadline: Deadline, operation: str, what: str) -> None:
        if self._board.closing:
            raise ClosedError(f"{operation}: the ring was closed meanwhile", operation=operation)
        if self._board.is_over():
            raise SignalReplacedError(
                f"{operation}: the ring was removed, or made anew; attach again", operation=operation
            )
        if deadline.remaining() == 0:
            raise CommTimeoutError(
                f"{operation}: {what} for {deadline.waited():.3g} s", operation=operation, waited_s=deadline.waited()
            )

    def _given_up(self, operation: str) -> FdcommError:
        rank = self._place.rank
        return FencedError(
            f"{operation}: the reader of rank {rank} was given up; attach again to read on",
            operation=operation,
            missing=(rank,),
        )
