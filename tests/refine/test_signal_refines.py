"""Every step of a segment's life is a step of the atomic one, or invisible there; the models are their specs."""

from __future__ import annotations

import pytest

from models.explore import explore
from models.graph import build, compare, named
from models.refinement import refine
from models.segments import Config as Abstract
from models.segments import Segments, abstract, image
from models.signal import Config, Guards, Signal, State
from models.signal_bugs import BUGS
from tests.refine.signal_graphs import FIXED, abstract_graph, spec_graph

R = frozenset[int]

# What each action is in the abstract. What is not listed always stutters.
SIMULATES = {
    "Publish": {"Make", "(stutter)"},
    "Unlink": {"Remove"},
    "Open": {"Use", "(stutter)"},
    "Close": {"Forget"},
    "Crash": {"Die", "Forget", "(stutter)"},
    "ForeignCreate": {"Intrude"},
}

# Guards without which somebody who holds a segment can tell, and the step that is no step of Segments.
SEEN = {
    "GuardTaken": "Publish",
    "OwnerChecked": "Publish",
    "LockFirst": "Publish",
    "FillFirst": "Publish",
    "InodeChecked": "Unlink",
    "Supersedes": "Publish",
    "ClearMarks": "Unlink",
    "LinkFirst": "Publish",
}


@pytest.mark.parametrize("name", FIXED)
def test_a_segments_life_refines_the_atomic_one(name: str) -> None:
    config = FIXED[name]
    result = refine(Signal(config), abstract(config), image)
    assert result.ok, str(result.failure)
    assert "Make" in result.simulates["Publish"]
    for action, matched in result.simulates.items():
        assert set(matched) <= SIMULATES.get(action, {"(stutter)"}), action


@pytest.mark.parametrize("guard", SEEN)
def test_a_fault_that_a_holder_can_see_breaks_the_refinement(guard: str) -> None:
    config = BUGS[guard].config
    result = refine(Signal(config), abstract(config), image)
    assert result.failure is not None
    assert result.failure.path.actions[-1].name == SEEN[guard]


@pytest.mark.parametrize("guard", sorted(set(Guards.names()) - set(SEEN)))
def test_a_create_that_is_stuck_does_nothing_wrong(guard: str) -> None:
    config = BUGS[guard].config
    assert refine(Signal(config), abstract(config), image).ok


def test_the_abstract_model_keeps_its_own_promises() -> None:
    model = Segments(Abstract(actors=2, things=2, bold=R({1})))
    result = explore(model)
    assert result.ok, str(result.violation)
    assert (result.distinct, set(result.coverage)) == (650, set(model.actions))


@pytest.mark.tlc
def test_the_abstract_model_is_its_spec() -> None:
    config = Abstract(actors=2, things=2, bold=R({1}))
    difference = compare(abstract_graph(config), named(build(Segments(config))))
    assert not difference, difference.text()


def _mutants(config: Config) -> dict[str, Signal]:
    """Small mistakes that a person could make."""

    class RefusedCreateKeepsTheStaleLock(Signal):
        def drop_guard(self, s: State, p: int) -> State | None:
            after = super().drop_guard(s, p)
            return after and after._replace(lock=s.lock)

    class DeadKeepTheGuard(Signal):
        def crash(self, s: State, p: int) -> State | None:
            after = super().crash(s, p)
            return after and after._replace(guard=s.guard)

    class ClearUnmarked(Signal):
        def mark_gone(self, s: State, p: int) -> State | None:
            after = super().mark_gone(s, p)
            return after and after._replace(mark=s.mark)

    class NeverGivesUp(Signal):
        def give_up(self, s: State, p: int) -> State | None:
            return super().give_up(s, p) if s.pc[p] == "wait" else None

    kinds = (RefusedCreateKeepsTheStaleLock, DeadKeepTheGuard, ClearUnmarked, NeverGivesUp)
    return {kind.__name__: kind(config) for kind in kinds}


@pytest.mark.tlc
def test_the_spec_equals_the_model_and_none_of_its_mutants() -> None:
    config = FIXED["2 creators"]
    wanted = spec_graph(config)
    assert not compare(wanted, named(build(Signal(config))))
    assert [name for name, mutant in _mutants(config).items() if not compare(wanted, named(build(mutant)))] == []
