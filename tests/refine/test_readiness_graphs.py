"""The readiness model is its specification: equal graphs, and unequal ones for a model with a mistake in it."""

from __future__ import annotations

from typing import Any

import pytest

from models.graph import build, compare, named
from models.readiness import Config, Readiness, State
from tests.refine.readiness_graphs import FIXED, SHIPPED, compared_shipped, spec_graph

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_model_is_its_specification(name: str) -> None:
    wanted, difference = compared_shipped(SHIPPED[name])
    assert len(wanted.states) > 300
    assert not difference, difference.text()


class _JoinForgetsStamps(Readiness):
    def _join(self, s: State, p: int) -> State | None:
        after = super()._join(s, p)
        return None if after is None else after._replace(stamps=(frozenset(),))


class _FenceKeepsStuck(Readiness):
    def _fence(self, s: State, p: int) -> State | None:
        after = super()._fence(s, p)
        return None if after is None else after._replace(stuck=s.stuck)


class _TheDeadBeat(Readiness):
    def _beat(self, s: State, p: int) -> State | None:
        alive = s._replace(status=tuple("live" if status == "dead" else status for status in s.status))
        after = super()._beat(alive, p)
        return None if after is None else after._replace(status=s.status)


class _WhoReloadsStaysStuck(Readiness):
    def _withdraw(self, s: State, p: int) -> State | None:
        after = super()._withdraw(s, p)
        return None if after is None else after._replace(stuck=s.stuck)


class _StuckOnesCount(Readiness):
    def _counts(self, s: State, p: int) -> bool:
        return s.said[p] == "ready" and self._fresh(s, p)


MUTANTS: tuple[Any, ...] = (_JoinForgetsStamps, _FenceKeepsStuck, _TheDeadBeat, _WhoReloadsStaysStuck, _StuckOnesCount)


def test_the_specification_tells_the_model_from_its_mutants() -> None:
    (config,) = FIXED.values()
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Readiness(config))))
    assert [kind.__name__ for kind in MUTANTS if not compare(wanted, named(build(kind(config))))] == []


def test_every_action_is_in_the_graph_that_is_compared() -> None:
    (config,) = FIXED.values()
    taken = {action.name for _, action, _ in build(Readiness(config)).edges}
    assert taken == set(Readiness(Config()).actions)
