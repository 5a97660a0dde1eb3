"""Everything that is claimed of control holds, each guard is needed, and the shipped steps have their races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from models.control import Config, Control, Guards, State
from models.control_bugs import BUGS
from models.control_properties import fairness, liveness
from models.control_shipped import RACES, ControlShipped
from models.control_shipped import Config as ShippedConfig
from models.explore import explore
from models.graph import build
from models.kernel import Model
from tests.explore.claims import (
    broken,
    configured,
    constants_of,
    entries_of,
    everything_holds,
    is_what_tlc_finds,
    shortest,
)
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those, races_are_those
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 rank, 2 requests": (Config(ranks=1, max_asked=2, leavers=R({0}), mortal=R({0}), silent=R({0})), 695, 12),
    "1 rank, room for 1": (
        Config(ranks=1, max_asked=2, capacity=1, leavers=R({0}), mortal=R({0}), silent=R({0})),
        535,
        12,
    ),
    "2 ranks": (Config(leavers=R({1}), mortal=R({0}), silent=R({1})), 920, 14),
    "3 ranks, crash": (Config(ranks=3, mortal=R({2})), 1388, 15),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "Keyed": {"NoMixing": 6, "OncePerRank": 8},
    "LateRefused": {"EndedStays": 5},
    "SkipsEnded": {"TakesOpenInOrder": 4},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Control(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("control", Control(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    edges = build(Control(COUNTS["2 ranks"][0])).edges
    parameters_are_those("control", edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("control", Guards, BUGS)
    assert set(FAILS) == {name for name, bug in BUGS.items() if not bug.liveness}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    assert shortest(Control(BUGS[guard].config)) == FAILS[guard]


def _broken(config: Config, *, timed: bool) -> set[str]:
    return broken(Control(config), liveness(config), fairness(config, timed=timed))


def test_without_its_guards_it_does_not_go_on() -> None:
    assert "LostEnds" in _broken(BUGS["FenceDooms"].config, timed=False)
    assert _broken(BUGS["TimeoutEnds"].config, timed=True) == {"RequestsEnd"}


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Control(config)).violation is None
    assert _broken(config, timed=True) == set()
    assert _broken(config, timed=False) == {"RequestsEnd"}  # only time ends what a live rank does not answer


# -- the shipped steps ---------------------------------------------------------------------------------------------


def test_the_shipped_steps_work_in_a_guarded_environment() -> None:
    result = explore(ControlShipped())
    assert result.ok, str(result.violation)
    assert (result.distinct, result.depth) == (113, 29)


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P14.1", {"impatient": False}),
        ("P14.2", {"max_work": 0}),
        ("P14.4", {"failing": False}),
        ("P14.5", {"raisers": R()}),
    ],
)
def test_the_race_is_found_and_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    found = RACES[race]
    assert explore(ControlShipped(found.config), only={found.violates}).violation is not None
    result = explore(ControlShipped(replace(found.config, **repair)))
    assert (result.violation, result.complete) == (None, True)


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_NAMES = {"N": "ranks", "MaxAsked": "max_asked", "Capacity": "capacity"}
_NAMES |= {"Leavers": "leavers", "Mortal": "mortal", "Silent": "silent"}
_SHIPPED = {"N": "ranks", "MaxAsked": "max_asked", "MaxWork": "max_work", "Impatient": "impatient"}
_SHIPPED |= {"Failing": "failing", "Raisers": "raisers"}
_ENTRIES = [
    entry for entry in entries_of("MCControl", "MCControlShipped") if entry.mode == "check" and entry.distinct < 3000
]


def _model(constants: Mapping[str, Any]) -> Model[Any]:
    if "MaxWork" in constants:
        return ControlShipped(configured(ShippedConfig, _SHIPPED, constants))
    return Control(configured(Config, _NAMES, constants, Guards))


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = _model(constants_of(entry))
    is_what_tlc_finds(model, entry)


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("control", "MCControl")
