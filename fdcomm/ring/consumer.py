"""A reader's side of a ring, word by word: ``tla/ring/Ring.tla``."""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, FencedError, SignalReplacedError
from fdcomm.ring.board import Board
from fdcomm.ring.clearing import complete
from fdcomm.ring.layout import BEGUN, CURSOR, GATE, LIVES, SEQ, WANT
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

    def __init__(
        self,
        board: Board,
        place: Place,
        turns: int = _TURNS,
        patience: Patience | None = None,
        spin_s: float = 0.0,
    ) -> None:
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
        self._spin_s = spin_s
        self._fence = board.kernel.fence if board.fenced else None
        self._gate = 0  # if there was a clear already, the first look is taken twice
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
                if -number < seen < number:
                    seen = self._wait(place, timeout, operation)
                if seen != number:
                    self._pass_over(seen, operation)
                    continue
            words[self._begun] = number
            if self._fence is not None:
                self._fence()
            if (gate := words[GATE]) != self._gate:
                # There was a clear, or is one: what was seen before it may be taken back, and written over.
                self._gate = self._wait_gate(timeout, operation) if gate & 1 else gate
                continue
            return words[place + 1]

    def next_number(self) -> int:
        """Return the number of the next message that is there for this reader, and not taken back; 0: none. A look."""
        words, slots, number = self._words, self._slots, self.position + 1
        while True:
            seen = words[self._seqs[(number - 1) % slots]]
            if seen == number:
                return number
            if -number < seen < number:
                return 0
            number = max(number, abs(seen) - slots) + 1

    def try_begin(self, ticket: int) -> int | None:
        """Announce the message of that number if it is this reader's next one and was not taken back. No wait.

        Returns its size, or what stands for it, as :meth:`begin` does; None: it is not the next one, or a clear is
        under way that may take it back. What was taken back before it is passed over.

        Raises:
            FencedError: The rank was given up.
        """
        words = self._words
        while True:
            number = self.position + 1
            place = self._seqs[self.slot]
            if number > ticket:
                return None
            if (seen := words[place]) != number:
                if -number < seen < number:
                    self.check()
                    return None
                self._pass_over(seen, "try_begin")
                continue
            if number != ticket:
                return None
            words[self._begun] = number
            if self._fence is not None:
                self._fence()
            gate = words[GATE]
            if gate == self._gate:
                return words[place + 1]
            if gate & 1 and not self._complete():
                return None
            if not gate & 1:
                self._gate = gate

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
        return sum(words[place] > position for place in self._seqs)

    # -- waiting -----------------------------------------------------------------------------------------------------

    def _wait(self, place: int, timeout: Timeout, operation: str) -> int:
        """The next message was not there: wait until its slot has it, or a mark of it, or a later one."""
        words, number, patience = self._words, self.position + 1, self._patience
        deadline, spin_s = None, self._spin_s
        while True:
            if words[self._life_at] != self._life:
                raise self._given_up(operation)
            if not patience.spin(place, number):
                if deadline is None:
                    deadline = Deadline(timeout_seconds(timeout, operation), self._board.runtime.monotonic)
                self._check_wait(deadline, operation, "nothing was put")
                if spin_s and patience.spin_on(place, number, spin_s, deadline):
                    continue
                spin_s = 0.0  # what has not come by now may not come for long
                patience.sleep_reader(self._place.line, lambda: self._is_due(place, number), deadline)
            seen = words[place]
            if not -number < seen < number:
                return seen

    def _is_due(self, place: int, number: int) -> bool:
        return abs(self._words[place]) >= number or self._words[self._life_at] != self._life

    def _pass_over(self, seen: int, operation: str) -> None:
        """The next message was taken back, and the writer may have gone on: so far the slot says what is over."""
        words = self._words
        if words[self._life_at] != self._life:
            raise self._given_up(operation)
        number = max(self.position + 1, abs(seen) - self._slots)
        words[self._cursor] = number
        self.position = number
        self.slot = number % self._slots
        self.tell()

    def _wait_gate(self, timeout: Timeout, operation: str) -> int:
        """A clear is under way. If its process was killed, this one does the rest of it. Returns the open gate."""
        board = self._board
        deadline = Deadline(timeout_seconds(timeout, operation), board.runtime.monotonic)
        while (gate := self._words[GATE]) & 1:
            if not self._complete():
                self._check_wait(deadline, operation, "a clear, whose process may be stopped, has not ended")
                board.runtime.sleep(_GATE_PAUSE_S)
        return gate

    def _complete(self) -> bool:
        """Do the rest of a clear, if its process is dead; False: it lives."""
        lock = self._board.locks.try_members()
        if lock is None:
            return False
        with lock:
            complete(self._board)
        return True

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
