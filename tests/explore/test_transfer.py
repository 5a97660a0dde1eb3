"""Everything that is claimed of transfers holds, each guard is needed, and the shipped loop has its races."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from models.transfer import Config, Guards, State, Transfer
from models.transfer_bugs import BUGS
from models.transfer_properties import fairness, liveness
from models.transfer_shipped import TransferShipped
from models.transfer_shipped_races import RACES
from tests.explore.contract import contract
from tests.verify.configured import configured
from tla import manifest

R = frozenset[int]

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "Agreed": {"AllOrNone": 5, "StillIsQuiet": 10},
    "StartCounts": {"AllOrNone": 8, "StillIsQuiet": 12},
    "DoneAfterReport": {"AllOrNone": 9, "StillIsQuiet": 14},
    "WithdrawTells": {"OneResult": 2},
    "KeepsStarted": {"CancelledUntouched": 6},
    "EndedStays": {"EndStays": 7, "OneResult": 7, "OncePerRank": 7},
    "InOrder": {"KindInOrder": 10},
}
SPEC = contract("transfer")
ENTRIES = [
    entry
    for entry in manifest.load()
    if entry.module in ("MCTransfer", "MCTransferShipped") and entry.mode == "check" and entry.distinct < 1200
]


def test_the_model_has_the_contract_names() -> None:
    model = Transfer()
    assert list(State._fields) == [variable["name"] for variable in SPEC["variable"]]
    assert list(model.actions) == [action["name"] for action in SPEC["action"]]
    assert list(model.invariants) == [item["name"] for item in SPEC["invariant"]]
    kinds = {item["name"]: item["kind"] for item in SPEC["property"]}
    assert list(model.action_properties) == [name for name, kind in kinds.items() if kind == "action"]
    assert list(liveness(Config())) == [name for name, kind in kinds.items() if kind == "liveness"]
    assert set(Config().constants()) == {*SPEC["constants"], *(guard["constant"] for guard in SPEC["guard"])}


def test_actions_carry_the_contract_parameters() -> None:
    configs = (
        Config(max_pauses=1),
        Config(ranks=1, mortal=R({0}), leavers=R({0}), silent=R({0}), failing=R({0}), frail=R({1}), impatient=R({1})),
    )
    seen = {
        action.name: [key for key, _ in action.params]
        for config in configs
        for _, action, _ in build(Transfer(config)).edges
    }
    assert seen == {action["name"]: action["params"] for action in SPEC["action"]}


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards = {guard["constant"]: guard["violates"] for guard in SPEC["guard"]}
    assert [item.name for item in fields(Guards)] == list(guards)
    assert {name: bug.violates for name, bug in BUGS.items()} == guards
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    everything = explore(Transfer(BUGS[guard].config), stop=False)
    assert {name: len(violation.path) for name, violation in everything.violations.items()} == FAILS[guard]


def _broken(config: Config) -> set[str]:
    graph, fair = build(Transfer(config)), fairness(config)
    return {name for name, family in liveness(config).items() if any(leads_to(graph, prop, fair) for prop in family)}


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_its_guard_it_does_not_go_on(guard: str) -> None:
    config = BUGS[guard].config
    assert BUGS[guard].violates in _broken(config)
    assert _broken(replace(config, guards=Guards())) == set()


@pytest.mark.parametrize("guard", ["WithdrawTells", "KeepsStarted", "EndedStays", "InOrder"])
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    assert explore(Transfer(replace(BUGS[guard].config, guards=Guards()))).violation is None


@pytest.mark.parametrize("hasty", [False, True])
def test_a_pause_comes_whatever_time_limits_do(hasty: bool) -> None:
    assert "PauseComes" not in _broken(Config(max_pauses=1, hasty=hasty))


# -- the shipped loop ----------------------------------------------------------------------------------------------

# What each race needs of its environment, and what takes it away.
REPAIRS: dict[str, dict[str, Any]] = {
    "P4.1": {"raisers": R()},
    "P5.1": {"slow": False},
    "P5.2": {"clears": False},
    "P5.3": {"clears": False},
    "P5.5": {"goes_on": False},
    "P5.7": {"faulty": R()},
    "P5.9": {"early": False},
    "B08": {"resets": False},
    "B10": {"local": False},
}


@pytest.mark.parametrize("race", RACES)
def test_the_race_is_found_and_needs_its_environment(race: str) -> None:
    found = RACES[race]
    assert explore(TransferShipped(found.config), only={found.violates}).violation is not None
    repaired = replace(found.config, **REPAIRS[race])
    assert explore(TransferShipped(repaired), only={found.violates}).violation is None


# -- what TLC is pinned to find ------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = configured(entry)
    if entry.expect == "violates":
        found = explore(model, only={entry.violates}).violation
        assert found is not None
        assert len(found.path) + 1 == entry.depth
        return
    result = explore(model)
    assert result.violation is None
    assert (result.distinct, result.depth) == (entry.distinct, entry.depth)
    assert set(model.actions) - set(result.coverage) == set(entry.never)
    assert result.unreached == () or model.config.ranks == 1  # type: ignore[attr-defined]


def test_the_race_configurations_agree_with_the_contract() -> None:
    races = {entry.name: entry.race for entry in manifest.load() if entry.module == "MCTransfer"}
    for guard in SPEC["guard"]:
        assert races[f"MCTransfer_bug_{guard['constant']}"] == guard["race"]
