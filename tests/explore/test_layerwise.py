"""Everything that is claimed of layer-wise sending holds, each guard is needed, and the published one has its races."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from models import layerwise_open, layerwise_pair, layerwise_shipped, layerwise_stream
from models.explore import explore
from models.graph import build
from models.kernel import Model
from models.layerwise import Config, Guards, Layerwise, State
from models.layerwise_bugs import BUGS
from models.layerwise_properties import fairness, liveness
from models.liveness import leads_to
from models.refinement import refine
from tests.explore.claims import (
    broken,
    constants_of,
    everything_holds,
    is_what_tlc_finds,
    shortest,
)
from tests.explore.contract import ROOT, contract, guards_are_those, names_are_those, parameters_are_those
from tla import manifest

R = frozenset[int]

# Configuration -> distinct states and depth. A change of a number is a change of the protocol: review it.
COUNTS = {
    "1 slot, used twice": (Config(aborted=R({2}), expiry=True), 599, 12),
    "an info is lost": (Config(tasks=3, slots=2, layers=1, lost=R({1}), aborted=R({3}), expiry=True), 551, 11),
    "2 ranks": (Config(ranks=2, slots=2, layers=1), 625, 17),
    "1 slot, used three times": (Config(tasks=3, aborted=R({2}), expiry=True), 4663, 17),
}


@pytest.mark.parametrize("name", COUNTS)
def test_everything_holds(name: str) -> None:
    config, distinct, depth = COUNTS[name]
    assert everything_holds(Layerwise(config), distinct, depth).unreached == ()


def test_the_models_have_the_contract_names() -> None:
    names_are_those("layerwise", Layerwise(), State._fields, liveness(Config()), Config().constants())
    spec = contract("layerwise")
    smaller: dict[str, Model[Any]] = {"pair": layerwise_pair.LayerPair(), "open": layerwise_open.LayerOpen()}
    states: dict[str, Any] = {"pair": layerwise_pair.State, "open": layerwise_open.State}
    for part, other in smaller.items():
        assert list(states[part]._fields) == spec[part]["variables"]
        assert list(other.actions) == spec[part]["actions"]
        assert {*other.invariants, *other.action_properties} <= set(spec[part])


def test_actions_carry_the_contract_parameters() -> None:
    graph = build(Layerwise(COUNTS["1 slot, used twice"][0]))
    parameters_are_those("layerwise", graph.edges)


def test_every_guard_of_the_contract_can_be_taken_away() -> None:
    guards_are_those("layerwise", Guards, BUGS)


# -- guards --------------------------------------------------------------------------------------------------------

_ENOUGH = 7000

# Guard -> what fails in the first states without it, and the length of a shortest counterexample.
FAILS = {
    "StepTagged": {"NeverUncomputed": 3},
    "SerialSteps": {"NeverUncomputed": 3, "NoLeftover": 3, "OneFate": 3},
    "LatestWins": {"EarlyKept": 2},
    "EndForgets": {"NoLeftover": 2},
    "EndKeepsNewer": {"EarlyKept": 2},
    "GoneStaysGone": {"NoLeftover": 3, "OneFate": 3},
    "AgreedOrder": {"InOrder": 5, "SameCollectives": 9},
    "FailedTakePart": {"InOrder": 3, "SameCollectives": 11},
}


@pytest.mark.parametrize("guard", FAILS)
def test_without_the_guard_its_property_fails(guard: str) -> None:
    bug = BUGS[guard]
    assert bug.violates in FAILS[guard]
    # Up to the last of them, and where there are few states to the end: nothing else fails.
    assert shortest(Layerwise(bug.config), _ENOUGH) == FAILS[guard]


def _broken(config: Config, *, timed: bool) -> set[str]:
    return broken(Layerwise(config), liveness(config), fairness(config, timed=timed))


@pytest.mark.parametrize("guard", [name for name, bug in BUGS.items() if bug.liveness])
def test_without_the_guard_it_does_not_go_on(guard: str) -> None:
    bug = BUGS[guard]
    assert bug.violates in _broken(bug.config, timed=bug.timed)


@pytest.mark.parametrize("guard", [name for name in BUGS if name != "FailedTakePart"])
def test_with_the_guard_the_same_configuration_is_right(guard: str) -> None:
    config = replace(BUGS[guard].config, guards=Guards())
    assert explore(Layerwise(config)).violation is None
    if config.ranks == 1:
        # Without time limits nothing ends by itself, and with them nobody has to compute everything.
        assert _broken(replace(config, expiry=True), timed=True) <= {"EveryLayerSent"}
    if config.ranks == 1 and not config.expiry and not config.aborted:
        assert _broken(config, timed=False) == set()


# -- refinement ----------------------------------------------------------------------------------------------------


def _refined(config: Config) -> bool:
    return refine(Layerwise(config), layerwise_stream.stream_of(config), layerwise_stream.image(config)).ok


@pytest.mark.parametrize("name", ["1 slot, used twice", "an info is lost", "2 ranks"])
def test_it_is_a_stream_of_layers(name: str) -> None:
    assert _refined(COUNTS[name][0])


@pytest.mark.parametrize("guard", ["AgreedOrder", "FailedTakePart"])
def test_the_faults_that_a_peer_can_see_break_the_refinement(guard: str) -> None:
    config = Config(slots=2, layers=1, expiry=True, guards=Guards.without(guard))
    assert _refined(config) == (guard == "FailedTakePart"), "a rank alone does not notice the missing calls"


# -- the words, and opening them -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "distinct"), [(layerwise_pair.Config(), 636), (layerwise_pair.Config(reader="plain"), 3036)]
)
def test_the_words_are_right(config: layerwise_pair.Config, distinct: int) -> None:
    result = explore(layerwise_pair.LayerPair(config))
    assert result.ok, str(result.violation)
    assert result.distinct == distinct


@pytest.mark.parametrize(
    ("config", "length"),
    [
        (layerwise_pair.Config(reader="shipped", mortal=False), 16),
        (layerwise_pair.Config(reader="plain", layer_first=False), 11),
    ],
)
def test_words_that_are_ahead(config: layerwise_pair.Config, length: int) -> None:
    violation = explore(layerwise_pair.LayerPair(config)).violation
    assert violation is not None
    assert (violation.property, len(violation.path)) == ("NeverAhead", length)


def test_opening_at_once() -> None:
    assert explore(layerwise_open.LayerOpen()).ok
    for config, violates in (
        (layerwise_open.Config(own_name=False), "NobodyFails"),
        (layerwise_open.Config(exclusive=False), "OneSegment"),
    ):
        assert violates in explore(layerwise_open.LayerOpen(config), stop=False).violations


# -- the published messager ----------------------------------------------------------------------------------------


def _holds(config: layerwise_shipped.Config) -> set[str]:
    """Return what is broken."""
    model = layerwise_shipped.LayerwiseShipped(config)
    broken = set(explore(model).violations)
    graph, fair = build(model), layerwise_shipped.fairness(config)
    if any(leads_to(graph, prop, fair) for prop in layerwise_shipped.every_sent(config)):
        broken.add("EverySent")
    return broken


@pytest.mark.parametrize("race", layerwise_shipped.RACES)
def test_the_race_is_found_and_needs_its_environment(race: str) -> None:
    config, violates = layerwise_shipped.RACES[race]
    assert _holds(config) == {violates}
    assert _holds(replace(config, info_first=True, lost=R())) == set()


# -- what TLC is pinned to find ------------------------------------------------------------------------------------

_MODELS: dict[str, tuple[Any, Any]] = {
    "MCLayerwise": (Config, Layerwise),
    "LayerPair": (layerwise_pair.Config, layerwise_pair.LayerPair),
    "LayerOpen": (layerwise_open.Config, layerwise_open.LayerOpen),
    "LayerwiseShipped": (layerwise_shipped.Config, layerwise_shipped.LayerwiseShipped),
}
_ENTRIES = [entry for entry in manifest.load() if entry.protocols == ("layerwise",) and entry.mode == "check"]
_BIG = 4000


def _model(module: str, constants: Mapping[str, Any]) -> Model[Any]:
    """Return the model with these constants, whose names follow each other as its fields do."""
    config_type, model_type = _MODELS[module]
    names = list(config_type().constants())
    own = [item.name for item in fields(config_type) if item.name != "guards"]
    values = {own[names.index(name)]: value for name, value in constants.items() if names.index(name) < len(own)}
    if module == "MCLayerwise":
        values["guards"] = Guards(**{name: constants[name] for name in Guards.names()})
    config = config_type(**values)
    assert config.constants() == constants
    model: Model[Any] = model_type(config)
    return model


@pytest.mark.parametrize("entry", [e for e in _ENTRIES if e.distinct < _BIG], ids=lambda entry: str(entry.name))
def test_counts_are_those_of_tlc(entry: manifest.Entry) -> None:
    model = _model(entry.module, constants_of(entry))
    is_what_tlc_finds(model, entry, only=set(entry.config().invariants) & set(model.invariants))


def test_the_race_configurations_agree_with_the_contract() -> None:
    entries = {entry.name: entry for entry in manifest.load()}
    for guard in contract("layerwise")["guard"]:
        entry = entries[f"MCLayerwise_bug_{guard['constant']}"]
        assert (entry.race, entry.violates) == (guard["race"], guard["violates"])
        assert set(entry.config().switched_off()) - {"Expiry"} == {guard["constant"]}
    assert (ROOT / contract("layerwise")["tla"]).exists()
