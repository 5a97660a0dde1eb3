"""Level V3: the code of typed access takes every edge of the models, and would be caught if it did not."""

from __future__ import annotations

import pytest

from fdcomm.signals import waiting
from fdcomm.signals.access import Access
from fdcomm.signals.layout import SUCCESSOR
from fdcomm.testing.kernel import ControlledKernel
from models import word
from tests.conformance.word_parts import WordPart
from tests.conformance.word_plans import SMALL, part_of
from tests.conformance.word_walks import Deviation, drive


@pytest.mark.parametrize("plan", SMALL)
def test_every_edge(plan: str) -> None:
    done = drive(part_of(plan))
    assert done.edges > done.states > 100
    assert done.walks > 10


@pytest.mark.parametrize("guard", ["Barrier", "TokenFirst", "ClearsLocked"])
def test_a_model_without_a_guard_is_not_the_codes(guard: str) -> None:
    with pytest.raises(Deviation):
        drive(WordPart(word.Config(guards=word.Guards.without(guard))))


def test_a_waiter_without_a_barrier_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlledKernel, "barrier", lambda self: True)
    with pytest.raises(Deviation, match="barrier reaches"):
        drive(part_of("set and wait"))


def test_a_waiter_that_does_not_leave_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "try_take", lambda self, fd, lock: False)
    with pytest.raises(Deviation):
        drive(part_of("set and wait"))


def test_a_waiter_that_sees_the_value_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WAKE", SUCCESSOR)
    with pytest.raises(Deviation):
        drive(part_of("set and wait"))
