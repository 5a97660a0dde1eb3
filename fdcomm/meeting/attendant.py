"""How a rank waits, and how a wait ends, word by word: ``tla/meeting/Meeting.tla``.

A rank arrives by storing the turn that it has seen into its own word, so the store of another turn ends every arrival
at once. That store, and the one that takes an arrival back, are made under a lock of the kernel. So whether the last
arrival or the time limit was first is decided once, whoever is killed.

Of barriers that are used in turn, an ending may be about another one: then the rank arrives again, in the next turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final

from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, FdcommError
from fdcomm.meeting import refusals
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import (
    ARRIVAL,
    ENDING,
    LIVES,
    LOST,
    NOBODY,
    NUMBER,
    PLACE,
    ROUND,
    TURN,
    closed_to,
    next_turn,
    read_why,
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
        told: Of each place the last turn in which it saw that its barrier was aborted.
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
        self._lives = LIVES + rank
        self._closed: Sequence[int] = [closed_to(place) for place in range(shape.places)]
        self._label: str | None = None
        self._number_of_label = 0
        self._place = 0
        self._mine = 0
        self._turns = range(turns)
        self._standing = NOBODY
        self.stop: Callable[[], FdcommError | None] = lambda: None
        self.told = [NOBODY] * shape.places
        self.sleeps = 0

    def wait(
        self, label: str, timeout: Timeout, operation: str = "wait", number: int | None = None, place: int = 0
    ) -> int:
        """Arrive, and wait until the turn is another one. Returns the turn's round that was passed.

        With ``number`` the wait is for that round of the barrier. If the round is over it raises, and if it is to come
        all waits end.
        """
        if self._standing != NOBODY and place != self._place:
            self._take_back(timeout, operation)
        if self._standing != NOBODY:  # the last wait was interrupted, or could not take its arrival back: it goes on
            return self._until(self._standing, "", timeout, operation)
        words = self._room.words
        turn = words[TURN]
        if turn & self._closed[place] or words[self._lives] != self._life:
            raise self._refused(turn, place, operation)
        if number is not None and number != self._room.round(turn, place):
            turn = self._other_round(number, place, timeout, operation)
        self._place = place
        self._write(label)
        do = self._arrive(turn)
        if not do:  # who has to come gets a processor for a switch
            for _ in self._turns:
                if (now := words[TURN]) != turn:
                    if now > turn | ROUND - 1 and words[self._lives] == self._life:  # nearly always: the next round
                        self._standing = NOBODY
                        return turn // ROUND
                    break
                _let_others_run()
        return self._until(turn, do, timeout, operation)

    def _arrive(self, turn: int) -> str:
        """Arrive in a turn; return what is to be decided then."""
        self._standing = turn
        self._room.words[self._own] = turn
        if self._room.fenced:
            self._room.kernel.fence()
        return "pass" if self._all_here(turn) else ""

    def _take_back(self, timeout: Timeout, operation: str) -> None:
        """End a wait at another barrier, of which it was said before that its time is over."""
        self._take(Deadline(timeout_seconds(timeout, operation), self._room.runtime.monotonic))
        self._decide("withdraw", self._standing)
        self._standing = NOBODY

    def _refused(self, turn: int, place: int, operation: str) -> FdcommError:
        """Nobody may wait in this turn, or not this process: who is given up after the look at it has an old turn."""
        if not (closed := turn & self._closed[place]):
            return refusals.fenced(self._rank, operation)
        if closed != LOST:
            self.told[place] = turn
        return refusals.not_open(self._room, turn, place, operation)

    def _other_round(self, number: int, place: int, timeout: Timeout, operation: str) -> int:
        """Return the turn of the named round, if others have come to it meanwhile; else raise."""
        room = self._room
        self._take(Deadline(timeout_seconds(timeout, operation), room.runtime.monotonic))
        try:
            turn = room.words[TURN]
            if turn & self._closed[place] or room.words[self._lives] != self._life:
                raise self._refused(turn, place, operation)
            now = room.round(turn, place)
            if number == now:
                return turn
            if number < now:
                raise refusals.over(number, now, operation)
            error = refusals.to_come(room, self._rank, number, turn, place, operation)
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
                    deadline = deadline or self._deadline(turn, timeout, operation)
                    self._take(deadline)
                self._decide(do, turn)
                do = ""
            if (now := words[TURN]) != turn:
                passed = self._ended(turn, now, operation)
                if passed is not None:
                    return passed
                turn = self._standing
                do = self._again(turn, operation)
                continue
            if deadline is None:
                deadline = self._deadline(turn, timeout, operation)
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
                raise refusals.timed_out(room, self._rank, turn, self._place, operation, deadline.waited())

    def _deadline(self, turn: int, timeout: Timeout, operation: str) -> Deadline:
        """When the wait has to end. Most waits end before anybody asks."""
        clock = self._room.runtime.monotonic
        try:
            return Deadline(timeout_seconds(timeout, operation), clock)
        except ConfigError:  # it is told of nothing else, so nobody may count it
            self._take(Deadline(GRACE_S, clock))
            self._decide("withdraw", turn)
            self._standing = NOBODY
            raise

    def _write(self, label: str) -> None:
        """Store what the arrival will be for."""
        if label != self._label:
            self._number_of_label = refusals.store_label(self._room, self.line, label)
            self._label = label
        self._mine = self._room.words[self._number] = self._place * PLACE + self._number_of_label

    def _over(self, deadline: Deadline) -> bool:
        return deadline.remaining() == 0

    # -- looking -------------------------------------------------------------------------------------------------------

    def _all_here(self, turn: int) -> bool:
        """Whether all have arrived, or some at this barrier that can never meet."""
        words, mine = self._room.words, self._mine
        for lives, first, second in self._places:
            place = second if words[lives] & 2 else first
            if words[place] != turn:
                return False
            if (theirs := words[place + 1]) != mine and theirs // PLACE == mine // PLACE:
                return True
        return True

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
        words, together = self._room.words, True
        for lives, first, second in self._places:
            place = second if words[lives] & 2 else first
            if words[place] != turn:
                return
            if (theirs := words[place + 1]) != self._mine:
                if theirs // PLACE == self._place:
                    break
                together = False
        else:
            if together and (not self._number_of_label or self._room.same_labels(self.line)):
                self._chair.pass_(turn, self._place)
                return
        self._chair.part(turn)

    # -- the end of a wait ---------------------------------------------------------------------------------------------

    def _ended(self, turn: int, now: int, operation: str) -> int | None:
        """Return the round that was passed; None when all endings were about other barriers: the wait goes on."""
        room, words = self._room, self._room.words
        self._standing = NOBODY
        while round_of(now) == round_of(turn):
            after = next_turn(turn, 0)
            kind, place = read_why(words[why_of(after)], after)
            if kind != "reset" and (kind != "broken" or place == self._place):
                if kind == "broken":
                    self.told[place] = after
                raise refusals.ended(room, kind, turn, self._place, operation)
            turn, now = after, words[TURN]
            if turn // ENDING == now // ENDING:
                self._standing = now
                return None
        if words[self._lives] != self._life:
            raise refusals.fenced(self._rank, operation)
        return round_of(turn)

    def _again(self, turn: int, operation: str) -> str:
        """Arrive in a turn that began with an ending that was about another barrier."""
        if self._room.words[self._lives] != self._life:
            self._standing = NOBODY
            raise refusals.fenced(self._rank, operation)
        self._write(self._label or "")
        return self._arrive(turn)
