"""Level V3 of the ring's segments: what the code that ships does on real files, and that the drive is not blind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fdcomm.ring import overflow
from fdcomm.ring.layout import COMPLEX, FORM, SEGMENTS, SEQ, SIZE
from fdcomm.ring.overflow import Overflows
from models.ring_overflow import Config
from tests.conformance.ring_overflow_drive import PLANS, drive

R = frozenset[int]
_LEAVES = Config(writers=2, leavers=R({0}))


@pytest.mark.parametrize("plan", list(PLANS)[:1])
def test_every_call(plan: str) -> None:
    done = drive(PLANS[plan])
    assert done.calls > 2000
    assert done.edges > 1500


def _first_slot(self: Overflows) -> dict[int, int]:
    words, shape = self._memory.board.words, self._memory.shape
    places = [shape.of_slot(slot) for slot in reversed(range(shape.slots))]
    return {words[at + FORM]: words[at + SEQ] for at in places if words[at + SIZE] == COMPLEX}


# What is broken, and where it shows.
BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], Config]] = {
    "a slot that names a segment no longer": (
        lambda patch: patch.setattr(Overflows, "_said", _first_slot),
        Config(writers=2, slots=2, leavers=R({0})),
    ),
    "readers that come back are forgotten": (
        lambda patch: patch.setattr(Overflows, "_over", lambda self, passed: passed),
        Config(slots=2, back=True, mortal=R({1})),
    ),
    "what has no name stays": (
        lambda patch: patch.setattr(overflow, "_sweep", lambda memory, deadline: None),
        Config(writers=2, puts=1, mortal=R({0})),
    ),
    "nothing is taken over": (lambda patch: patch.setattr(Overflows, "_take", lambda *_: 0), _LEAVES),
    "the number is stored late": (
        lambda patch: patch.setattr(overflow, "SEGMENTS", SEGMENTS + 1),
        _LEAVES,
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    break_it, config = BROKEN[fault]
    break_it(monkeypatch)
    with pytest.raises(AssertionError, match="differ after"):
        drive(config)
