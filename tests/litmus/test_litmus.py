"""The litmus test in short: nothing is seen that must not be, and what counts outcomes is not blind."""

from __future__ import annotations

import pytest

from tests.litmus.__main__ import MAY, Outcome, main, run
from tests.litmus.sides import PATTERNS

pytestmark = pytest.mark.multiproc


def test_nothing_is_seen_that_must_not_be(seed: int) -> None:
    outcomes = run(0.3, seed, 20_000)
    assert [outcome.pattern for outcome in outcomes] == list(PATTERNS)
    assert [str(outcome) for outcome in outcomes if not outcome.ok] == []


def test_an_outcome_is_judged() -> None:
    assert not Outcome("message passing", 10, 1, 1.0, True).ok
    assert not Outcome("store buffering, fences", 10, 1, 1.0, True).ok
    assert not Outcome("torn stores", 0, 0, 1.0, True).ok
    assert all(Outcome(name, 10, 1, 1.0, True).ok for name in MAY)
    assert not Outcome("store buffering, barrier of one side", 10, 1, 1.0, True).ok
    assert Outcome("store buffering, barrier of one side", 10, 1, 1.0, False).ok


def test_a_payload_that_is_late_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    # The planted fault: a side that stores the number first is one that both call late.
    assert run(0.2, 1, 2_000, ("planted: number first",))[0].seen > 0
    monkeypatch.setattr("tests.litmus.__main__.run", lambda *_: [Outcome("message passing", 10, 1, 1.0, True)])
    assert main([]) == 1
    assert "MUST NOT BE" in capsys.readouterr().out
