"""How a model's claims are looked at, and how its numbers are compared with those of TLC."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from models.explore import Result, explore
from models.graph import build
from models.kernel import Model
from models.liveness import Fair, LeadsTo, leads_to
from tla.manifest import Entry, load
from tla.values import parse

__all__ = (
    "broken",
    "configured",
    "constants_of",
    "counterexample_is_as_long",
    "counts_are_those",
    "entries_of",
    "everything_holds",
    "fails_as_shortly",
    "is_what_tlc_finds",
    "shortest",
    "small_entries",
)

S = TypeVar("S", bound=tuple[Any, ...])
C = TypeVar("C", bound="_Config")


def everything_holds(model: Model[S], distinct: int, depth: int) -> Result[S]:
    """See that nothing is violated in the reachable states, and that there are as many of them as were."""
    result = explore(model)
    assert result.violation is None, str(result.violation)
    assert (result.distinct, result.depth, result.complete) == (distinct, depth, True)
    return result


def shortest(model: Model[Any], max_states: int | None = None) -> dict[str, int]:
    """Return the length of a shortest counterexample of each property that fails."""
    found = explore(model, stop=False, max_states=max_states).violations
    return {name: len(violation.path) for name, violation in found.items()}


def fails_as_shortly(
    model: Model[Any], violates: str, lengths: Mapping[str, int], max_states: int | None = None
) -> None:
    """See that a property fails, and that of all which fail the shortest counterexamples have these lengths."""
    found = explore(model, only={violates}).violation
    assert found is not None
    assert len(found.path) == lengths[violates]
    assert shortest(model, max_states) == lengths


def broken(model: Model[S], properties: Mapping[str, Iterable[LeadsTo[S]]], fairness: Sequence[Fair[S]]) -> set[str]:
    """Return the names of the liveness properties that fail under this fairness."""
    graph = build(model)
    return {name for name, family in properties.items() if any(leads_to(graph, one, fairness) for one in family)}


# -- TLC -----------------------------------------------------------------------------------------------------------


class _Config(Protocol):
    def constants(self) -> dict[str, Any]: ...


class _Guards(Protocol):
    @classmethod
    def names(cls) -> Iterable[str]: ...


def small_entries(entries: Iterable[Entry], expect: str, below: int) -> list[Entry]:
    """Return those of the configurations with this expectation and fewer states that are checked, or that hold."""
    return [
        entry
        for entry in entries
        if (entry.mode == "check" or expect == "holds") and entry.expect == expect and entry.distinct < below
    ]


def entries_of(*modules: str) -> list[Entry]:
    """Return the configurations of modules."""
    return [entry for entry in load() if entry.module in modules]


def constants_of(entry: Entry) -> dict[str, Any]:
    """Return the constants of a configuration, as the models have them."""
    return {name: parse(value) for name, value in entry.config().constants.items()}


def configured(
    kind: type[C], names: Mapping[str, str], constants: Mapping[str, Any], guards: type[_Guards] | None = None
) -> C:
    """Return the model's configuration with these constants; ``names`` says which field each of them is."""
    values = {names[name]: value for name, value in constants.items() if name in names}
    if guards is not None:
        values["guards"] = guards(**{name: constants[name] for name in guards.names()})
    config = kind(**values)
    assert config.constants() == constants
    return config


def counts_are_those(
    model: Model[Any], entry: Entry, *, only: Collection[str] | None = None, absent: Collection[str] = ()
) -> Result[Any]:
    """See that the model has as many states, as deep, as TLC has found, and that the same actions are never taken.

    ``only`` limits the properties; ``absent`` are actions without an instance, which TLC does not count.
    """
    result = explore(model, only=only)
    assert result.violation is None, str(result.violation)
    assert (result.distinct, result.depth) == (entry.distinct, entry.depth)
    if entry.mode == "check":
        assert set(model.actions) - set(result.coverage) == {*entry.never, *absent}
    return result


def counterexample_is_as_long(model: Model[Any], entry: Entry, max_states: int | None = None) -> None:
    """See that the property that TLC finds violated is violated, and by as many states."""
    found = explore(model, only={entry.violates}, max_states=max_states).violation
    assert found is not None
    assert len(found.path) + 1 == entry.depth


def is_what_tlc_finds(
    model: Model[Any], entry: Entry, *, only: Collection[str] | None = None, absent: Collection[str] = ()
) -> None:
    """See that a model agrees with TLC: in its counterexample where one is expected, else in its counts."""
    if entry.expect == "violates":
        counterexample_is_as_long(model, entry)
    else:
        counts_are_those(model, entry, only=only, absent=absent)
