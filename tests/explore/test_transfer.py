"""Everything that is claimed of transfers holds, each guard is needed, and the shipped loop has its races."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.transfer import Config, Guards, State, Transfer
from models.transfer_bugs import BUGS
from models.transfer_properties import fairness, liveness
from models.transfer_shipped import TransferShipped
from models.transfer_shipped_races import RACES
from tests.explore.claims import broken, counterexample_is_as_long, counts_are_those, shortest
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tests.refine.transfer_graphs import FIXED
from tests.verify.configured import configured
from tla import manifest

R = frozenset[int]

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "Agreed": {"AllOrNone": 5, "StillIsQuiet": 11},
    "StartCounts": {"AllOrNone": 8, "StillIsQuiet": 12},
    "DoneAfterReport": {"AllOrNone": 10, "StillIsQuiet": 16},
    "WithdrawTells": {"OneResult": 2},
    "KeepsStarted": {"CancelledUntouched": 6},
    "EndedStays": {"EndStays": 8, "OneResult": 8, "OncePerRank": 8},
    "InOrder": {"KindInOrder": 11},
    "OverdueHeld": {"TargetsHeld": 6, "FreeIsStill": 7},
    "AbandonHolds": {"TargetsHeld": 6, "FreeIsStill": 7},
    "DoneAfterSettle": {"StillIsQuiet": 11},
}
ENTRIES = [
    entry
    for entry in manifest.load()
    if entry.module in ("MCTransfer", "MCTransferShipped") and entry.mode == "check" and entry.distinct < 1200
]


def test_the_model_has_the_contract_names() -> None:
    names_are_those("transfer", Transfer(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    parameters_are_those("transfer", (edge for config in FIXED.values() for edge in build(Transfer(config)).edges))


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("transfer", Guards, BUGS)
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    assert shortest(Transfer(BUGS[guard].config)) == FAILS[guard]


def _broken(config: Config) -> set[str]:
    return broken(Transfer(config), liveness(config), fairness(config))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_its_guard_it_does_not_go_on(guard: str) -> None:
    config = BUGS[guard].config
    assert BUGS[guard].violates in _broken(config)
    assert _broken(replace(config, guards=Guards())) == set()


@pytest.mark.parametrize(
    "guard",
    [*("WithdrawTells", "KeepsStarted", "EndedStays", "InOrder"), *("OverdueHeld", "AbandonHolds", "DoneAfterSettle")],
)
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
        counterexample_is_as_long(model, entry)
        return
    result = counts_are_those(model, entry)
    assert result.unreached == () or model.config.ranks == 1  # type: ignore[attr-defined]


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("transfer", "MCTransfer")
