"""The contract, read as data, and what a model must have of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from models.graph import Edge
from models.kernel import Model
from tla import manifest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("contract", "guards_are_those", "names_are_those", "parameters_are_those", "races_are_those")

ROOT = Path(__file__).resolve().parents[2]


def contract(protocol: str) -> dict[str, Any]:
    """Return ``spec/<protocol>.toml``."""
    with (ROOT / "spec" / f"{protocol}.toml").open("rb") as file:
        spec: dict[str, Any] = tomllib.load(file)
    return spec


def names_are_those(
    protocol: str,
    model: Model[Any],
    variables: tuple[str, ...],
    liveness: Iterable[str],
    constants: Collection[str],
    *,
    ordered: bool = True,
) -> None:
    """See that a model has the names of its contract, in the contract's order (``ordered=False``: but for actions)."""
    spec = contract(protocol)
    assert list(variables) == [variable["name"] for variable in spec["variable"]]
    actions = [action["name"] for action in spec["action"]]
    assert list(model.actions) == actions if ordered else set(model.actions) == set(actions)
    assert list(model.invariants) == [item["name"] for item in spec["invariant"]]
    kinds = {item["name"]: item["kind"] for item in spec["property"]}
    assert list(model.action_properties) == [name for name, kind in kinds.items() if kind == "action"]
    assert list(liveness) == [name for name, kind in kinds.items() if kind == "liveness"]
    assert set(constants) == {*spec["constants"], *(guard["constant"] for guard in spec["guard"])}


def parameters_are_those(protocol: str, edges: Iterable[Edge[Any]]) -> None:
    """See that the actions of a graph's edges are all that the contract has, with its parameters."""
    seen = {action.name: [key for key, _ in action.params] for _, action, _ in edges}
    assert seen == {action["name"]: action["params"] for action in contract(protocol)["action"]}


class _Bug(Protocol):
    @property
    def violates(self) -> str: ...


def guards_are_those(protocol: str, guards: Any, bugs: Mapping[str, _Bug]) -> None:
    """See that each guard of the contract can be taken away, and that the property which must fail then is its own."""
    violates = {guard["constant"]: guard["violates"] for guard in contract(protocol)["guard"]}
    assert [item.name for item in fields(guards)] == list(violates)
    assert {name: bug.violates for name, bug in bugs.items()} == violates


def races_are_those(protocol: str, module: str) -> None:
    """See that the configuration of each guard that is taken away names the race that the contract names."""
    races = {entry.name: entry.race for entry in manifest.load() if entry.module == module}
    for guard in contract(protocol)["guard"]:
        assert races[f"{module}_bug_{guard['constant']}"] == guard["race"]
