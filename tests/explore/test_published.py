"""The small models of published steps: right with all guards, and every race is found where its guard is missing."""

from __future__ import annotations

from typing import Any

import pytest

from models.explore import explore
from models.graph import build
from models.liveness import leads_to
from tests.explore.claims import counterexample_is_as_long
from tests.refine.published_graphs import MODULES
from tests.verify import configured
from tla import manifest

ENTRIES = [entry for entry in manifest.load() if entry.module in MODULES]
RACES = [(name, race) for name, module in MODULES.items() for race in module.model.RACES]

# Races after which somebody waits for ever.
HANGS = {"B31", "B32", "B33.one_phase", "B37", "B38", "B39", "P7.4", "B54", "B50.branch"}


@pytest.mark.parametrize("name", MODULES)
def test_with_every_guard_it_works(name: str) -> None:
    module = MODULES[name]
    model = module.made(module.model.Config())
    result = explore(model)
    assert result.violation is None, str(result.violation)
    assert result.unreached == ()
    assert leads_to(build(model), module.model.PROMISE, module.model.fairness(model.config)) is None


@pytest.mark.parametrize(("name", "race"), RACES)
def test_the_race_is_found_and_needs_its_environment(name: str, race: str) -> None:
    module = MODULES[name]
    found = module.model.RACES[race]
    assert explore(module.made(found.config), only={found.violates}).violation is not None
    given, safe = found.config.constants(), module.model.Config().constants()
    changed = [key for key in given if given[key] is False and safe[key] is True]
    assert changed
    for key, field in zip(given, found.config.__dataclass_fields__, strict=True):
        if key in changed:
            repaired = type(found.config)(**{**vars(found.config), field: True})
            if explore(module.made(repaired), only={found.violates}).violation is None:
                return
    pytest.fail(f"{race} does not need any of {changed}")


@pytest.mark.parametrize(("name", "race"), RACES)
def test_who_waits_for_ever(name: str, race: str) -> None:
    module = MODULES[name]
    config = module.model.RACES[race].config
    lasso = leads_to(build(module.made(config)), module.model.PROMISE, module.model.fairness(config))
    assert (lasso is not None) == (race in HANGS)


@pytest.mark.parametrize("name", MODULES)
def test_without_any_guard_it_has_its_races_at_once(name: str) -> None:
    module = MODULES[name]
    found = explore(module.made(module.unguarded), stop=False).violations
    assert {race.violates for race in module.model.RACES.values()} <= set(found)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry.name))
def test_it_is_what_tlc_finds(entry: manifest.Entry) -> None:
    model = configured.configured(entry)
    if entry.expect == "violates":
        counterexample_is_as_long(model, entry)
        return
    result = explore(model)
    assert (result.distinct, result.depth) == (entry.distinct, entry.depth)
    assert entry.mode == "live" or set(model.actions) - set(result.coverage) == set(entry.never)


def test_every_race_has_its_configuration() -> None:
    found = {(entry.module, entry.name.partition("_bug_")[2]): entry for entry in ENTRIES if entry.race}
    wanted: dict[tuple[str, str], Any] = {(name, race.replace(".", "_")): race for name, race in RACES}
    assert set(found) == set(wanted)
