"""Everything that is claimed of the barriers holds in every reachable state, each guard is needed, TLC counts alike."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
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
from tests.explore.contract import ROOT, contract
from tla.values import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
    result = explore(Barrier(config))
    assert result.violation is None, str(result.violation)
    assert (result.distinct, result.depth, result.complete) == (distinct, depth, True)
    assert result.unreached == ()
    graph = build(Barrier(config))
    for properties in liveness(config).values():
        assert [prop.name for prop in properties if leads_to(graph, prop, fairness(config))] == []


def test_the_model_has_the_contract_names() -> None:
    spec = contract("barrier")
    model = Barrier()
    assert list(State._fields) == [variable["name"] for variable in spec["variable"]]
    assert list(model.actions) == [action["name"] for action in spec["action"]]
    assert list(model.invariants) == [item["name"] for item in spec["invariant"]]
    kinds = {item["name"]: item["kind"] for item in spec["property"]}
    assert list(model.action_properties) == [name for name, kind in kinds.items() if kind == "action"]
    assert list(liveness(Config())) == [name for name, kind in kinds.items() if kind == "liveness"]
    assert set(Config().constants()) == {*spec["constants"], *(guard["constant"] for guard in spec["guard"])}


def test_actions_carry_the_contract_parameters() -> None:
    config = Config(max_rounds=1, max_aborts=1, mortal=R({0}), leavers=R({1}))
    seen = {action.name: [key for key, _ in action.params] for _, action, _ in build(Barrier(config)).edges}
    assert seen == {action["name"]: action["params"] for action in contract("barrier")["action"]}


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards = {guard["constant"]: guard["violates"] for guard in contract("barrier")["guard"]}
    assert [item.name for item in fields(Guards)] == list(guards)
    assert {name: bug.violates for name, bug in BUGS.items()} == guards


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = BUGS[guard]
    found = explore(Barrier(bug.config), only={bug.violates}).violation
    assert found is not None
    assert len(found.path) == FAILS[guard][bug.violates]
    everything = explore(Barrier(bug.config), stop=False, max_states=4000)
    assert {name: len(violation.path) for name, violation in everything.violations.items()} == FAILS[guard]


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

_CONSTANT = re.compile(r"^ +(\w+) = (.+)$", re.MULTILINE)
_FIXED = {"N": "ranks", "B": "barriers", "L": "labels", "MaxRounds": "max_rounds", "MaxAborts": "max_aborts"}
_FIXED |= {"Named": "named", "Leavers": "leavers", "Mortal": "mortal"}
_SHIPPED = {"N": "ranks", "Turns": "turns", "MaxTasks": "max_tasks", "Resetters": "resetters", "Mortal": "mortal"}
_SHIPPED |= {"KilledWaiting": "killed_waiting", "Failing": "failing", "Skippers": "skippers"}


def _entries(expect: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = tomllib.loads((ROOT / "tla" / "manifest.toml").read_text())["config"]
    return [
        entry
        for entry in entries
        if entry["module"] in ("MCBarrier", "MCBarrierShipped")
        and (entry["mode"] == "check" or expect == "holds")
        and entry["expect"] == expect
        and entry["distinct"] < 3000
    ]


def _model(entry: Mapping[str, Any]) -> Model[Any]:
    text = (ROOT / "tla" / "barrier" / f"{entry['name']}.cfg").read_text(encoding="utf-8")
    constants = {name: parse(value) for name, value in _CONSTANT.findall(text)}
    if entry["module"] == "MCBarrierShipped":
        shipped = ShippedConfig(**{_SHIPPED[name]: value for name, value in constants.items()})
        assert shipped.constants() == constants
        return BarrierShipped(shipped)
    guards = {name: constants.pop(name) for name in Guards.names()}
    config = Config(**{_FIXED[name]: value for name, value in constants.items()}, guards=Guards(**guards))
    assert config.constants() == constants | guards
    return Barrier(config)


@pytest.mark.parametrize("entry", _entries("holds"), ids=lambda entry: str(entry["name"]))
def test_counts_are_those_of_tlc(entry: Mapping[str, Any]) -> None:
    model = _model(entry)
    result = explore(model)
    assert result.violation is None
    assert (result.distinct, result.depth) == (entry["distinct"], entry["depth"])
    assert set(model.actions) - set(result.coverage) == set(entry["never"])


@pytest.mark.parametrize("entry", _entries("violates"), ids=lambda entry: str(entry["name"]))
def test_counterexamples_are_as_short_as_those_of_tlc(entry: Mapping[str, Any]) -> None:
    found = explore(_model(entry), only={entry["violates"]}).violation
    assert found is not None
    assert len(found.path) + 1 == entry["depth"]
