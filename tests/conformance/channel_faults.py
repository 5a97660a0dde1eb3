"""What a planted fault makes of a method of a host's channel, where that is the same for several protocols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ("Change", "always_lost", "joins_and_fences", "nothing", "silent", "trusting", "twice", "without")

Change: TypeAlias = Callable[[Any], Any]
"""Takes the method, and returns what stands in its place."""


def nothing(original: Any) -> Any:
    """It does nothing."""
    return lambda self, *args, **named: None


def twice(original: Any) -> Any:
    """It is called twice."""

    def changed(self: Any, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        original(self, *args, **named)

    return changed


def silent(original: Any) -> Any:
    """It wakes nobody."""

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        conditions: tuple[Any, Any] = (self._readable, self._writable)
        for condition in conditions:
            condition.notify_all = lambda: None
        try:
            return original(self, *args, **named)
        finally:
            for condition in conditions:
                condition.__dict__.pop("notify_all", None)

    return quiet


def without(action: str) -> Change:
    """Of ``_record``: it leaves out one action."""

    def change(original: Any) -> Any:
        def record(self: Any, name: str, who: Any, result: Any = None) -> None:
            if name != action:
                original(self, name, who, result)

        return record

    return change


def joins_and_fences(original: Any) -> Any:
    """Of ``_record``: it records no other actions."""
    return lambda self, *args: (args[0] in ("Join", "Fence") and original(self, *args)) or None


def always_lost(original: Any) -> Any:
    """Of what is called for a member that goes: it counts as lost."""
    return lambda self, member, *, lost: original(self, member, lost=True)


def trusting(original: Any) -> Any:
    """Of ``_holder``: it does not look whether the member is still connected."""
    return lambda self, rank: next((m for m in self._members.values() if m.rank == rank), None)
