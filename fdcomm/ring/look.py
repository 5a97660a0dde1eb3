"""What a ring that serves a queue holds, as loads of its memory tell it. Nothing is locked: it may change meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from fdcomm.ring.board import Board, Plain
from fdcomm.ring.layout import CLEARED, COUNT, CURSOR, GATE, HEAD, LIVES, PID, SEQ

__all__ = ("Look", "last_published")


class Look:
    """The messages that are retained, and who has taken them.

    A message is retained from its publication until every rank has taken it, or a clear has taken it back. A rank
    whose reader was given up has not taken what it had not: somebody may come back for it.
    """

    def __init__(self, board: Board) -> None:
        shape = board.shape
        self._board = board
        self._words = board.words
        self._ranks = range(shape.ranks)
        self._slots = shape.slots
        self._seqs = tuple(shape.of_slot(slot, SEQ) for slot in range(shape.slots))
        self._known: tuple[list[int], tuple[int, ...]] = ([-1] * shape.ranks, ())
        board.users.append(self)

    def places(self) -> tuple[int, ...]:
        """The words in which the ranks' cursors are now."""
        words, (lives, cursors) = self._words, self._known
        for rank in self._ranks:
            if words[LIVES + rank] != lives[rank]:
                lives = [words[LIVES + other] for other in self._ranks]
                shape = self._board.shape
                cursors = tuple(shape.of_line(shape.line(other, life), CURSOR) for other, life in enumerate(lives))
                self._known = (lives, cursors)  # in one store: other threads look too
                break
        return cursors

    def lost(self) -> tuple[int, ...]:
        """The ranks whose reader was given up, and has no successor yet."""
        return tuple(rank for rank in self._ranks if self._words[LIVES + rank] & 1)

    def read_for(self) -> tuple[int, ...]:
        """The ranks that have a reader."""
        words, shape = self._words, self._board.shape
        lives = [words[LIVES + rank] for rank in self._ranks]
        return tuple(
            rank
            for rank, life in enumerate(lives)
            if not life & 1 and words[shape.of_line(shape.line(rank, life), PID)]
        )

    def cursor(self, rank: int) -> int:
        """The last message that the rank is done with."""
        return self._words[self.places()[rank]]

    def next_after(self, position: int) -> int:
        """The first message after that one which was not taken back, or 0."""
        words, slots, seqs = self._words, self._slots, self._seqs
        number = position + 1
        while True:
            seen = words[seqs[(number - 1) % slots]]
            if seen == number:
                return number
            if (newest := abs(seen)) < number:
                return 0
            number = max(number, newest - slots) + 1

    def oldest(self) -> int:
        """The oldest retained message, or 0."""
        words = self._words
        low = min([words[place] for place in self.places()])
        if abs(words[seqs_of(self._seqs, low)]) <= low:
            return 0  # the usual case: all have taken all
        return self.next_after(low)

    def numbers(self) -> Iterator[int]:
        """The retained messages, oldest first."""
        number = self.oldest()
        while number:
            yield number
            number = self.next_after(number)

    def taken(self, number: int) -> tuple[int, ...]:
        """The ranks that have taken a message."""
        words = self._words
        return tuple(rank for rank, place in enumerate(self.places()) if words[place] >= number)

    def missing(self) -> tuple[int, ...]:
        """The ranks that have not taken the oldest retained message."""
        oldest = self.oldest()
        return tuple(rank for rank in self._ranks if rank not in self.taken(oldest)) if oldest else ()

    def count(self) -> int:
        """How many things the retained messages count for."""
        return sum(self._words[seqs_of(self._seqs, number - 1) + COUNT] for number in self.numbers())

    def slot(self, number: int) -> int:
        """The slot of a message."""
        return (number - 1) % self._slots

    def is_there(self, number: int) -> bool:
        """Return True while the message is in its slot, and was not taken back."""
        return self._words[seqs_of(self._seqs, number - 1)] == number

    def published(self) -> int:
        """The last message that was published."""
        return last_published(self._words, self._seqs)

    def clears(self) -> tuple[int, int]:
        """How many clears there were, and the last message that there was at the last one."""
        words = self._words
        while True:
            gate = words[GATE]
            cleared = words[CLEARED]
            if words[GATE] == gate:
                return gate // 2, cleared


def last_published(words: Plain, seqs: tuple[int, ...]) -> int:
    """The last message. The word HEAD may be one behind: its writer was killed then."""
    head = words[HEAD]
    while abs(words[seqs_of(seqs, head)]) == head + 1:
        head += 1
    return head


def seqs_of(seqs: tuple[int, ...], position: int) -> int:
    """The word with the number of the message after that one."""
    return seqs[position % len(seqs)]
