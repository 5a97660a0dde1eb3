"""Every step of the barriers is a step of the abstract rendezvous, or invisible there; models equal their specs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.barrier import Barrier, Config, Guards, State
from models.barrier_bugs import BUGS
from models.explore import explore
from models.graph import build, compare, named
from models.refinement import refine
from models.rendezvous import Config as Abstract
from models.rendezvous import Rendezvous, abstract, image
from models.rendezvous import State as AbstractState
from tests.refine.barrier_graphs import FIXED, spec_graph
from tests.refine.tlc_graph import function, tlc_graph

R = frozenset[int]
CONFIGS = {
    "2 ranks": Config(labels=2, max_aborts=1, leavers=R({1}), mortal=R({0, 1}), max_rounds=1),
    "3 ranks": Config(ranks=3, labels=2, max_aborts=1, leavers=R({1}), mortal=R({0}), max_rounds=1),
    "1 rank": Config(ranks=1, mortal=R({0})),
}

# What each action is in the abstract. What is not listed always stutters.
SIMULATES = {
    "Join": {"Come"},
    "Leave": {"Go"},
    "Crash": {"Die"},
    "Fence": {"Lose"},
    "Arrive": {"Enter"},
    "Pass": {"Meet"},
    "Mismatch": {"GiveUp", "(stutter)"},
    "Timeout": {"GiveUp"},
    "Abort": {"GiveUp", "(stutter)"},
}

# Guards without which a rank can tell, and the step that is no step of a rendezvous.
SEEN = {
    "FenceWithdraws": "Fence",
    "FenceWakes": "Fence",
    "RoundsCount": "Pass",
    "OneWaitPerRank": "Pass",
    "CrossWaitFound": "Arrive",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_barriers_refine_a_rendezvous(name: str) -> None:
    result = refine(Barrier(CONFIGS[name]), abstract(CONFIGS[name]), image)
    assert result.ok, str(result.failure)
    assert "Meet" in result.simulates["Pass"]
    for action, matched in result.simulates.items():
        assert set(matched) <= SIMULATES.get(action, {"(stutter)"}), action


@pytest.mark.parametrize("guard", SEEN)
def test_a_fault_that_a_rank_can_see_breaks_the_refinement(guard: str) -> None:
    config = replace(BUGS[guard].config, mortal=R({0}))
    result = refine(Barrier(config), abstract(config), image)
    assert result.failure is not None
    assert result.failure.path.actions[-1].name == SEEN[guard]


@pytest.mark.parametrize("guard", sorted(set(Guards.names()) - set(SEEN)))
def test_other_faults_are_about_what_waits_say_and_what_resets_are_for(guard: str) -> None:
    """Who is told what is not in the abstract: the waits that these end, or do not end, might as well be so there."""
    config = BUGS[guard].config
    assert refine(Barrier(config), abstract(config), image).ok


def test_the_abstract_model_keeps_its_own_promises() -> None:
    model = Rendezvous(Abstract(members=3, places=2, most=1))
    result = explore(model)
    assert result.ok
    assert (result.distinct, set(result.coverage)) == (688, set(model.actions))


@pytest.mark.tlc
def test_the_abstract_model_is_its_spec() -> None:
    config = Abstract(members=3, places=1, most=1)

    def decode(state: dict[str, object]) -> AbstractState:
        met = function(state["met"], 3)
        return AbstractState(
            at=function(state["at"], 3),
            met=tuple(function(counts, 1) for counts in met),
            member=function(state["member"], 3),
        )

    constants, fields = config.constants(), AbstractState._fields
    wanted = tlc_graph("common/Rendezvous.tla", constants, fields, decode, "RendezvousSpec")  # type: ignore[arg-type]
    difference = compare(wanted, named(build(Rendezvous(config))))
    assert len(wanted.states) > 50
    assert not difference, difference.text()


def _faulty(config: Config) -> dict[str, Barrier]:
    """Small mistakes that a person could make."""

    class LeaveKeeps(Barrier):
        def leave(self, s: State):  # type: ignore[no-untyped-def]
            for action, after in super().leave(s):
                yield action, after._replace(arrived=s.arrived)

    class TheDeadAreNotServed(Barrier):
        def may_arrive(self, s: State, rank: int) -> bool:
            return s.status[rank] == "live" and super().may_arrive(s, rank)

    class LabelsFirst(Barrier):
        def refused(self, s: State, barrier: int, number: int) -> bool:
            return super().refused(s, barrier, number) and not s.broken[barrier]

    class OrderLost(Barrier):
        def _wait(self, s: State, name: str, *args: int):  # type: ignore[no-untyped-def]
            action, after = super()._wait(s, name, *args)
            return action, after._replace(arrived=tuple(tuple(sorted(there)) for there in after.arrived))

    mutants = {kind.__name__: kind(config) for kind in (LeaveKeeps, TheDeadAreNotServed, LabelsFirst)}
    return mutants | {"OrderLost": OrderLost(replace(config, ranks=3))}


@pytest.mark.tlc
def test_the_spec_tells_the_model_from_its_mutants() -> None:
    config = FIXED["2 ranks, 2 barriers, everything"]
    wanted = spec_graph(config)
    mutants = _faulty(config)
    order = mutants.pop("OrderLost")
    assert not compare(wanted, named(build(Barrier(config))))
    assert [name for name, mutant in mutants.items() if not compare(wanted, named(build(mutant)))] == []
    right = named(build(Barrier(order.config)))
    assert compare(right, named(build(order)))
