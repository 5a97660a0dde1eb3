"""Small changes of a recorded run, after which it is none: what the altered runs of several protocols share.

A change alters the run that it gets; ``on_copies`` makes changes that leave it as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tests.traces.events import Event, index_of, renumbered

__all__ = ("Change", "dropped", "gap", "on_copies", "renamed", "top", "twice", "valued")

Change: TypeAlias = Callable[[list[Event]], list[Event]]


def on_copies(changes: Mapping[str, Change]) -> dict[str, Change]:
    """Return the same changes, each of a copy of the run."""
    return {name: _on_copy(change) for name, change in changes.items()}


def _on_copy(change: Change) -> Change:
    return lambda events: change(copy.deepcopy(events))


def dropped(name: str) -> Change:
    """The first event of that name is left out, and the numbers closed up."""
    return lambda events: renumbered(gap(name)(events))


def gap(name: str) -> Change:
    """The first event of that name is left out, with its number."""

    def change(events: list[Event]) -> list[Event]:
        del events[index_of(events, name)]
        return events

    return change


def renamed(name: str, other: str) -> Change:
    """The first event of that name gets another name."""
    return lambda events: top(index_of(events, name), "action", other)(events)


def twice(name: str) -> Change:
    """The first event of that name comes twice, and the numbers are given anew."""

    def change(events: list[Event]) -> list[Event]:
        index = index_of(events, name)
        events.insert(index, copy.deepcopy(events[index]))
        return renumbered(events)

    return change


def valued(name: str, part: str, key: str, value: Callable[[Any], Any]) -> Change:
    """The first event of that name has another value in args, result or post: ``value`` of the true one."""

    def change(events: list[Event]) -> list[Event]:
        found = events[index_of(events, name)][part]
        found[key] = value(found[key])
        return events

    return change


def top(index: int, key: str, value: object) -> Change:
    """The event at the index has another value for a key of its own."""

    def change(events: list[Event]) -> list[Event]:
        events[index][key] = value
        return events

    return change
