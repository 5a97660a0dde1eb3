"""Everything that is claimed of pauses holds, each guard is needed, and the shipped pause has its races."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from models import pause_shipped
from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.liveness import leads_to
from models.pause import Config, Guards, Pause, State
from models.pause_bugs import BUGS
from models.pause_properties import fairness, liveness
from tests.explore.claims import (
    broken,
    configured,
    constants_of,
    everything_holds,
    is_what_tlc_finds,
    shortest,
)
from tests.explore.contract import (
    ROOT,
    contract,
    guards_are_those,
    names_are_those,
    parameters_are_those,
    races_are_those,
)
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 rank": (Config(ranks=1, mortal=R({0}), leavers=R({0}), impatient=R({1})), 115, 9),
    "2 ranks, crash": (Config(leavers=R({1}), mortal=R({0}), impatient=R({1})), 625, 12),
    "2 clients": (Config(ranks=1, clients=2, mortal=R({0})), 377, 10),
    "jobs are parked": (Config(modes=R({0}), max_jobs=2), 330, 19),
    "all modes": (Config(ranks=1, modes=R({0, 1, 2}), max_orders=3, impatient=R({1})), 445, 14),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Pause(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("pause", Pause(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    both = Config(ranks=1, clients=2, modes=R({0}), mortal=R({0}), leavers=R({0}), impatient=R({1}))
    parameters_are_those("pause", build(Pause(both)).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("pause", Guards, BUGS)


# -- guards --------------------------------------------------------------------------------------------------------

# Guard -> what fails without it, and the length of a shortest counterexample.
FAILS = {
    "TakeShuts": {"QuietMeansShut": 4, "PausedMeansStill": 5, "HeldMeansPaused": 6},
    "AllRanks": {"PausedMeansStill": 3, "HeldMeansPaused": 4},
    "OldOrdersDropped": {"QuietMeansShut": 7, "PausedMeansStill": 8, "HeldMeansPaused": 9},
    "JoinsShut": {"QuietMeansShut": 2, "PausedMeansStill": 3, "HeldMeansPaused": 4},
    "HoldBlocks": {"HeldMeansPaused": 4},
    "ResumeWaits": {"OnlyOwnerEnds": 2},
}


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if not bug.liveness])
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = BUGS[guard]
    assert shortest(Pause(bug.config)) == FAILS[guard]
    assert bug.violates in FAILS[guard]


def _broken(config: Config) -> set[str]:
    return broken(Pause(config), liveness(config), fairness(config))


def test_without_fencing_a_pause_waits_for_ever() -> None:
    assert "PauseComes" in _broken(BUGS["FenceFrees"].config)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Pause(config)).violation is None
    assert _broken(config) == set()


@pytest.mark.parametrize("name", ["1 rank", "2 clients", "jobs are parked"])
def test_every_call_returns(name: str) -> None:
    assert _broken(COUNTS[name][0]) == set()


@pytest.mark.parametrize("name", ["Done", "Take", "Quiet", "Fence"])
def test_a_pause_needs_each_of_its_parts_to_go_on(name: str) -> None:
    config = Config(ranks=1, mortal=R({0}))
    fair = [one for one in fairness(config) if not one.name.startswith(name)]
    graph = build(Pause(config))
    assert leads_to(graph, liveness(config)["PauseComes"][0], fair) is not None


# -- the shipped pause ---------------------------------------------------------------------------------------------


def test_the_shipped_pause_works_in_a_guarded_environment() -> None:
    result = explore(pause_shipped.PauseShipped())
    assert result.violation is None
    assert (result.distinct, result.depth) == (612, 33)


def test_as_it_is_it_has_its_races_at_once() -> None:
    config = pause_shipped.Config(
        ranks=2, atomic=False, one_branch=False, counts_after=False, starts_active=False, answers=False
    )
    everything = explore(pause_shipped.PauseShipped(config), stop=False)
    assert {"SameRound", "PausedMeansStill", "PausedInStep"} <= set(everything.violations)


@pytest.mark.parametrize("race", pause_shipped.RACES)
def test_the_race_is_found_and_needs_its_environment(race: str) -> None:
    found = pause_shipped.RACES[race]
    violation = explore(pause_shipped.PauseShipped(found.config), only={found.violates}).violation
    assert violation is not None
    repaired = pause_shipped.Config(ranks=found.config.ranks, tasks=found.config.tasks)
    assert explore(pause_shipped.PauseShipped(repaired)).violation is None


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_NAMES = {"N": "ranks", "C": "clients", "MaxJobs": "max_jobs", "MaxOrders": "max_orders", "Modes": "modes"}
_NAMES |= {"Leavers": "leavers", "Mortal": "mortal", "Impatient": "impatient"}
_SHIPPED = {"N": "ranks", "MaxTasks": "tasks"}
_ALL = [entry for entry in manifest.load() if entry.module in ("MCPause", "MCPauseShipped")]
_LARGE = ("MCPause_large", "MCPause_two", "MCPause_orders")
_ENTRIES = [entry for entry in _ALL if entry.mode == "check" and entry.name not in _LARGE]


def _shipped_name(constant: str) -> str:
    return _SHIPPED.get(constant, re.sub(r"(?<=[a-z])([A-Z])", r"_\1", constant).lower())


def _model(constants: Mapping[str, Any]) -> Model[Any]:
    if "MaxTasks" in constants:
        shipped = pause_shipped.Config(**{_shipped_name(name): value for name, value in constants.items()})
        assert shipped.constants() == constants
        return pause_shipped.PauseShipped(shipped)
    return Pause(configured(Config, _NAMES, constants, Guards))


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = _model(constants_of(entry))
    is_what_tlc_finds(model, entry, only=set(entry.config().invariants) & set(model.invariants))


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("pause", "MCPause")
    assert (ROOT / contract("pause")["tla"]).exists()
