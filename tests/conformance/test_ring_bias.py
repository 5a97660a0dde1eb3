"""Level V3 of the biased writer's place: that the drive of ``Producer.put`` is not blind."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.ring import producer
from fdcomm.ring.locks import KernelLocks
from fdcomm.ring.place import WriterPlace
from fdcomm.testing.kernel import ControlledKernel
from models.ring_bias_state import Config, Guards
from tests.conformance.ring_bias_part import BiasPart
from tests.conformance.word_walks import Deviation, drive
from tests.schedules.ring_bias_programs import LooksFirst

R = frozenset[int]


@pytest.mark.parametrize(
    ("guard", "rest"),
    [
        ("SaysFirst", {}),
        ("EndBarrier", {}),
        ("WaitsOut", {}),
        ("AsksToken", {"mortal": R({0})}),
        ("Marks", {}),
        ("CleansWord", {}),
        ("ReadsHead", {}),
    ],
)
def test_a_model_without_a_guard_is_not_the_codes(guard: str, rest: Any) -> None:
    with pytest.raises(Deviation):
        drive(BiasPart(Config(**{**rest, "guards": Guards.without(guard)})))


def test_a_place_that_looks_first_is_found() -> None:
    with pytest.raises(Deviation, match="is about to"):
        drive(BiasPart(Config(), LooksFirst))


class _StaysSure(WriterPlace):
    """Whatever becomes of its put."""

    sure = property(lambda self: True, lambda self, value: None)


def test_a_place_that_is_always_sure_is_found() -> None:
    with pytest.raises(Deviation):
        drive(BiasPart(Config(puts=3, cuts=True), _StaysSure))


def test_who_ends_a_bias_without_a_barrier_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlledKernel, "barrier", lambda self: True)
    with pytest.raises(Deviation, match="barrier reaches"):
        drive(BiasPart(Config()))


def test_who_does_not_wait_for_the_put_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KernelLocks, "wait_until", lambda self, attempt, *rest: attempt())
    with pytest.raises(Deviation):
        drive(BiasPart(Config()))


def test_a_producer_that_ends_no_bias_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(producer, "BIAS", 0)  # a word that is 0 here: it finds nobody biased
    with pytest.raises(Deviation):
        drive(BiasPart(Config()))
