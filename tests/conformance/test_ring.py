"""Level V3: the code of the ring takes every edge of the models, and would be caught if it did not."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.ring import clearing
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.publisher import Publisher
from fdcomm.testing.kernel import ControlledKernel
from models import ring
from tests.conformance.ring_parts import RingPart
from tests.conformance.ring_plans import SMALL, part_of
from tests.conformance.word_walks import Deviation, drive

R = frozenset[int]


@pytest.mark.parametrize("plan", SMALL)
def test_every_edge(plan: str) -> None:
    done = drive(part_of(plan))
    assert done.edges > done.states > 100
    assert done.walks > 10


@pytest.mark.parametrize(
    ("guard", "rest"),
    [
        ("PublishLast", {}),
        ("AnnouncesBegin", {}),
        ("ChecksLife", {}),
        ("LivesLast", {"puts": 2}),
        ("JoinBarrier", {"joins": 1, "fenceable": R({0})}),
        ("ClearBarrier", {"clears": 1}),
    ],
)
def test_a_model_without_a_guard_is_not_the_codes(guard: str, rest: Any) -> None:
    with pytest.raises(Deviation):
        drive(RingPart(ring.Config(**{"ranks": 1, "puts": 1, **rest, "guards": ring.Guards.without(guard)})))


def test_a_clear_without_a_barrier_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlledKernel, "barrier", lambda self: True)
    with pytest.raises(Deviation, match="barrier reaches"):
        drive(part_of("a clear, which may be killed"))


def test_a_reader_that_does_not_look_whether_it_was_given_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(self: Consumer) -> None:
        self._words[self._cursor] = self.position = self.position + 1

    monkeypatch.setattr(Consumer, "end", end)
    with pytest.raises(Deviation):
        drive(part_of("a reader is given up, and another one comes"))


def test_a_writer_that_stores_the_number_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def publish(self: Publisher, size: int) -> None:
        place = self._seqs[self.slot]
        self._words[place] = self.head = self.head + 1
        self._words[place + 1] = size

    monkeypatch.setattr(Publisher, "publish", publish)
    with pytest.raises(Deviation):
        drive(part_of("a clear, which may be killed"))


def test_a_clear_that_nobody_goes_on_with_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conformance.ring_parts.complete", lambda board: None)
    monkeypatch.setattr(clearing, "complete", lambda board: None)
    with pytest.raises(Deviation):
        drive(part_of("a clear, which may be killed"))
