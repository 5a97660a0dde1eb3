"""What both judges of a protocol refuse, where the tests of several protocols ask for the same.

AssertionError: a judge accepts it, or does not say what is wrong where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from models.acceptance import Verdict as ModelVerdict
from tests.traces.events import Event, lines_of
from tla.trace import Verdict

__all__ = ("refuse_empty_post", "refuse_opening", "refuse_undeclared")

Accept: TypeAlias = Callable[[list[str]], Sequence[ModelVerdict]]
Judge: TypeAlias = Callable[[Sequence[list[Event]]], Sequence[Verdict]]


def refuse_opening(accept: Accept, judge: Judge, opening: Event) -> None:
    """A run does not begin with this event."""
    (found,) = accept(lines_of([opening]))
    (verdict,) = judge([[opening]])
    assert not found.accepted
    assert "Open" in found.reason
    assert (verdict.accepted, verdict.position) == (False, 0)
    assert "Open" in verdict.reason


def refuse_empty_post(accept: Accept, judge: Judge, run: list[Event]) -> None:
    """A run has to begin with Open, and its second event to say what was there after it. Changes the run."""
    (verdict,) = accept(lines_of(run[1:]))
    assert "must be Open" in verdict.reason
    assert not judge([run[1:]])[0].accepted
    run[2]["post"] = {}
    (verdict,) = accept(lines_of(run))
    assert (verdict.accepted, verdict.events) == (False, 2)
    assert judge([run])[0].position == 2


def refuse_undeclared(accept: Accept, judge: Judge, run: list[Event]) -> None:
    """A trace has to have lines that are JSON, and a run to begin with Open and then Declare."""
    (verdict,) = accept([])
    assert not verdict.accepted
    (verdict,) = accept(["{"])
    assert "not JSON" in verdict.reason
    (verdict,) = accept(lines_of(run[1:]))
    assert "must be Open" in verdict.reason
    (verdict,) = accept(lines_of([run[0], *run[2:]]))
    assert "must be Declare" in verdict.reason
    assert not judge([run[1:]])[0].accepted
