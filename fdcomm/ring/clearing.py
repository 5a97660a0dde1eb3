"""Take back what nobody has begun: under the lock of the members, and finished by somebody else if its process dies."""

from __future__ import annotations

from fdcomm.deadline import Deadline
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BEGUN, CLEARED, GATE, SEQ
from fdcomm.ring.waiting import tell_of_room

__all__ = ("clear", "complete", "epoch_of")


def epoch_of(board: Board) -> int:
    """Return how many clears there were."""
    return board.words[GATE] // 2


def clear(board: Board, epoch: int | None, deadline: Deadline, operation: str = "clear") -> bool:
    """Take back every message that nobody has begun, and free its slot. What somebody has begun stays for all.

    Args:
        epoch: The clear is for this epoch: if there was one since, nothing is done, so that the clears of all ranks
            are one. None: whatever the epoch is.

    Returns:
        False when nothing was done.
    """
    with board.locks.members(deadline, operation):
        complete(board)
        gate = board.words[GATE]
        if epoch is not None and epoch != gate // 2:
            return False
        board.words[GATE] = gate + 1
        _take_back(board)
        return True


def complete(board: Board) -> None:
    """Do what is left of a clear whose process was killed. The lock of the members must be held."""
    if board.words[GATE] & 1:
        _take_back(board)


def _take_back(board: Board) -> None:
    words, shape = board.words, board.shape
    # From here on a reader that announces a message finds the gate closed, and waits.
    board.kernel.barrier()
    head = max(abs(words[shape.of_slot(slot, SEQ)]) for slot in range(shape.slots))
    begun = max(words[shape.of_line(line, BEGUN)] for line in range(shape.lines))
    words[CLEARED] = head
    for number in range(head, max(begun, head - shape.slots), -1):
        place = shape.of_slot((number - 1) % shape.slots, SEQ)
        # What was taken back before is left alone: the writer may be filling that slot just now.
        if words[place] == number:
            words[place] = -number
    words[GATE] += 1
    tell_of_room(board)
