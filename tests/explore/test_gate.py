"""Everything that is claimed of the gate holds, each guard is needed, and the shipped gate has its races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from models import gate_refines, gate_shipped
from models.explore import explore
from models.gate import Config, Gate, Guards, State
from models.gate_bugs import BUGS, FORGETFUL
from models.gate_properties import fairness, liveness
from models.graph import build
from models.guards import Bug
from models.kernel import Model
from models.refinement import refine
from tests.explore.claims import (
    broken,
    configured,
    constants_of,
    entries_of,
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
    "1 rank": (Config(ranks=1, mortal=R({0}), skippers=R({0})), 180, 11),
    "2 ranks": (Config(skippers=R({0}), leavers=R({0}), mortal=R({1})), 4468, 15),
    "1 key again and again": (Config(keys=1, max_issues=3, max_late=3, skippers=R({1})), 158, 15),
    "1 key, crash": (Config(keys=1, max_issues=3, max_late=3, skippers=R({0}), mortal=R({1})), 750, 18),
    "1 key, overlapping requests": (Config(keys=1, max_issues=3, max_late=3, overlap=True, leavers=R({1})), 234, 16),
    "1 key, ends before the first answer": (Config(keys=1, mortal=R({1}), silent=R({1})), 200, 14),
    "3 ranks, room for 1 round": (Config(ranks=3, capacity=1, mortal=R({2})), 5536, 17),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    result = everything_holds(Gate(config), distinct, depth)
    if config.ranks > 1:
        assert result.unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("gate", Gate(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    edges = [
        edge
        for name in ("2 ranks", "1 key, ends before the first answer")
        for edge in build(Gate(COUNTS[name][0])).edges
    ]
    parameters_are_those("gate", edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("gate", Guards, BUGS)


# -- guards --------------------------------------------------------------------------------------------------------

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "KeyedRounds": {"NoMixing": 6, "DifferentKeys": 7, "OneFate": 8},
    "OnePerRank": {"OncePerRound": 5, "NoMixing": 5, "WholeRounds": 6, "OneFate": 8},
    "LateRefused": {"OneFate": 6, "NoMixing": 8},
    "FenceForgets": {"LostOwesNothing": 7},
    "OpenFences": {"ReturnAwaited": 4},
    "VanishLost": {"VanishedIsLost": 2},
    "MaxLate": {"OneFate": 9},
}


def _bug(guard: str) -> Bug[Config]:
    return FORGETFUL if guard == "MaxLate" else BUGS[guard]


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = _bug(guard)
    assert bug.violates in FAILS[guard]
    assert shortest(Gate(bug.config)) == FAILS[guard]


def _broken(config: Config, *, timed: bool) -> set[str]:
    return broken(Gate(config), liveness(config), fairness(config, timed=timed))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_the_guard_it_does_not_go_on(guard: str) -> None:
    bug = BUGS[guard]
    assert bug.violates in _broken(bug.config, timed=bug.timed)


@pytest.mark.parametrize("guard", [*BUGS, "MaxLate"])
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(_bug(guard).config, guards=Guards(), max_late=2)
    assert explore(Gate(config)).violation is None
    assert _broken(config, timed=True) == set()
    assert _broken(config, timed=False) <= {"RoundsEnd"}  # only time ends a round that a live rank does not answer


# -- refinement ----------------------------------------------------------------------------------------------------


def _refined(config: Config) -> bool:
    return refine(gate_refines.Remembering(Gate(config)), gate_refines.abstract(config), gate_refines.image).ok


@pytest.mark.parametrize("name", [name for name, (config, _, _) in COUNTS.items() if config.ranks > 1])
def test_it_collects_answers(name: str) -> None:
    assert _refined(COUNTS[name][0])


@pytest.mark.parametrize("guard", ["KeyedRounds", "OnePerRank", "LateRefused", "MaxLate"])
def test_the_faults_that_an_engine_can_see_break_the_refinement(guard: str) -> None:
    assert not _refined(_bug(guard).config)


# -- the shipped gate ----------------------------------------------------------------------------------------------


def test_the_shipped_gate_works_in_a_guarded_environment() -> None:
    result = explore(gate_shipped.GateShipped(), only={"NoMixing", "OncePerRound", "NoLeakedLock"})
    assert result.violation is None
    assert (result.distinct, result.depth) == (520, 51)


@pytest.mark.parametrize(
    ("race", "length", "repair"),
    [
        ("P10.4", 28, {"barrier": True}),
        ("P11.1", 12, {"barrier": True}),
        ("P11.2", 21, {"conflicts": R()}),
        ("P11.3", 12, None),
    ],
)
def test_the_race_is_found_and_needs_its_environment(race: str, length: int, repair: dict[str, Any] | None) -> None:
    found = gate_shipped.RACES[race]
    violation = explore(gate_shipped.GateShipped(found.config), only={found.violates}).violation
    assert violation is not None
    assert len(violation.path) + 1 == length
    if repair is not None:
        config = replace(found.config, **repair)
        assert explore(gate_shipped.GateShipped(config), only={found.violates}).violation is None


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_NAMES = {"N": "ranks", "K": "keys", "Capacity": "capacity", "MaxLate": "max_late", "MaxIssues": "max_issues"}
_NAMES |= {"Overlap": "overlap", "Skippers": "skippers", "Leavers": "leavers", "Mortal": "mortal", "Silent": "silent"}
_SHIPPED = {"N": "ranks", "M": "requests", "Barrier": "barrier", "Skippers": "skippers", "Mortal": "mortal"}
_SHIPPED |= {"Polling": "polling", "Conflicts": "conflicts"}
_ENTRIES = [entry for entry in entries_of("MCGate", "MCGateShipped") if entry.mode == "check"]


def _model(constants: Mapping[str, Any]) -> Model[Any]:
    if "M" in constants:
        return gate_shipped.GateShipped(configured(gate_shipped.Config, _SHIPPED, constants))
    return Gate(configured(Config, _NAMES, constants, Guards))


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = _model(constants_of(entry))
    is_what_tlc_finds(model, entry, only=set(entry.config().invariants) & set(model.invariants))


def test_the_race_configurations_agree_with_the_contract() -> None:
    races_are_those("gate", "MCGate")
    assert (ROOT / contract("gate")["tla"]).exists()
