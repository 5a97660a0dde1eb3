"""The register is complete, names only what exists, and its page is up to date."""

from __future__ import annotations

import sys

import pytest

from tests.races.pipes import ROOT
from tests.races.race import Race
from tests.races.register import PAGE, STATUSES, Entry, find_configuration, page, read, scenarios

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENTRIES = {entry.id: entry for entry in read()}

each_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.id)


def test_ids_are_unique() -> None:
    assert len(ENTRIES) == len(read())


@each_entry
def test_an_entry_says_what_its_status_needs(entry: Entry) -> None:
    assert entry.status in STATUSES
    if entry.status == "closed":
        assert entry.cause
        assert entry.closed_by
        assert entry.tests
        assert entry.tla or entry.reason, "name the configuration that shows it, or say why there is none"
    else:
        assert entry.reason
        assert not entry.tests


@each_entry
def test_a_race_of_pausing_and_clearing_is_explained(entry: Entry) -> None:
    assert bool(entry.steps) == bool(entry.missed)
    assert len(entry.steps) != 1, "one step is no interleaving"
    published = entry.id[0] in "BP"
    if entry.protocol in ("pause", "status", "transfer", "blocks") and entry.status == "closed" and published:
        assert entry.steps


@each_entry
def test_an_entry_has_a_source(entry: Entry) -> None:
    assert entry.url.startswith("https://") == entry.id.startswith("B")


@each_entry
def test_an_entry_names_tests_that_show_it(entry: Entry) -> None:
    for name in entry.tests:
        race = scenarios()[name].RACE
        assert isinstance(race, Race)
        assert entry.id in race.ids


@each_entry
def test_an_entry_names_configurations_that_exist(entry: Entry) -> None:
    assert [name for name in entry.tla if find_configuration(name) is None] == []


def test_every_race_test_is_registered() -> None:
    shown = {(id_, name) for name, module in scenarios().items() for id_ in module.RACE.ids}
    registered = {(entry.id, name) for entry in ENTRIES.values() for name in entry.tests}
    assert shown == registered


def test_every_guard_of_the_contract_closes_a_registered_race() -> None:
    contract = tomllib.loads((ROOT / "spec" / "dispatch.toml").read_text())
    for guard in contract["guard"]:
        assert f"MCDispatch_bug_{guard['constant']}" in ENTRIES[guard["race"]].tla


def test_every_bug_configuration_belongs_to_a_race() -> None:
    named = {name for entry in ENTRIES.values() for name in entry.tla}
    written = {path.stem for path in (ROOT / "tla").glob("*/*_bug_*.cfg")}
    assert written - named == set()


def test_the_manifest_and_the_register_agree_which_race_a_configuration_shows() -> None:
    manifest = tomllib.loads((ROOT / "tla" / "manifest.toml").read_text())
    shown = {(run["race"], run["name"]) for runs in manifest.values() for run in runs if "race" in run}
    assert shown
    assert shown - {(entry.id, name) for entry in ENTRIES.values() for name in entry.tla} == set()


def test_every_step_of_fastdeploys_dispatch_is_in_the_register() -> None:
    assert {f"P1.{number}" for number in range(1, 11)} <= set(ENTRIES)


def test_every_step_of_fastdeploys_queues_is_in_the_register() -> None:
    steps = {"P3": 6, "P4": 4, "P9": 4, "P10": 5, "P11": 7}
    assert {f"{part}.{number}" for part, most in steps.items() for number in range(1, most + 1)} <= set(ENTRIES)
    assert {f"G{number}" for number in range(1, 9)} <= set(ENTRIES)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.races.register"
