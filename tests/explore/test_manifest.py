"""What TLC is pinned to find, the Python explorer finds too: states, depth, and length of each counterexample."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from models import dispatch, dispatch_shipped, worker_loop
from models.explore import explore
from models.kernel import Model
from tests.explore.contract import ROOT
from tla.values import parse

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CONSTANT = re.compile(r"^ +(\w+) = (.+)$", re.MULTILINE)
_BOUNDS = {"N": "ranks", "P": "producers", "Depth": "depth", "MaxCalls": "max_calls", "MaxEpoch": "max_epoch"}
_FIXED = _BOUNDS | {"PerProducer": "per_producer", "Leavers": "leavers", "Mortal": "mortal", "Quitters": "quitters"}
_FIXED |= {"MortalProducers": "mortal_producers"}
_SHIPPED = {"N": "ranks", "P": "producers", "MaxCalls": "max_calls", "MaxClears": "max_clears", "Barrier": "barrier"}
_SHIPPED |= {"IdleGets": "idle_gets", "Clearers": "clearers", "Mortal": "mortal", "KilledHolding": "killed_holding"}
_SHIPPED |= {"OneAddress": "one_address", "LowerInside": "lower_inside"}

_LOOP = {"N": "ranks", "MaxCalls": "max_calls", "MaxLoops": "max_loops", "MaxClears": "max_clears"}
_LOOP |= {"EngineClears": "engine_clears", "Shipped": "shipped", "Tickets": "tickets", "Depth": "depth"}
_LOOP |= {"Meets": "meets", "OwnRead": "own_read", "SecondLook": "second_look", "IdleGetEnds": "idle_get_ends"}


def _configs(expect: str) -> list[dict[str, Any]]:
    with (ROOT / "tla" / "manifest.toml").open("rb") as file:
        entries: list[dict[str, Any]] = tomllib.load(file)["config"]
    return [
        entry
        for entry in entries
        if entry["module"] in ("MCDispatch", "MCDispatchShipped", "WorkerLoop")
        and (entry["mode"], entry["size"], entry["expect"]) == ("check", "small", expect)
    ]


def _constants(entry: Mapping[str, Any]) -> dict[str, Any]:
    text = (ROOT / "tla" / entry["folder"] / f"{entry['name']}.cfg").read_text(encoding="utf-8")
    return {name: parse(value) for name, value in _CONSTANT.findall(text)}


def _invariants(entry: Mapping[str, Any]) -> set[str]:
    """What the configuration checks, without what types say in Python."""
    text = (ROOT / "tla" / entry["folder"] / f"{entry['name']}.cfg").read_text(encoding="utf-8")
    return set(text.partition("INVARIANTS")[2].split()) - {"TypeOK"}


def _model(entry: Mapping[str, Any]) -> Model[Any]:
    constants = _constants(entry)
    if entry["module"] == "MCDispatchShipped":
        shipped = dispatch_shipped.Config(**{_SHIPPED[name]: value for name, value in constants.items()})
        assert shipped.constants() == constants
        return dispatch_shipped.DispatchShipped(shipped)
    if entry["module"] == "WorkerLoop":
        loop = worker_loop.Config(**{_LOOP[name]: value for name, value in constants.items()})
        assert loop.constants() == constants
        return worker_loop.WorkerLoop(loop)
    guards = {name: constants[name] for name in dispatch.Guards.names()}
    values = {_FIXED[name]: value for name, value in constants.items() if name not in guards}
    config = dispatch.Config(**values, guards=dispatch.Guards(**guards))
    assert config.constants() == constants
    return dispatch.Dispatch(config)


@pytest.mark.parametrize("entry", _configs("holds"), ids=lambda entry: str(entry["name"]))
def test_counts_are_those_of_tlc(entry: Mapping[str, Any]) -> None:
    model = _model(entry)
    result = explore(model, only=_invariants(entry) if entry["module"] == "WorkerLoop" else None)
    assert result.violation is None
    assert (result.distinct, result.depth) == (entry["distinct"], entry["depth"])
    assert set(model.actions) - set(result.coverage) == set(entry.get("never", ())) & set(model.actions)


@pytest.mark.parametrize("entry", _configs("violates"), ids=lambda entry: str(entry["name"]))
def test_counterexamples_are_as_short_as_those_of_tlc(entry: Mapping[str, Any]) -> None:
    found = explore(_model(entry), only={entry["violates"]}).violation
    assert found is not None
    assert len(found.path) + 1 == entry["depth"]


def test_the_manifest_has_both_variants() -> None:
    assert {entry["variant"] for entry in _configs("holds")} == {"FIXED", "SHIPPED"}
    assert len(_configs("violates")) >= 15
