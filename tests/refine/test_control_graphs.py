"""The comparison of the control model with its specification has teeth: small mistakes of a model are seen."""

from __future__ import annotations

import pytest

from models.control import Control, State
from models.graph import build, compare, named
from tests.refine.control_graphs import FIXED, SHIPPED, compared_shipped, spec_graph


class _LeaveForgets(Control):
    def leave(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().leave(s):
            yield action, after._replace(without=s.without)


class _LostMayTake(Control):
    def ask(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().ask(s):
            yield action, after._replace(without=(*s.without, frozenset()))


class _TheDeadAreNotHeard(Control):
    def answer(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().answer(s):
            if s.status[action.params[0][1]] != "dead":
                yield action, after


class _ReturnForgives(Control):
    def reappear(self, s: State):  # type: ignore[no-untyped-def]
        for action, after in super().reappear(s):
            rank = action.params[0][1]
            yield action, after._replace(without=tuple(without - {rank} for without in s.without))


MUTANTS = (_LeaveForgets, _LostMayTake, _TheDeadAreNotHeard, _ReturnForgives)


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = FIXED["1 rank, 2 requests"]
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Control(config))))
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(config))))] == []


@pytest.mark.tlc
def test_the_shipped_model_is_its_spec() -> None:
    wanted, difference = compared_shipped(SHIPPED["everything"])
    assert len(wanted.states) > 100
    assert not difference, difference.text()
