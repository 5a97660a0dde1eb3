"""What a model is: initial states, named atomic steps, and the properties that are claimed of them.

A state is a NamedTuple of hashable values: functions over ``0 .. n-1`` are tuples, sets are frozensets, sequences are
tuples, records are NamedTuples. A model that has the same fields, shapes and action names as a TLA+ spec can be
compared with it edge by edge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

__all__ = ("Action", "Model", "Step", "changes", "each", "once", "replaced", "replaced_within", "show")

S = TypeVar("S", bound=tuple[Any, ...])
T = TypeVar("T")


class Action(NamedTuple):
    """One instance of an action: its name in the spec, and its parameters in the spec's order."""

    name: str
    params: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value}' for key, value in self.params)})"

    def param(self, key: str) -> int | None:
        """Return the value of a parameter, or None when the action does not have it."""
        return next((value for name, value in self.params if name == key), None)


Step: TypeAlias = tuple[Action, S]


class Model(ABC, Generic[S]):
    """A protocol's next-state relation.

    Attributes:
        name: Shown in messages.
        actions: Name of each action -> its steps from a state, in a fixed order. Together they are the relation.
        invariants: Hold in every reachable state.
        action_properties: Hold for every step between reachable states.
        sometimes: Each must hold in some reachable state: evidence that the claims above are not empty.
        sometimes_steps: The same for steps.
    """

    name: str
    actions: Mapping[str, Callable[[S], Iterator[Step[S]]]]
    invariants: Mapping[str, Callable[[S], bool]]
    action_properties: Mapping[str, Callable[[S, Action, S], bool]]
    sometimes: Mapping[str, Callable[[S], bool]]
    sometimes_steps: Mapping[str, Callable[[S, Action, S], bool]]

    @abstractmethod
    def initial(self) -> Iterable[S]:
        """Return the initial states."""

    def steps(self, state: S) -> Iterator[Step[S]]:
        """Yield every step that the state allows, in a fixed order."""
        for steps in self.actions.values():
            yield from steps(state)


def each(name: str, key: str, who: Iterable[int], step: Callable[[S, int], S | None], state: S) -> Iterator[Step[S]]:
    """Yield the steps of an action that each of some numbers may take: ``step`` is that of one, None if not enabled."""
    for number in who:
        if (after := step(state, number)) is not None:
            yield Action(name, ((key, number),)), after


def once(name: str, step: Callable[[S], S | None], state: S) -> Iterator[Step[S]]:
    """Yield the step of an action without parameters, unless ``step`` is None: not enabled."""
    if (after := step(state)) is not None:
        yield Action(name), after


def show(value: object) -> str:
    """Return a value as TLA+ would print it: sequences, sets in order, records, booleans, strings."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(show, value), key=lambda text: (len(text), text))) + "}"
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields:
        return "[" + ", ".join(f"{field} |-> {show(item)}" for field, item in zip(fields, value, strict=True)) + "]"
    if isinstance(value, tuple):
        return "<<" + ", ".join(map(show, value)) + ">>"
    return str(value)


def changes(before: tuple[Any, ...], after: tuple[Any, ...]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ between two states of one type: name -> (old, new)."""
    fields: tuple[str, ...] = before._fields  # type: ignore[attr-defined]
    triples = zip(fields, before, after, strict=True)
    return {name: (old, new) for name, old, new in triples if old != new}


def replaced(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return the function ``values`` with one argument changed."""
    return (*values[:index], value, *values[index + 1 :])


def replaced_within(table: tuple[tuple[T, ...], ...], first: int, second: int, value: T) -> tuple[tuple[T, ...], ...]:
    """Return the function ``table`` of two arguments with the value at one pair of them changed."""
    return replaced(table, first, replaced(table[first], second, value))
