"""Everything that is claimed of blocks holds, each guard is needed, and the shipped steps have their races."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models.blocks import Blocks, Config, Guards, State
from models.blocks_bugs import BUGS
from models.blocks_properties import fairness, liveness
from models.blocks_shipped import RACES, BlocksShipped, promises
from models.blocks_shipped import Config as ShippedConfig
from models.blocks_shipped import fairness as shipped_fairness
from models.explore import explore
from models.graph import build
from tests.explore.claims import broken, everything_holds, is_what_tlc_finds, shortest
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tests.verify.configured import configured
from tla import manifest

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 task, 1 reset": (Config(refuses=True, cancels=True, mortal=True, closes=True, overruns=True), 2918, 20),
    "leases of 2 blocks": (Config(device=2, host=0, sizes=frozenset({1, 2}), in_place=True, refuses=True), 1694, 18),
    "2 tasks": (Config(max_tasks=2), 2832, 23),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS: dict[str, dict[str, int]] = {
    "AwaitsHandled": {"Conservation": 8},
    "AwaitsResults": {"Conservation": 5, "WritersOwn": 7},
    "CountsIssuing": {"Conservation": 5, "WritersOwn": 7},
    "LeasesEnd": {"Conservation": 5, "StaleMovesNothing": 5},
    "KeepsUntilResult": {"Conservation": 4, "WritersOwn": 6},
    "TellsWaiters": {"NobodyIsLeft": 4},
    "EndTells": {"NobodyIsLeft": 4},
    "HoldsLate": {"WritersOwn": 9},
    "AwaitsLate": {"Conservation": 11, "WritersOwn": 11},
    "SettlesOnce": {"Conservation": 13},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Blocks(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("blocks", Blocks(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    edges = build(Blocks(COUNTS["1 task, 1 reset"][0])).edges
    parameters_are_those("blocks", edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("blocks", Guards, BUGS)
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    assert shortest(Blocks(BUGS[guard].config)) == FAILS[guard]


def _broken(config: Config) -> set[str]:
    return broken(Blocks(config), liveness(config), fairness(config))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_its_guard_it_does_not_go_on(guard: str) -> None:
    assert _broken(BUGS[guard].config) == {BUGS[guard].violates}


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Blocks(config)).violation is None
    assert _broken(config) == set()


# -- the shipped steps ---------------------------------------------------------------------------------------------


def _shipped_broken(config: ShippedConfig) -> set[str]:
    found = broken(BlocksShipped(config), promises(config), shipped_fairness(config))
    return found | set(explore(BlocksShipped(config), stop=False).violations)


def test_the_shipped_steps_work_in_a_guarded_environment() -> None:
    config = ShippedConfig(tasks=2, quiet=True)
    assert explore(BlocksShipped(config)).distinct == 90
    assert _shipped_broken(config) == set()


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P8.1", {"quiet": True}),
        ("P8.2", {"quiet": True}),
        ("P8.3", {"bad": frozenset()}),
        ("P8.4", {"form": "none", "pauses": False}),
        ("P8.5", {"full": False}),
        ("P8.6", {"quiet": True}),
        ("P8.7", {"quiet": True}),
        ("B08", {"quiet": True}),
    ],
)
def test_the_race_is_found_and_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    config, violates = RACES[race]
    assert violates in _shipped_broken(config)
    assert _shipped_broken(replace(config, **repair)) == set()


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_ENTRIES = [entry for entry in manifest.find("blocks") if entry.mode == "check" and entry.distinct < 3000]


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    is_what_tlc_finds(configured(entry), entry)


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("blocks", "MCBlocks")
