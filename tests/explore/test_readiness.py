"""Everything that is claimed of readiness holds in every reachable state, each guard is needed, TLC counts alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from models import readiness_shipped as shipped
from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from models.readiness import Config, Guards, Readiness, State
from models.readiness_bugs import BUGS
from models.readiness_properties import fairness, liveness
from tests.explore.claims import counterexample_is_as_long, counts_are_those, everything_holds, small_entries
from tests.explore.contract import guards_are_those, names_are_those, parameters_are_those
from tests.verify.configured import configured
from tla import manifest

R = frozenset[int]
ONE = R({0})

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 part, 2 processes": (
        Config(
            max_inc=2,
            mortal=ONE,
            cuts=ONE,
            hangs=ONE,
            failing=ONE,
            reloading=ONE,
            leavers=ONE,
        ),
        653,
        14,
    ),
    "2 components in order": (
        Config(components=2, needs=R({2}), max_waits=2, askers=R({0, 2}), masks=R({1, 3}), failing=ONE),
        981,
        10,
    ),
}

# Guard -> the length of a shortest counterexample.
FAILS = {"EveryPart": 4, "FenceResets": 3, "WordsKeyed": 5, "BeatsKeyed": 9, "AgeCounts": 5, "Ordered": 2}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Readiness(config), distinct, depth).unreached == ()
    graph = build(Readiness(config))
    assert [prop.name for prop in liveness(config)["WaitsEnd"] if leads_to(graph, prop, fairness(config))] == []


@pytest.mark.parametrize("config", [Config(parts=2, mortal=ONE, failing=R({1})), Config(hangs=ONE, failing=ONE)])
def test_trouble_is_told_without_a_time_limit(config: Config) -> None:
    graph = build(Readiness(config))
    for prop in liveness(config)["TroubleTells"]:
        assert leads_to(graph, prop, fairness(config, timed=False)) is None


def test_the_model_has_the_contract_names() -> None:
    names_are_those("readiness", Readiness(), State._fields, liveness(Config()), Config().constants(), ordered=False)


def test_actions_carry_the_contract_parameters() -> None:
    config, _, _ = COUNTS["1 part, 2 processes"]
    parameters_are_those("readiness", build(Readiness(config)).edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("readiness", Guards, BUGS)


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = BUGS[guard]
    found = explore(Readiness(bug.config), only={bug.violates}).violation
    assert found is not None
    assert len(found.path) == FAILS[guard]


@pytest.mark.parametrize("guard", [name for name in BUGS if BUGS[name].liveness])
def test_without_the_guard_trouble_is_not_told(guard: str) -> None:
    bug = BUGS[guard]
    graph, fair = build(Readiness(bug.config)), fairness(bug.config, timed=False)
    lassos = [lasso for prop in liveness(bug.config)[bug.violates] if (lasso := leads_to(graph, prop, fair))]
    assert lassos
    assert all("open" in {wait.outcome for wait in state.waits} for lasso in lassos for state in lasso.cycle)


@pytest.mark.parametrize("guard", BUGS)
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Readiness(config)).violation is None
    graph = build(Readiness(config))
    timed = not BUGS[guard].liveness  # where nobody comes back, and there are no limits
    props = liveness(config)["WaitsEnd" if timed else "TroubleTells"]
    assert [prop.name for prop in props if leads_to(graph, prop, fairness(config, timed=timed))] == []


def test_what_makes_no_sense_is_refused() -> None:
    wrongs: list[dict[str, Any]] = [
        {"parts": 0},
        {"mortal": R({1})},
        {"without": R({1})},
        {"masks": R({2})},
        {"askers": R({2})},
    ]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="must be"):
            Config(**wrong)


# -- the shipped words ------------------------------------------------------------------------------------------------


def _shown(race: shipped.Race) -> object:
    model = shipped.ReadinessShipped(race.config)
    if race.liveness:
        return leads_to(build(model), shipped.launch_ends, shipped.fairness(race.config))
    return explore(model, only={race.violates}).violation


@pytest.mark.parametrize("name", shipped.RACES)
def test_the_shipped_words_have_the_race(name: str) -> None:
    assert _shown(shipped.RACES[name]) is not None


@pytest.mark.parametrize(("ranks", "distinct"), [(1, 12), (2, 32), (3, 96)])
def test_the_shipped_words_work_when_nothing_happens(ranks: int, distinct: int) -> None:
    model = shipped.ReadinessShipped(shipped.Config(ranks=ranks))
    result = explore(model)
    assert result.ok, str(result.violation)
    assert result.distinct == distinct
    assert leads_to(build(model), shipped.launch_ends, shipped.fairness(model.config)) is None


_NOBODY: dict[str, Any] = {"dies": R()}


@pytest.mark.parametrize(
    ("race", "repair"),
    [
        ("P2.1", {"busy": R()}),
        ("P2.2", _NOBODY),
        ("P2.3", _NOBODY),
        ("P15.1", {"leftover": R()}),
        ("P15.2", _NOBODY),
        ("P15.3", _NOBODY),
        ("B53", {"cross_wait": False}),
        ("B84", {"looks": "exits"}),
        ("B85", {"hangs_up": R()}),
        ("B87", {"checked": True, "looks": "exits"}),
    ],
)
def test_the_race_needs_its_environment(race: str, repair: dict[str, Any]) -> None:
    found = shipped.RACES[race]
    assert _shown(replace(found, config=replace(found.config, **repair))) is None


# -- the manifest ------------------------------------------------------------------------------------------------------


_ENTRIES = [entry for entry in manifest.load() if entry.folder == "readiness"]


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "holds", 3000), ids=lambda entry: str(entry.name))
def test_the_model_has_as_many_states_as_tlc_found(entry: manifest.Entry) -> None:
    counts_are_those(configured(entry), entry, only=() if entry.name.endswith("_free") else None)


def test_every_race_of_the_shipped_words_has_its_configuration() -> None:
    named = {entry.race for entry in small_entries(_ENTRIES, "violates", 3000) if entry.module == "MCReadinessShipped"}
    assert named == {name for name, race in shipped.RACES.items() if not race.liveness}


@pytest.mark.parametrize("entry", small_entries(_ENTRIES, "violates", 3000), ids=lambda entry: str(entry.name))
def test_the_model_breaks_what_tlc_breaks(entry: manifest.Entry) -> None:
    counterexample_is_as_long(configured(entry), entry)
