"""Everything that is claimed of status holds in every reachable state, each guard is needed, TLC counts alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models import status_shipped as shipped
from models import status_shipped_races as races
from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.liveness import leads_to
from models.status import Config, Guards, State, Status
from models.status_bugs import BUGS
from models.status_properties import fairness, liveness
from tests.explore.claims import (
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
    "1 part, 2 requests": (Config(max_asked=2, mortal=R({0})), 514, 20),
    "2 parts": (Config(parts=2, mortal=R({0})), 284, 19),
    "2 stages": (Config(components=2, mortal=R({0})), 865, 26),
    "weights, cache and tree of 1 rank": (Config(components=3, per_stage=2), 238, 16),
}

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "ReportsKeyed": {"NormalMeansFull": 7, "ClearedMeansEmpty": 9},
    "WaitsForAll": {"ClearedMeansEmpty": 6},
    "OneAtATime": {"EndStays": 2},
    "Staged": {"InStages": 1},
    "JoinMarks": {"ClearedMeansEmpty": 8},
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Status(config), distinct, depth).unreached == ()
    graph = build(Status(config))
    timed = liveness(config)["RequestsEnd"]
    assert [prop.name for prop in timed if leads_to(graph, prop, fairness(config))] == []


@pytest.mark.parametrize("config", [Config(parts=2, mortal=R({0}), returns=False), Config(components=2)])
def test_a_request_ends_by_itself_when_all_parts_are_there(config: Config) -> None:
    graph = build(Status(config))
    for prop in liveness(config)["WorkEnds"]:
        assert leads_to(graph, prop, fairness(config, timed=False)) is None


def test_the_model_has_the_contract_names() -> None:
    names_are_those("status", Status(), State._fields, liveness(Config()), Config().constants(), ordered=False)


def test_actions_carry_the_contract_parameters() -> None:
    config = Config(components=2, mortal=R({0}))
    parameters_are_those("status", build(Status(config)).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("status", Guards, BUGS)


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    fails_as_shortly(Status(BUGS[guard].config), BUGS[guard].violates, FAILS[guard], 4000)


@pytest.mark.parametrize("guard", [name for name in BUGS if BUGS[name].liveness])
def test_without_the_guard_a_request_does_not_end(guard: str) -> None:
    bug = BUGS[guard]
    graph, fair = build(Status(bug.config)), fairness(bug.config, timed=bug.violates == "RequestsEnd")
    lassos = [lasso for prop in liveness(bug.config)[bug.violates] if (lasso := leads_to(graph, prop, fair))]
    assert lassos
    assert all("open" in state.outcome for lasso in lassos for state in lasso.cycle)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Status(config)).violation is None
    timed = BUGS[guard].violates != "WorkEnds"
    graph = build(Status(config))
    props = liveness(config)["RequestsEnd" if timed else "WorkEnds"]
    assert [prop.name for prop in props if leads_to(graph, prop, fairness(config, timed=timed))] == []


def test_what_makes_no_sense_is_refused() -> None:
    wrongs: list[dict[str, Any]] = [{"parts": 0}, {"mortal": R({1})}, {"without": R({1})}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="must be"):
            Config(**wrong)


# -- the shipped words ------------------------------------------------------------------------------------------------


def _shown(race: races.Race) -> object:
    model = shipped.StatusShipped(race.config)
    if race.liveness:
        return leads_to(build(model), races.answered, races.fairness(model))
    return explore(model, only={race.violates}).violation


@pytest.mark.parametrize("name", races.RACES)
def test_the_shipped_words_have_the_race(name: str) -> None:
    assert _shown(races.RACES[name]) is not None


@pytest.mark.parametrize(("workers", "movers", "distinct"), [(1, 1, 80), (1, 2, 170), (1, 3, 374)])
def test_the_shipped_words_work_when_all_are_calm(workers: int, movers: int, distinct: int) -> None:
    model = shipped.StatusShipped(shipped.Config(workers=workers, movers=movers))
    result = explore(model)
    assert result.ok, str(result.violation)
    assert result.distinct == distinct
    assert leads_to(build(model), races.answered, races.fairness(model)) is None


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P7.1", {"calm": True}),
        ("P7.2", {"workers": 1}),
        ("P7.3", {"calm": True}),
        ("P7.5", {"tree_first": False}),
        ("P7.6", {"tree_dies": False}),
        ("P7.7", {"failing": R()}),
        ("P7.8", {"may_give_up": False}),
        ("B45", {"write_back": False}),
        ("B46", {"may_give_up": False}),
        ("B47", {"cross_wait": False}),
        ("B48", {"movers": 1}),
    ],
)
def test_the_race_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    found = races.RACES[race]
    assert _shown(replace(found, config=replace(found.config, **repair))) is None


# -- the manifest ------------------------------------------------------------------------------------------------------

_FIXED = {"K": "components", "PerStage": "per_stage", "N": "parts", "Without": "without", "MaxAsked": "max_asked"}
_FIXED |= {"Mortal": "mortal", "Returns": "returns"}
_SHIPPED = {"NW": "workers", "NS": "movers", "MaxAsked": "max_asked", "Calm": "calm", "TreeFirst": "tree_first"}
_SHIPPED |= {"TreeDies": "tree_dies", "Failing": "failing", "Absent": "absent", "MayGiveUp": "may_give_up"}
_SHIPPED |= {"WriteBack": "write_back", "CrossWait": "cross_wait"}
_ENTRIES = entries_of("MCStatus", "MCStatusShipped")


def _model(entry: manifest.Entry) -> Model[Any]:
    if entry.module == "MCStatusShipped":
        return shipped.StatusShipped(configured(shipped.Config, _SHIPPED, constants_of(entry)))
    return Status(configured(Config, _FIXED, constants_of(entry), Guards))


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "holds", 3000), ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    counts_are_those(_model(entry), entry)


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "violates", 3000), ids=lambda entry: str(entry.name))
def test_counterexamples_are_as_short_as_those_of_tlc(entry: manifest.Entry) -> None:
    counterexample_is_as_long(_model(entry), entry)


def test_every_race_of_the_shipped_words_has_its_configuration() -> None:
    named = {entry.race for entry in small_entries(_ENTRIES, "violates", 3000) if entry.module == "MCStatusShipped"}
    assert named == {name for name, race in races.RACES.items() if not race.liveness}
