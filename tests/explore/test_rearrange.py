"""Everything that is claimed of rearrangements holds, each guard is needed, and the shipped steps have their races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from models import rearrange_shipped
from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.rearrange import Config, Guards, Rearrange, State
from models.rearrange_bugs import BUGS
from models.rearrange_properties import fairness, liveness
from models.rearrange_refines import Handshake, image
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
from tests.explore.contract import ROOT, contract, guards_are_those, names_are_those, parameters_are_those
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "2 ranks, nobody moves": (Config(), 457, 31),
    "2 ranks, a worker moves": (Config(movers=R({3}), failing=R({0}), deaf=R({1})), 2289, 33),
    "2 ranks, a loader moves": (Config(peers=0, movers=R({1}), failing=R({0})), 1024, 31),
    "2 ranks, 1 request, all kinds move": (
        Config(max_requests=1, movers=R({1, 3, 4}), failing=R({0}), deaf=R({1})),
        1119,
        22,
    ),
    "3 ranks": (Config(ranks=3, peers=0, max_requests=1, movers=R({4, 6})), 1074, 23),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Rearrange(config), distinct, depth).unreached == ()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("rearrange", Rearrange(), State._fields, liveness(Config()), Config().constants())


def test_actions_carry_the_contract_parameters() -> None:
    graph = build(Rearrange(COUNTS["2 ranks, 1 request, all kinds move"][0]))
    parameters_are_those("rearrange", graph.edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("rearrange", Guards, BUGS)


# -- guards --------------------------------------------------------------------------------------------------------

# Guard -> what fails without it, and the length of a shortest counterexample.
FAILS = {
    "OneAtATime": {"OneRunning": 2, "SwapsAreRunning": 12, "TablesKept": 16},
    "ReportsKeyed": {"LoadedByAll": 10, "TablesKept": 12},
    "AllPeers": {"PeersReached": 6},
    "FailureFrees": {"LoadedByAll": 3, "TablesKept": 6},
    "SwapKept": {"SwapsAreRunning": 12},
    "InStep": {"SwapsTogether": 10},
}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    assert BUGS[guard].violates in FAILS[guard]
    assert shortest(Rearrange(BUGS[guard].config)) == FAILS[guard]


def _broken(config: Config, *, timed: bool) -> set[str]:
    return broken(Rearrange(config), liveness(config), fairness(config, timed=timed))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_the_guard_it_does_not_go_on(guard: str) -> None:
    assert BUGS[guard].violates in _broken(BUGS[guard].config, timed=BUGS[guard].timed)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Rearrange(config)).violation is None
    assert _broken(config, timed=True) == set()
    assert _broken(config, timed=False) == {"RequestsEnd"}  # only time ends what nobody goes on with


# -- refinement ----------------------------------------------------------------------------------------------------


def _refined(config: Config) -> bool:
    return refine(Rearrange(config), Handshake(config.max_requests or 0), image).ok


@pytest.mark.parametrize("name", COUNTS)
def test_a_reader_of_the_status_word_sees_a_handshake(name: str) -> None:
    assert _refined(COUNTS[name][0])


def test_a_second_request_breaks_the_handshake() -> None:
    assert not _refined(BUGS["OneAtATime"].config)


# -- the shipped steps ---------------------------------------------------------------------------------------------


def test_the_shipped_steps_work_in_a_guarded_environment() -> None:
    result = explore(rearrange_shipped.RearrangeShipped())
    assert result.violation is None
    assert result.unreached == ()
    assert (result.distinct, result.depth) == (104, 30)


@pytest.mark.parametrize(
    ("race", "length", "repair"),
    [
        ("P13.1", 7, {"bytes_first": True}),
        ("P13.2", 3, {"turns": True}),
        ("P13.3", 11, {"turns": True}),
        ("P13.4", 30, {"requesters": 1}),
        ("P13.5", 35, {"requesters": 1}),
        ("P13.6", 17, {"deaf": R()}),
        ("P13.7", 18, {"failing": R()}),
        ("P13.8", 21, {"hasty": False}),
        ("P13.11", 33, {"hasty": False}),
    ],
)
def test_the_race_is_found_and_needs_its_environment(race: str, length: int, repair: dict[str, Any]) -> None:
    found = rearrange_shipped.RACES[race]
    violation = explore(rearrange_shipped.RearrangeShipped(found.config), only={found.violates}).violation
    assert violation is not None
    assert len(violation.path) + 1 == length
    config = replace(found.config, **repair)
    assert explore(rearrange_shipped.RearrangeShipped(config), only={found.violates}).violation is None


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_NAMES = {"N": "ranks", "A": "peers", "MaxRequests": "max_requests", "Movers": "movers", "Failing": "failing"}
_NAMES |= {"Deaf": "deaf"}
_SHIPPED = {"N": "ranks", "M": "requesters", "BytesFirst": "bytes_first", "Turns": "turns", "GivesUp": "gives_up"}
_SHIPPED |= {"Hasty": "hasty", "Failing": "failing", "Deaf": "deaf"}
_ALL = entries_of("MCRearrange", "MCRearrangeShipped")
_ENTRIES = [entry for entry in _ALL if entry.mode == "check" and entry.distinct < 10_000]


def _model(constants: Mapping[str, Any]) -> Model[Any]:
    if "M" in constants:
        return rearrange_shipped.RearrangeShipped(configured(rearrange_shipped.Config, _SHIPPED, constants))
    return Rearrange(configured(Config, _NAMES, constants, Guards))


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = _model(constants_of(entry))
    # TLC does not count what has no instance.
    absent = {"PeerReady", "PeerFailed"} if entry.config().constants.get("A") == "0" else set()
    is_what_tlc_finds(model, entry, only=set(entry.config().invariants) & set(model.invariants), absent=absent)


def test_the_configurations_agree_with_the_contract() -> None:
    spec = contract("rearrange")
    races = {entry.name: entry.race for entry in _ALL}
    for guard in spec["guard"]:
        assert races[f"MCRearrange_bug_{guard['constant']}"] == guard["race"]
    right = [entry.config() for entry in _ALL if entry.module == "MCRearrange" and entry.expect == "holds"]
    checked = {name for config in right for name in (*config.invariants, *config.properties)}
    assert checked == {item["name"] for item in (*spec["invariant"], *spec["property"])}
    assert (ROOT / spec["tla"]).exists()
