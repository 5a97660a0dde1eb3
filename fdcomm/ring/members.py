"""Who reads for a rank: how a reader comes, leaves, and is given up.

Everything here is done under the lock of the members. That a reader lives is known from the lock of its line, which
the kernel frees when its process dies; nobody guesses from a process id or from silence.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from fdcomm.deadline import Deadline
from fdcomm.errors import DuplicateRankError, RankError
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BEGUN, BIAS, CURSOR, LIVES, PID, WRITER_PID

__all__ = ("Place", "attach", "fence", "fence_dead", "holder", "leave", "zombies")


class Place(NamedTuple):
    """A reader's line, the life of its rank under which it is counted, and the last message that it is done with."""

    rank: int
    line: int
    life: int
    position: int


def attach(board: Board, rank: int, deadline: Deadline, operation: str = "attach") -> Place:
    """Become the reader of a rank.

    The first one, and one after a reader that has left, goes on where the rank was. One after a reader that was given
    up, or died, begins with the first message that nobody has begun.

    Raises:
        DuplicateRankError: The rank has a live reader.
    """
    check_rank(board, rank)
    words, shape = board.words, board.shape
    with board.locks.members(deadline, operation):
        life = words[LIVES + rank]
        line = shape.line(rank, life)
        if not life & 1:
            if not board.locks.take_line(line):
                raise _taken(board, rank, line, operation)
            if not words[shape.of_line(line, PID)]:
                words[shape.of_line(line, PID)] = os.getpid()
                return Place(rank, line, life, words[shape.of_line(line, CURSOR)])
            board.locks.give_line(line)
            life += 1
            words[LIVES + rank] = life
        return _come_back(board, rank, life + 1, operation)


def _come_back(board: Board, rank: int, life: int, operation: str) -> Place:
    words, shape, locks = board.words, board.shape, board.locks
    line = shape.line(rank, life)
    if not locks.take_line(line):  # a reader that was given up, and is not dead
        life += 2
        line = shape.line(rank, life)
        if not locks.take_line(line):
            raise _taken(board, rank, line, operation)
    try:
        # Its cursor is one of the past: until it stores its own the writer waits for it.
        words[shape.of_line(line, PID)] = os.getpid()
        words[LIVES + rank] = life
        board.kernel.barrier()
        begin = max(words[shape.of_line(other, BEGUN)] for other in range(shape.lines))
        words[shape.of_line(line, CURSOR)] = begin
    except BaseException:
        locks.give_line(line)
        raise
    return Place(rank, line, life, begin)


def leave(board: Board, place: Place, deadline: Deadline) -> None:
    """Leave in order: the next reader of the rank goes on where this one was."""
    with board.locks.members(deadline, "close"):
        board.words[board.shape.of_line(place.line, PID)] = 0
        board.locks.give_line(place.line)


def fence(board: Board, rank: int, deadline: Deadline, operation: str = "fence") -> bool:
    """Give a rank's reader up, whether it lives or not. Returns False when nobody was counted."""
    check_rank(board, rank)
    with board.locks.members(deadline, operation):
        life = board.words[LIVES + rank]
        if life & 1:
            return False
        board.words[LIVES + rank] = life + 1
        return True


def fence_dead(board: Board, ranks: Iterable[int]) -> tuple[int, ...]:
    """Give up those of the ranks whose reader is dead, and return them. Somebody else may be doing it: then nothing."""
    lock = board.locks.try_members()
    if lock is None:
        return ()
    words, shape = board.words, board.shape
    dead = []
    with lock:
        for rank in ranks:
            life = words[LIVES + rank]
            line = shape.line(rank, life)
            if not life & 1 and words[shape.of_line(line, PID)] and not board.locks.is_held(line):
                words[LIVES + rank] = life + 1
                dead.append(rank)
    return tuple(dead)


def holder(board: Board) -> str:
    """Say which process has the writer's place: " by process 7"; "" if it has not said so.

    The word may be of one that was killed there, while its successor has not stored its own yet.
    """
    words = board.words
    token = abs(words[BIAS])
    pid = (token and words[BIAS + token]) or words[WRITER_PID]
    if not pid:
        return ""
    try:
        with suppress(PermissionError):  # another user's: it lives
            os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    return f" by process {pid}"


def zombies(board: Board) -> bool:
    """Return True while a reader that was given up still lives: it may be in the middle of a copy."""
    words, shape = board.words, board.shape
    lives = [words[LIVES + rank] for rank in range(shape.ranks)]
    if not any(lives):
        return False
    counted = {shape.line(rank, life) for rank, life in enumerate(lives) if not life & 1}
    return any(
        words[shape.of_line(line, PID)] and board.locks.is_held(line)
        for line in range(shape.lines)
        if line not in counted
    )


def check_rank(board: Board, rank: int) -> None:
    """Raise RankError for what is no rank of the ring."""
    if isinstance(rank, bool) or not isinstance(rank, int) or not 0 <= rank < board.shape.ranks:
        raise RankError(f"rank={rank!r} must be an integer from 0 to {board.shape.ranks - 1}")


def _taken(board: Board, rank: int, line: int, operation: str) -> DuplicateRankError:
    pid = board.words[board.shape.of_line(line, PID)]
    return DuplicateRankError(
        f"{operation}: process {pid} reads for rank {rank} and lives; if it is stopped, kill it, or fence({rank}) and "
        "attach then",
        operation=operation,
        missing=(rank,),
    )
