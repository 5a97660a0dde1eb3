"""The status model is its specification: equal graphs, and unequal ones for a model with a mistake in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.graph import build, compare, named
from models.status import Config, State, Status, Steps
from tests.refine.status_graphs import FIXED, SHIPPED, compared, compared_shipped, spec_graph

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_model_is_its_specification(name: str) -> None:
    wanted, difference = compared_shipped(SHIPPED[name])
    assert len(wanted.states) > 300
    assert not difference, difference.text()


def _mutants(config: Config) -> dict[str, Status]:
    """Small mistakes that a person could make."""

    class JoinKeepsItsReport(Status):
        def join(self, s: State) -> Steps:
            for action, after in super().join(s):
                yield action, after._replace(reports=s.reports)

    class LateStaysOpen(Status):
        def expire(self, s: State) -> Steps:
            for action, after in super().expire(s):
                yield action, after._replace(changing=s.changing)

    class StagesBackwards(Status):
        def _first(self, s: State, goal: str) -> frozenset[int]:
            return super()._first(s, "update" if goal == "clear" else "clear") & frozenset(self._todo(s, goal))

    class TheDeadDoNotReport(Status):
        def report(self, s: State) -> Steps:
            for action, after in super().report(s):
                component, part = action.params[0][1], action.params[1][1]
                if s.status[component][part] == "live":
                    yield action, after

    class FailsEarly(Status):
        def fail(self, s: State) -> Steps:
            yield from super().fail(s)
            some = [k for k in s.changing if any(not report.ok for report in s.reports[k])]
            if some and len(s.changing) > 1:
                yield from super().fail(s._replace(changing=frozenset(some)))

    kinds: tuple[Any, ...] = (JoinKeepsItsReport, LateStaysOpen, StagesBackwards, TheDeadDoNotReport)
    mutants = {kind.__name__: kind(config) for kind in kinds}
    return mutants | {"FailsEarly": FailsEarly(replace(config, per_stage=2))}


def test_the_specification_tells_the_model_from_its_mutants() -> None:
    (config,) = FIXED.values()
    wanted = spec_graph(config)
    mutants = _mutants(config)
    early = mutants.pop("FailsEarly")
    assert not compare(wanted, named(build(Status(config))))
    assert [name for name, mutant in mutants.items() if not compare(wanted, named(build(mutant)))] == []
    assert compare(named(build(Status(early.config))), named(build(early)))


def test_fewer_parts_are_parts_that_are_left_out() -> None:
    config = Config(components=2, parts=2, without=frozenset({3}), max_asked=1)
    wanted, difference = compared(config)
    assert wanted.states
    assert not difference, difference.text()
