"""Bitmask, the done queue, cache infos and connect tasks: the models are what the contracts say and TLC has found."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from models import bitmask, bitmask_shipped, done, item_channel
from models.explore import explore
from models.kernel import Model
from tests.explore.contract import contract
from tests.explore.item_models import MODELS, model_of
from tla.manifest import Entry, load

ENTRIES = [entry for entry in load() if entry.module in MODELS and (entry.size == "small" or entry.violates)]


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.expect == "holds"], ids=lambda entry: entry.name)
def test_counts_are_those_of_tlc(entry: Entry) -> None:
    model = model_of(entry)
    result = explore(model)
    assert result.violation is None, str(result.violation)
    assert (result.distinct, result.depth) == (entry.distinct, entry.depth)
    assert set(model.actions) - set(result.coverage) == set(entry.never)


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.expect == "violates" and e.mode == "check"], ids=lambda entry: entry.name
)
def test_counterexamples_are_as_short_as_those_of_tlc(entry: Entry) -> None:
    found = explore(model_of(entry), only={entry.violates}, max_states=20_000).violation
    assert found is not None
    assert len(found.path) + 1 == entry.depth


@pytest.mark.parametrize("make", [bitmask.Bitmask, done.Done, bitmask_shipped.BitmaskShipped, item_channel.ItemChannel])
def test_the_claims_are_not_empty(make: Callable[[], Model[Any]]) -> None:
    result = explore(make())
    assert result.ok, (str(result.violation), result.unreached)


def test_bitmask_has_the_contract_names() -> None:
    base, spec = contract("dispatch"), contract("bitmask")
    assert spec["extends"] == "dispatch"
    (queue,) = spec["variable"]
    names = [variable["name"] for variable in base["variable"]]
    names[names.index("log")] = queue["name"]
    assert list(bitmask.State._fields) == names
    model = bitmask.Bitmask()
    assert list(model.actions) == [action["name"] for action in base["action"]]
    own = {item["name"] for item in spec["invariant"]}
    assert set(model.invariants) == {item["name"] for item in base["invariant"]} | own
    assert list(bitmask.Guards.names()) == [guard["constant"] for guard in spec["guard"]]


def test_the_done_queue_has_the_contract_names() -> None:
    spec, model = contract("bitmask")["done"], done.Done()
    assert list(done.State._fields) == [variable["name"] for variable in spec["variable"]]
    assert list(model.actions) == [action["name"] for action in spec["action"]]
    assert list(model.invariants) == [item["name"] for item in spec["invariant"]]


@pytest.mark.parametrize("protocol", ["cache_info", "connect"])
def test_an_item_channel_has_the_contract_names(protocol: str) -> None:
    base, spec = contract("dispatch"), contract(protocol)
    (model_class,) = (
        value for name, value in vars(import_module(spec["model"])).items() if name.lower() == protocol.replace("_", "")
    )
    model = model_class()
    without = set(spec["without_actions"])
    assert list(model.actions) == [action["name"] for action in base["action"] if action["name"] not in without]
    kept = [item["name"] for item in base["invariant"]] + [item["name"] for item in spec["invariant"]]
    assert list(model.invariants) == kept
    steps = [item["name"] for item in base["property"] if item["kind"] == "action"]
    steps = [name for name in steps if name not in spec["without_properties"]]
    assert list(model.action_properties) == steps + [item["name"] for item in spec["property"]]


@pytest.mark.parametrize("protocol", ["bitmask", "cache_info", "connect"])
def test_every_guard_and_shipped_race_of_a_contract_has_a_configuration(protocol: str) -> None:
    spec = contract(protocol)
    shown = {(entry.race, entry.violates) for entry in load() if protocol in entry.protocols and entry.violates}
    guards = [*spec["guard"], *spec.get("done", {}).get("guard", ())]
    wanted = {(item["race"], item["violates"]) for item in (*guards, *spec["shipped_race"])}
    assert wanted <= shown


def test_an_item_channel_has_one_epoch_and_one_item() -> None:
    with pytest.raises(ValueError, match="depth 1 and one epoch"):
        item_channel.Config(depth=2)
