"""Everything that is claimed of the barriers holds in every reachable state, each guard is needed, TLC counts alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.barrier import Barrier, Config, Guards, State
from models.barrier_bugs import BUGS
from models.barrier_properties import fairness, liveness
from models.barrier_shipped import RACES, BarrierShipped
from models.barrier_shipped import Config as ShippedConfig
from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.liveness import leads_to
from tests.explore.claims import (
    broken,
    configured,
    constants_of,
    counterexample_is_as_long,
    counts_are_those,
    entries_of,
    everything_holds,
    fails_as_shortly,
    small_entries,
)
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "2 ranks, 2 barriers": (Config(), 40, 11),
    "1 rank, aborts": (Config(ranks=1, max_aborts=1, mortal=R({0}), leavers=R({0})), 324, 12),
    "2 ranks, everything": (
        Config(barriers=1, labels=2, max_aborts=1, named=True, mortal=R({0, 1}), leavers=R({1})),
        296,
        13,
    ),
    "3 ranks, crash": (Config(ranks=3, max_rounds=1, mortal=R({0})), 167, 12),
    "4 ranks": (Config(ranks=4, max_rounds=1), 499, 13),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "FenceWithdraws": {"NoGhostArrival": 4},
    "ResetHarmless": {"ResetBreaksNobody": 3, "EndsForAReason": 3},
    "ResetNamesAbort": {"AbortsHold": 2},
    "RoundsCount": {"PassNeedsAll": 5, "Together": 5},
    "OneWaitPerRank": {"PassNeedsAll": 3, "Together": 3},
    "LabelsChecked": {"OneLabel": 4},
    "RoundsChecked": {"RoundAsNamed": 2},
    "CrossWaitFound": {"NoCrossWait": 4},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Barrier(config), distinct, depth).unreached == ()
    assert broken(Barrier(config), liveness(config), fairness(config)) == set()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("barrier", Barrier(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    config = Config(max_rounds=1, max_aborts=1, mortal=R({0}), leavers=R({1}))
    parameters_are_those("barrier", build(Barrier(config)).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("barrier", Guards, BUGS)


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    fails_as_shortly(Barrier(BUGS[guard].config), BUGS[guard].violates, FAILS[guard], 4000)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Barrier(config)).violation is None


def test_without_its_wake_up_a_fence_leaves_others_waiting() -> None:
    config = BUGS["FenceWakes"].config
    graph = build(Barrier(config))
    lassos = [lasso for prop in liveness(config)["WaitReturns"] if (lasso := leads_to(graph, prop, fairness(config)))]
    assert lassos
    assert all("lost" in state.status and any(state.arrived) for lasso in lassos for state in lasso.cycle)


@pytest.mark.parametrize("race", RACES)
def test_the_shipped_use_has_the_race(race: str) -> None:
    violates = RACES[race].violates
    assert explore(BarrierShipped(RACES[race].config), only={violates}).violation is not None


@pytest.mark.parametrize(("ranks", "tasks"), [(1, 3), (2, 3), (3, 2)])
def test_the_shipped_use_works_with_two_barriers_in_turn(ranks: int, tasks: int) -> None:
    result = explore(BarrierShipped(ShippedConfig(ranks=ranks, max_tasks=tasks)))
    assert result.ok, str(result.violation)


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P4.2", {"turns": 2}),
        ("P4.3", {"resetters": R()}),
        ("G2", {"mortal": R()}),
        ("B26", {"skippers": R()}),
    ],
)
def test_the_race_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    config = replace(RACES[race].config, **repair)
    result = explore(BarrierShipped(config), only={RACES[race].violates})
    assert result.violation is None
    assert result.complete


# -- the manifest ------------------------------------------------------------------------------------------------------

_FIXED = {"N": "ranks", "B": "barriers", "L": "labels", "MaxRounds": "max_rounds", "MaxAborts": "max_aborts"}
_FIXED |= {"Named": "named", "Leavers": "leavers", "Mortal": "mortal"}
_SHIPPED = {"N": "ranks", "Turns": "turns", "MaxTasks": "max_tasks", "Resetters": "resetters", "Mortal": "mortal"}
_SHIPPED |= {"KilledWaiting": "killed_waiting", "Failing": "failing", "Skippers": "skippers"}
_ENTRIES = entries_of("MCBarrier", "MCBarrierShipped")


def _model(entry: manifest.Entry) -> Model[Any]:
    if entry.module == "MCBarrierShipped":
        return BarrierShipped(configured(ShippedConfig, _SHIPPED, constants_of(entry)))
    return Barrier(configured(Config, _FIXED, constants_of(entry), Guards))


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "holds", 3000), ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    counts_are_those(_model(entry), entry)


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "violates", 3000), ids=lambda entry: str(entry.name))
def test_counterexamples_are_as_short_as_those_of_tlc(entry: manifest.Entry) -> None:
    counterexample_is_as_long(_model(entry), entry)
