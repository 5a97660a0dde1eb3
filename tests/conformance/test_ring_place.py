"""Level V3 of the writer's place: ``Producer.put``, killed or stopped at each step, and that the drive is not blind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.ring import producer
from fdcomm.ring.board import Board
from fdcomm.ring.layout import HEAD, WRITER_PID
from fdcomm.ring.producer import InTurn
from models.ring_place import Config
from tests.conformance.ring_place_drive import PLANS, drive

R = frozenset[int]
_KILLED = PLANS["3 processes, 2 are killed"]


def test_every_put() -> None:
    done = drive(_KILLED)
    assert done.calls > 1500
    assert done.edges > 1000


def _sees_and_stores_nothing(self: InTurn) -> None:
    """HEAD stays where the last one who was not killed has left it."""
    words, slots, seqs = self._words, self._slots, self._seqs
    head = words[HEAD]
    while abs(words[seqs[head % slots]]) == head + 1:
        head += 1
    self.head = head
    self.slot = head % slots


def _believes(board: Board) -> str:
    return f" by process {board.words[WRITER_PID]}" if board.words[WRITER_PID] else ""


# What is broken, where it shows, and what differs.
BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Config, str]] = {
    "HEAD is left two messages behind by two that are killed": (
        lambda patch: patch.setattr(InTurn, "sync", _sees_and_stores_nothing),
        _KILLED,
        "HEAD",
    ),
    "each goes on from its last turn": (
        lambda patch: patch.setattr(InTurn, "sync", lambda self: None),
        Config(),
        "numbers",
    ),
    "the word says the name of a dead process": (
        lambda patch: patch.setattr(producer, "holder", _believes),
        Config(writers=3, mortal=R({0}), stoppable=R({1})),
        "what was told",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    break_it, config, what = BROKEN[fault]
    break_it(monkeypatch)
    with pytest.raises(AssertionError, match=f"{what}.* differ after"):
        drive(config)
