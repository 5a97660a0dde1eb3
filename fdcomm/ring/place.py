"""``WriterPlace``: the writer's place without a system call, for who puts again and again: ``tla/ring/RingBias.tla``.

Who has put several times in a row is biased: it keeps a token, which is a lock of the kernel, and says in the token's
word that it puts. Whoever else wants to put takes the kernel's lock of the place, and ends the bias first.
"""

from __future__ import annotations

from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.ring.board import Board, Plain
from fdcomm.ring.layout import BIAS, TOKENS
from fdcomm.ring.locks import KernelLocks
from fdcomm.ring.members import holder

__all__ = ("WriterPlace", "end_bias")

_ROW: Final = 4
_LONGEST_ROW: Final = 64


class WriterPlace:
    """What one producer knows of its bias. Its caller lets one thread at a time in.

    Attributes:
        inside: It has said that it puts, with no lock: :meth:`leave` takes that back.
        sure: The last put of all was this producer's, and what it knows of the ring is what it has done there.
    """

    def __init__(self, board: Board, locks: KernelLocks, pid: int) -> None:
        self._board = board
        self._locks = locks
        self._pid = pid
        self._token = 0
        self._mark = 0
        self._row = 0
        self._wanted = _ROW
        self.inside = False
        self.sure = False

    def enter(self, words: Plain) -> bool:
        """Take the place if this producer is biased. False: take the kernel's lock of it."""
        mark = self._mark
        if not mark:
            return False
        self.inside = True
        words[mark] = self._pid
        if words[BIAS] == self._token:
            return True
        words[mark] = 0
        self.inside = False
        self.drop()
        # Two that put in turn are better off without.
        self._wanted = min(2 * self._wanted, _LONGEST_ROW)
        return False

    def leave(self, words: Plain) -> None:
        """Give it back."""
        words[self._mark] = 0
        self.inside = False

    def end(self, bias: int, deadline: Deadline, operation: str) -> None:
        """End a bias; see :func:`end_bias`."""
        end_bias(self._board, self._locks, bias, deadline, operation)

    def count(self, words: Plain, in_a_row: bool) -> None:
        """A put is done under the lock. If there were enough of them, and nobody put between, be biased."""
        self._row = self._row + 1 if in_a_row else 1
        if self._row < self._wanted or self._board.fenced:
            return
        self._row = 0
        locks = self._locks
        for token in range(1, TOKENS + 1):
            if locks.try_token(token):
                self._token, self._mark, self.sure = token, BIAS + token, True
                words[BIAS + token] = 0  # who had it may have been killed in a put
                words[BIAS] = token
                return

    def drop(self) -> None:
        """Give the token back: whoever comes ends the bias, if it is not ended yet."""
        token, self._token, self._mark, self._row = self._token, 0, 0, 0
        if token:
            self._locks.give_token(token)


def end_bias(board: Board, locks: KernelLocks, bias: int, deadline: Deadline, operation: str) -> None:
    """Wait until the process does not put that is biased, or was until somebody began to end that, or is dead.

    Whoever calls has the kernel's lock of the place. If the wait fails the bias stays marked, and the next one waits.

    Args:
        board: The ring.
        locks: Its locks.
        bias: The word BIAS, which is not 0.
        deadline: Of the wait.
        operation: For the error.

    Raises:
        CommTimeoutError: It puts all the time; its process is named.
    """
    words, token = board.words, abs(bias)
    if bias > 0:
        words[BIAS] = -token
    # From now on the biased process sees the mark before it puts, or what it has said is seen here.
    heard = board.kernel.barrier()

    def is_over() -> bool:
        said = words[BIAS + token]
        return (heard and not said) or locks.is_token_free(token)

    locks.wait_until(is_over, deadline, operation, lambda: holder(board))
    words[BIAS] = 0
