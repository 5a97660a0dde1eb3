"""Everything that is claimed of a segment's life holds always, each guard is needed, and TLC counts alike."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.liveness import leads_to
from models.signal import Config, Guards, Signal, State
from models.signal_bugs import BUGS
from models.signal_properties import fairness, liveness
from models.signal_shipped import RACES, SignalShipped
from models.signal_shipped import Config as ShippedConfig
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
from tests.explore.contract import ROOT, contract, guards_are_those, names_are_those, parameters_are_those
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 process": (Config(processes=1, creators=R({0}), attachers=R({0}), mortal=R({0}), full=True), 1284, 49),
    "2 creators": (Config(insisters=R({1}), mortal=R({0, 1})), 1597, 37),
    "2 creators, other software": (Config(insisters=R({1}), mortal=R({0}), foreign=True, full=True), 1747, 38),
    "a creator and an attacher": (Config(creators=R({0}), attachers=R({1}), mortal=R({0})), 3384, 47),
}

# One process, to which everything may happen.
ALONE = Config(processes=1, creators=R({0}), attachers=R({0}), mortal=R({0}), foreign=True, full=True)

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "GuardTaken": {
        "GuardedInside": 2,
        "LeftByCrash": 5,
        "NothingInTheWay": 9,
        "OnlyWhole": 14,
        "HoldersCanKnow": 15,
        "OneOwner": 22,
    },
    "OwnerChecked": {"LiveIsKept": 21},
    "LockFirst": {"LiveIsKept": 19},
    "FillFirst": {"OnlyWhole": 6},
    "InodeChecked": {"OnlyExamined": 27, "LiveIsKept": 27, "HoldersCanKnow": 27},
    "Supersedes": {"HoldersCanKnow": 20, "OneOwner": 21},
    "ClearMarks": {"HoldersCanKnow": 15},
    "LinkFirst": {"OnlyExamined": 10, "LiveIsKept": 10},
    "TempDropped": {"NothingInTheWay": 9},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Signal(config), distinct, depth).unreached == ()
    assert broken(Signal(config), liveness(config), fairness(config)) == set()


def test_the_model_has_the_contract_names() -> None:
    names_are_those("signal", Signal(), State._fields, liveness(Config()), Config().constants(), ordered=False)


def test_the_specification_has_the_contract_names() -> None:
    text = (ROOT / "tla" / "signal" / "Signal.tla").read_text(encoding="utf-8")
    relation = text.partition("\nCalls(p) ==")[2].partition("\nSpec ==")[0]
    taken = set(re.findall(r"\b([A-Z]\w+)(?=\(p)|(?<=Next == )\w+", relation)) - {
        "",
        "Calls",
        "Create",
        "Clear",
        "Attach",
    }
    assert taken | {"ForeignCreate"} == {action["name"] for action in contract("signal")["action"]}


def test_actions_carry_the_contract_parameters() -> None:
    parameters_are_those("signal", build(Signal(ALONE)).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("signal", Guards, BUGS)
    for name, violates in ((guard["constant"], guard["violates"]) for guard in contract("signal")["guard"]):
        text = (ROOT / "tla" / "signal" / f"MCSignal_bug_{name}.cfg").read_text(encoding="utf-8")
        assert re.search(rf"\b{violates}\b", text)
        assert re.search(rf"\b{name} = FALSE\b", text)


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    fails_as_shortly(Signal(BUGS[guard].config), BUGS[guard].violates, FAILS[guard])


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    assert explore(Signal(replace(BUGS[guard].config, guards=Guards()))).violation is None


def test_a_killed_create_that_is_not_cleaned_up_stops_every_later_one() -> None:
    config = BUGS["TempDropped"].config
    graph = build(Signal(config))
    for name, properties in liveness(config).items():
        lassos = [lasso for prop in properties if (lasso := leads_to(graph, prop, fairness(config)))]
        assert lassos, name
        assert all("make" in state.pc and state.temp for lasso in lassos for state in lasso.cycle)


def test_a_process_can_die_at_every_step() -> None:
    graph = build(Signal(ALONE))
    died = {before.pc[action.params[0][1]] for before, action, _ in graph.edges if action.name == "Crash"}
    meaning = next(item["meaning"] for item in contract("signal")["variable"] if item["name"] == "pc")
    steps = [
        step for program in re.findall(r"(?:create|clear|attach): ([\w, -]+)", meaning) for step in program.split(", ")
    ]
    assert len(steps) > 20
    assert died == {"idle", *steps}


def test_what_a_killed_replace_has_marked_is_set_right_by_the_next_create() -> None:
    graph = build(Signal(Config(insisters=R({1}), mortal=R({1}))))
    left = [s for s in graph.states if s.guard == -1 and s.name and s.mark[s.name - 1]]
    assert any(s.name in s.owned[0] for s in left), "no replace of a live segment died between its two steps"
    for before, action, after in graph.edges:
        if action.name == "Examine" and before.name:
            assert after.mark[before.name - 1] == 0


# -- as shipped ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("race", RACES)
def test_the_shipped_use_has_the_race(race: str) -> None:
    found = explore(SignalShipped(RACES[race].config), only={RACES[race].violates}).violation
    assert found is not None


def test_the_shipped_use_works_for_one_creator_and_attachers_of_its_tree() -> None:
    result = explore(SignalShipped(ShippedConfig()))
    assert result.ok, str(result.violation)
    three = ShippedConfig(processes=3, attachers=R({1, 2}), exits=R({1, 2}), restarts=R({2}))
    assert explore(SignalShipped(three)).ok


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("B58", {"alone": R()}),
        ("C11", {"alone": R()}),
        ("B59", {"unregisters": False}),
        ("B61", {"ordered": True}),
        ("B69", {"ordered": True}),
        ("B62", {"creators": R({0})}),
        ("C12", {"creators": R({0})}),
        ("B56", {"creators": R({0})}),
        ("G10", {"restarts": R()}),
        ("G10_clear", {"creators": R({0})}),
        ("P12_3", {"creators": R({0}), "if_missing": R({0})}),
        ("B99", {"restarts": R()}),
    ],
)
def test_the_race_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    result = explore(SignalShipped(replace(RACES[race].config, **repair)), only={RACES[race].violates})
    assert result.violation is None
    assert result.complete


# -- the manifest ----------------------------------------------------------------------------------------------------

_FIXED = {"P": "processes", "I": "files", "Creators": "creators", "Insisters": "insisters", "Attachers": "attachers"}
_FIXED |= {"Mortal": "mortal", "Foreign": "foreign", "Full": "full"}
_SHIPPED = {"P": "processes", "I": "objects", "Creators": "creators", "IfMissing": "if_missing"}
_SHIPPED |= {"Attachers": "attachers", "Probers": "probers", "Clearers": "clearers", "Exits": "exits"}
_SHIPPED |= {"Restarts": "restarts", "Alone": "alone", "Ordered": "ordered", "Unregisters": "unregisters"}
_ENTRIES = [entry for entry in entries_of("MCSignal", "MCSignalShipped") if entry.mode == "check"]


def _model(entry: manifest.Entry) -> Model[Any]:
    if entry.module == "MCSignalShipped":
        return SignalShipped(configured(ShippedConfig, _SHIPPED, constants_of(entry)))
    return Signal(configured(Config, _FIXED, constants_of(entry), Guards))


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "holds", 3500), ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    # Of the shipped use in an environment without limits nothing is claimed.
    counts_are_those(_model(entry), entry, only=() if entry.name.endswith("_all") else None)


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "violates", 3500), ids=lambda entry: str(entry.name))
def test_counterexamples_are_as_short_as_those_of_tlc(entry: manifest.Entry) -> None:
    counterexample_is_as_long(_model(entry), entry)
