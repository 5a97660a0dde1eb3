"""Sleep until another side of the ring has stored what is waited for.

Who stores a number or a cursor looks afterwards whether anybody sleeps, which costs a load and no system call. That is
sound because of what a sleeper does: it raises its flag, and then runs a barrier on the processors of all others. Then
each of them has either stored before, and the sleeper sees it, or will see the flag. ``tla/ring/RingWait.tla`` is the
proof. A flag is stored by its sleeper only, so nobody can lower another one's.

A sleep is bounded: who was killed between its store and its wake-up delays the sleeper by no more than that.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from fdcomm.deadline import Deadline
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BELL, GATE, WANT, WANT_BELL

__all__ = ("INTERVAL_S", "Patience", "ring_bells", "tell_of_room", "wake_readers", "wake_writer")

INTERVAL_S: Final = 0.25
"""How long a sleep lasts at most."""
_SHORT_INTERVAL_S: Final = 0.005
_TOKENS: Final = 2**31

_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


def wake_readers(board: Board, number: int) -> None:
    """Called by a writer that has stored a message's number and has seen a flag. No number comes twice."""
    board.words[BELL] = number % _TOKENS
    board.kernel.wake(board.address(BELL))


def wake_writer(board: Board, line: int, cursor: int) -> None:
    """Called by a reader that has stored the cursor that the writer wants. A line stores each cursor once."""
    board.words[WANT_BELL] = (cursor * board.shape.lines + line) % _TOKENS
    board.kernel.wake(board.address(WANT_BELL))


def ring_bells(board: Board) -> None:
    """Wake everybody who sleeps, so that they look again at all."""
    for bell in (BELL, WANT_BELL):
        board.words[bell] = board.kernel.token()
        board.kernel.wake(board.address(bell))


def tell_of_room(board: Board) -> None:
    """Called by who has ended a clear: a writer that sleeps has room now. No epoch comes twice."""
    if board.fenced:
        board.kernel.fence()
    if board.words[WANT]:
        board.words[WANT_BELL] = _TOKENS + board.words[GATE] // 2 % _TOKENS
        board.kernel.wake(board.address(WANT_BELL))


class Patience:
    """How one side waits: it looks again and again for some microseconds, and then sleeps.

    Between two looks it lets other processes run. That is what makes it work where there are more processes than
    processors: whoever has something to do gets its turn for the price of a switch, and no system call wakes anybody.

    Args:
        board: The ring.
        turns: How often it lets others run and looks again, before it sleeps. 0: it sleeps at once.
    """

    def __init__(self, board: Board, turns: int) -> None:
        self._board = board
        self._turns = range(turns)
        self.sleeps = 0

    def spin(self, place: int, least: int) -> bool:
        """Look at a word until it is at least that; False: it takes longer than looking is worth."""
        words = self._board.words
        for _ in self._turns:
            if words[place] >= least:
                return True
            _let_others_run()
        return False

    def spin_on(self, place: int, least: int, spin_s: float, deadline: Deadline) -> bool:
        """Go on looking for so many seconds: it takes a processor, unless others want it. False: it did not come."""
        board = self._board
        left, clock = deadline.remaining(), board.runtime.monotonic
        until = clock() + (spin_s if left is None else min(left, spin_s))
        while clock() < until and not board.closing:
            if self.spin(place, least):
                return True
        return False

    def sleep_reader(self, line: int, due: Callable[[], bool], deadline: Deadline) -> bool:
        """Sleep until woken, unless it is due. False: the interval, or the time, is over."""
        board = self._board
        board.flags[line] = 1
        try:
            return self._sleep(BELL, due, deadline)
        finally:
            board.flags[line] = 0

    def sleep_writer(self, wanted: int, due: Callable[[], bool], deadline: Deadline) -> bool:
        """The same for a writer that waits for cursors."""
        board = self._board
        board.words[WANT] = wanted
        try:
            return self._sleep(WANT_BELL, due, deadline)
        finally:
            board.words[WANT] = 0

    def _sleep(self, bell: int, due: Callable[[], bool], deadline: Deadline) -> bool:
        board = self._board
        reaches = board.kernel.barrier()
        interval = INTERVAL_S if reaches else _SHORT_INTERVAL_S
        token = board.words[bell]
        if due():
            return True
        left = deadline.remaining()
        if left is not None:
            interval = min(interval, left)
        self.sleeps += 1
        board.kernel.sleep(board.address(bell), token, interval)
        return due()
