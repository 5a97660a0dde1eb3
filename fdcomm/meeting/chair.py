"""What may be decided under the lock of a meeting: every ending is one store of another turn."""

from __future__ import annotations

from typing import Final

from fdcomm.meeting import refusals
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import (
    ANY_BROKEN,
    BROKEN,
    LIVES,
    LOST,
    MOST_ENDINGS,
    PID,
    STATE,
    TURN,
    endings_of,
    next_round,
    next_turn,
    round_of,
    why,
    why_of,
)

__all__ = ("Chair",)

_MISMATCH: Final = 0
_LOST: Final = 1
_BROKEN: Final = 2
_RESET: Final = 3


class Chair:
    """What may be decided by who has the lock of a room."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self._flag_words = tuple(room.shape.flag_words)

    def store(self, turn: int) -> None:
        """The next turn, and a wake-up if somebody sleeps."""
        room = self.room
        room.words[TURN] = turn
        if room.fenced:
            room.kernel.fence()
        for flags in self._flag_words:
            if room.words[flags]:
                room.kernel.wake(room.address())
                break

    def pass_(self, turn: int, place: int) -> None:
        """The next round. All are counted before the turn says so, where nobody looks until then."""
        words, shape, after = self.room.words, self.room.shape, next_round(turn)
        if shape.places > 1:
            for other in range(shape.places):
                words[shape.passes(after, other)] = words[shape.passes(turn, other)] + (other == place)
        self.store(after)

    def end(self, turn: int, kind: int, state: int, place: int = 0) -> None:
        """End waits of the turn without a pass: all of them, or those at a place."""
        if endings_of(turn) >= MOST_ENDINGS:
            raise refusals.worn_out(round_of(turn))
        after = next_turn(turn, state | ANY_BROKEN if endings_of(turn) == MOST_ENDINGS - 1 else state)
        self.room.words[why_of(after)] = why(after, place, kind)
        self.store(after)

    def part(self, turn: int) -> bool:
        """End all waits, because ranks are not in the same round. False when nobody may wait anyway."""
        if turn & (LOST if self.room.shape.places > 1 else STATE):
            return False
        self.end(turn, _MISMATCH, turn & STATE)
        return True

    def abort(self, turn: int, place: int = 0) -> bool:
        """End all waits at a place, and refuse new ones. False when that was done before."""
        if turn & BROKEN << place:
            return False
        self.end(turn, _BROKEN, turn & STATE | BROKEN << place, place)
        return True

    def reset(self, turn: int, place: int = 0) -> bool:
        """Open an aborted barrier again. Nobody waits at it. False when it was not aborted."""
        if not turn & BROKEN << place:
            return False
        if endings_of(turn) >= MOST_ENDINGS - 1:
            raise refusals.worn_out(round_of(turn))
        self.end(turn, _RESET, turn & STATE & ~(BROKEN << place), place)
        return True

    def give_up(self, rank: int, turn: int) -> bool:
        """Nobody is counted for the rank from now on, and all waits end. False when nobody was."""
        words, life = self.room.words, self.room.words[LIVES + rank]
        if not life & 1:
            words[LIVES + rank] = life + 1
        elif turn & LOST:
            return False
        self.end(turn, _LOST, turn & STATE | LOST)
        return not life & 1

    def count(self, rank: int, life: int, turn: int) -> None:
        """A process comes for a rank that was given up."""
        words = self.room.words
        words[LIVES + rank] = life
        others = any(words[LIVES + other] & 1 for other in range(self.room.shape.ranks) if other != rank)
        self.end(turn, _LOST, turn & ANY_BROKEN | (LOST if others else 0))

    def gone(self, rank: int) -> bool:
        """The rank was given up, or its process is dead: the kernel's lock of its line says so."""
        room = self.room
        life = room.words[LIVES + rank]
        line = room.shape.line(rank, life)
        return bool(life & 1 or (room.words[room.shape.of_line(line, PID)] and not room.locks.is_held(line)))
