"""Who waits for a rank: how a process comes, leaves, and is given up. All of it under the lock of who decides.

That a process lives is known from the lock of its line, which the kernel frees when it dies.
"""

from __future__ import annotations

import os

from fdcomm.deadline import Deadline
from fdcomm.errors import DuplicateRankError, RankError
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import ARRIVAL, LIVES, NOBODY, PID, TURN

__all__ = ("abort", "attach", "check_rank", "fence", "leave", "reset")


def attach(room: Room, rank: int, deadline: Deadline) -> int:
    """Become the process of a rank; return the rank's life.

    Raises:
        DuplicateRankError: The rank has a live process.
    """
    check_rank(room, rank)
    words, shape, chair = room.words, room.shape, Chair(room)
    room.take(deadline, "attach")
    try:
        life = words[LIVES + rank]
        line = shape.line(rank, life)
        if not life & 1:
            if not room.locks.take_line(line):
                raise _taken(room, rank, line)
            if not words[shape.of_line(line, PID)]:
                _sit(room, line)
                return life
            room.locks.give_line(line)  # its process is dead, and nobody has missed it yet
            chair.give_up(rank, words[TURN])
            life += 1
        life += 1
        line = shape.line(rank, life)
        if not room.locks.take_line(line):  # a process that was given up, and is not dead
            life += 2
            line = shape.line(rank, life)
            if not room.locks.take_line(line):
                raise _taken(room, rank, line)
        try:
            _sit(room, line)
            chair.count(rank, life, words[TURN])
        except BaseException:
            room.locks.give_line(line)
            raise
        return life
    finally:
        room.give()


def _sit(room: Room, line: int) -> None:
    arrival = room.shape.of_line(line, ARRIVAL)
    if room.words[arrival] != NOBODY:
        room.words[arrival] = NOBODY
    room.words[room.shape.of_line(line, PID)] = os.getpid()


def leave(room: Room, line: int, deadline: Deadline) -> None:
    """Leave in order: the rank is away, and the others wait until it comes back."""
    room.take(deadline, "close")
    try:
        room.words[room.shape.of_line(line, ARRIVAL)] = NOBODY
        room.words[room.shape.of_line(line, PID)] = 0
        room.locks.give_line(line)
    finally:
        room.give()


def fence(room: Room, rank: int, deadline: Deadline) -> bool:
    """Give a rank's process up, whether it lives or not. Returns False when nobody was counted."""
    check_rank(room, rank)
    room.take(deadline, "fence")
    try:
        return Chair(room).give_up(rank, room.words[TURN])
    finally:
        room.give()


def abort(room: Room, deadline: Deadline, place: int = 0) -> bool:
    """End all waits at a place, and refuse new ones. Returns False when that was done before."""
    room.take(deadline, "abort")
    try:
        return Chair(room).abort(room.words[TURN], place)
    finally:
        room.give()


def reset(room: Room, deadline: Deadline, place: int = 0) -> bool:
    """Open an aborted barrier again. Returns False when it was not aborted."""
    room.take(deadline, "reset")
    try:
        return Chair(room).reset(room.words[TURN], place)
    finally:
        room.give()


def check_rank(room: Room, rank: int) -> None:
    """Raise RankError for what is no rank of the meeting."""
    if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank < room.shape.ranks:
        raise RankError(f"rank={rank!r} must be an integer from 0 to {room.shape.ranks - 1}")


def _taken(room: Room, rank: int, line: int) -> DuplicateRankError:
    pid = room.words[room.shape.of_line(line, PID)]
    return DuplicateRankError(
        f"attach: process {pid} waits for rank {rank} and lives; if it is stopped, kill it, or fence({rank}) and "
        "attach then",
        operation="attach",
        missing=(rank,),
    )
