"""How a rank waits, and how a wait ends, word by word: ``tla/meeting/Meeting.tla``.

A rank arrives by storing the turn that it has seen into its own word, so the store of another turn ends every arrival
at once. That store, and the one that takes an arrival back, are made under a lock of the kernel. So whether the last
arrival or the time limit was first is decided once, whoever is killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, FdcommError, FencedError
from fdcomm.meeting import refusals
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import (
    ARRIVAL,
    BROKEN,
    KINDS,
    LIVES,
    NOBODY,
    NUMBER,
    TURN,
    next_round,
    next_turn,
    round_of,
    why_of,
)

__all__ = ("GRACE_S", "INTERVAL_S", "Attendant")

INTERVAL_S: Final = 0.25
"""How long a sleep lasts at most."""
_SHORT_INTERVAL_S: Final = 0.005
GRACE_S: Final = 5.0
"""How long a wait at least waits for who is deciding just then, also when its time is over."""
_TURNS: Final = 20
_let_others_run: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class Attendant:
    """Who waits for a rank.

    Args:
        room: The meeting.
        rank: Its rank.
        life: The life of the rank that this is.
        turns: How often it lets others run and looks again, before it sleeps. 0: it sleeps at once.

    Attributes:
        stop: Returns an error when a wait has to end for a reason that is not in the meeting. Asked at each sleep.
        told: The last turn in which it saw that the meeting was aborted.
        sleeps: How often it has slept.
    """

    def __init__(self, room: Room, rank: int, life: int, turns: int = _TURNS) -> None:
        self._room = room
        self._chair = Chair(room)
        self._rank = rank
        self._life = life
        self.line = room.shape.line(rank, life)
        self._own = room.shape.of_line(self.line, ARRIVAL)
        self._number = room.shape.of_line(self.line, NUMBER)
        shape = room.shape
        self._places = tuple(
            (LIVES + rank, shape.of_line(rank, ARRIVAL), shape.of_line(shape.ranks + rank, ARRIVAL))
            for rank in range(shape.ranks)
        )
        self._label: str | None = None
        self._mine = 0
        self._turns = range(turns)
        self._standing = NOBODY
        self.stop: Callable[[], FdcommError | None] = lambda: None
        self.told = NOBODY
        self.sleeps = 0

    def wait(self, label: str, timeout: Timeout, operation: str = "wait", number: int | None = None) -> int:
        """Arrive, and wait until the turn is another one. Returns the round that was passed.

        With ``number`` the wait is for that round. If the round is over it raises, and if it is to come all waits end.
        """
        words = self._room.words
        if self._standing != NOBODY:
            # The last wait was interrupted, or could not take its arrival back: it goes on.
            turn, do = self._standing, ""
        else:
            turn = words[TURN]
            self._check_open(turn, operation)
            if number is not None and number != round_of(turn):
                turn = self._other_round(number, timeout, operation)
            self._write(label)
            self._standing = turn
            words[self._own] = turn
            if self._room.fenced:
                self._room.kernel.fence()
            do = "pass" if self._all_here(turn) else ""
        return self._until(turn, do, timeout, operation)

    def _check_open(self, turn: int, operation: str) -> None:
        """Raise if nobody may wait in this turn, or not this process: who is given up after it has an old turn."""
        if turn & 3:
            if turn & BROKEN:
                self.told = turn
            raise refusals.not_open(self._room, turn, operation)
        if self._room.words[LIVES + self._rank] != self._life:
            raise self._fenced(operation)

    def _other_round(self, number: int, timeout: Timeout, operation: str) -> int:
        """Return the turn of the named round, if others have come to it meanwhile; else raise."""
        room = self._room
        self._take(Deadline(timeout_seconds(timeout, operation), room.runtime.monotonic))
        try:
            turn = room.words[TURN]
            self._check_open(turn, operation)
            if number == round_of(turn):
                return turn
            if number < round_of(turn):
                raise refusals.over(number, turn, operation)
            error = refusals.to_come(room, self._rank, number, turn, operation)
            self._chair.part(turn)
            raise error
        finally:
            room.give()

    def _until(self, turn: int, do: str, timeout: Timeout, operation: str) -> int:
        words, room = self._room.words, self._room
        deadline: Deadline | None = None
        while True:
            if do:
                if not room.try_take():
                    deadline = deadline or Deadline(timeout_seconds(timeout, operation), room.runtime.monotonic)
                    self._take(deadline)
                self._decide(do, turn)
                do = ""
            if (now := words[TURN]) != turn:
                return self._ended(turn, now, operation)
            if self._turns and self._passes(turn):
                continue
            if deadline is None:
                deadline = Deadline(timeout_seconds(timeout, operation), room.runtime.monotonic)
            stopped = self.stop()
            if stopped is None and not room.closing and not self._over(deadline):
                do = self._sleep(turn, deadline)
                continue
            self._take(deadline)
            if self._decide("withdraw", turn):
                self._standing = NOBODY
                if stopped is not None:
                    raise stopped
                if room.closing:
                    raise ClosedError(f"{operation}: the meeting was closed meanwhile", operation=operation)
                raise refusals.timed_out(room, self._rank, turn, operation, deadline.waited())

    def _write(self, label: str) -> None:
        """What the arrival will be for."""
        if label != self._label:
            self._mine = refusals.store_label(self._room, self.line, label)
            self._label = label
        self._room.words[self._number] = self._mine

    @staticmethod
    def _over(deadline: Deadline) -> bool:
        return deadline.remaining() == 0

    # -- looking -------------------------------------------------------------------------------------------------------

    def _all_here(self, turn: int) -> bool:
        """Whether all have arrived, or some that can never meet."""
        words, mine = self._room.words, self._mine
        for lives, first, second in self._places:
            place = second if words[lives] & 2 else first
            if words[place] != turn:
                return False
            if words[place + 1] != mine:
                return True
        return True

    def _passes(self, turn: int) -> bool:
        """Look for another turn, and let others run in between: who has to come gets a processor for a switch."""
        words = self._room.words
        for _ in self._turns:
            _let_others_run()
            if words[TURN] != turn:
                return True
        return False

    def _sleep(self, turn: int, deadline: Deadline) -> str:
        """Sleep until the turn is another one; return what is to be decided then."""
        room, words = self._room, self._room.words
        room.flags[self.line] = 1
        try:
            reaches = room.kernel.barrier()
            if words[TURN] != turn:
                return ""
            if self._all_here(turn):
                return "pass"
            interval = INTERVAL_S if reaches else _SHORT_INTERVAL_S
            left = deadline.remaining()
            self.sleeps += 1
            room.kernel.sleep(room.address(), turn & 0xFFFFFFFF, interval if left is None else min(interval, left))
            if words[TURN] != turn:
                return ""
            return "fence" if any(map(self._chair.gone, range(room.shape.ranks))) else ""
        finally:
            room.flags[self.line] = 0

    # -- deciding ------------------------------------------------------------------------------------------------------

    def _take(self, deadline: Deadline) -> None:
        """Become who decides."""
        left = deadline.remaining()
        if left is not None and left < GRACE_S:  # an arrival must not stay behind only because others decide just now
            deadline = Deadline(GRACE_S, self._room.runtime.monotonic)
        self._room.take(deadline, "wait")

    def _decide(self, do: str, turn: int) -> bool:
        """Decide, and give the lock back. Returns True when the arrival was taken back."""
        room, chair = self._room, self._chair
        try:
            if room.words[TURN] != turn:
                return False
            if do == "pass":
                self._pass(turn)
            elif do == "withdraw":
                room.words[self._own] = NOBODY
                return True
            else:
                for rank in filter(chair.gone, range(room.shape.ranks)):
                    chair.give_up(rank, turn)
                    break
            return False
        finally:
            room.give()

    def _pass(self, turn: int) -> None:
        """Nobody can take an arrival back now."""
        words = self._room.words
        for lives, first, second in self._places:
            place = second if words[lives] & 2 else first
            if words[place] != turn:
                return
            if words[place + 1] != self._mine:
                break
        else:
            if not self._mine or self._same_labels():
                self._chair.store(next_round(turn))
                return
        self._chair.part(turn)

    def _same_labels(self) -> bool:
        """Numbers of labels may be the same by chance."""
        room, words = self._room, self._room.words
        lives = (words[LIVES + rank] for rank in range(room.shape.ranks))
        lines = (room.shape.line(rank, life) for rank, life in enumerate(lives))
        return all(room.same_label(self.line, line) for line in lines)

    # -- the end of a wait ---------------------------------------------------------------------------------------------

    def _ended(self, turn: int, now: int, operation: str) -> int:
        room, words = self._room, self._room.words
        self._standing = NOBODY
        if round_of(now) > round_of(turn):
            if words[LIVES + self._rank] != self._life:
                raise self._fenced(operation)
            return round_of(turn)
        after = next_turn(turn, 0)
        why = words[why_of(after)]
        kind = KINDS[why % 4] if why // 16 == after // 4 else "unknown"
        if kind == "broken":
            self.told = after
        raise refusals.ended(room, kind, turn, operation)

    def _fenced(self, operation: str) -> FencedError:
        return FencedError(
            f"{operation}: rank {self._rank} was given up, and this process is not it any more; attach again",
            operation=operation,
            missing=(self._rank,),
        )
