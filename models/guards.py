"""The removable guards of a contract, and the faulty variants that lack one: what all models share about them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

__all__ = ("Bug", "Removable", "bug", "without")

C = TypeVar("C")
G = TypeVar("G", bound="Removable")


@dataclass(frozen=True)
class Removable:
    """The removable guards of a contract: a subclass has a field for each, under its name in the contract."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every guard, in the contract's order."""
        return tuple(item.name for item in fields(cls))

    @classmethod
    def without(cls: type[G], *names: str) -> G:
        """All guards but these."""
        return cls(**dict.fromkeys(names, False))

    def title(self, protocol: str) -> str:
        """The name of a model of the protocol, which says what was removed."""
        return protocol + "".join(f" without {name}" for name in self.names() if not getattr(self, name))


@dataclass(frozen=True)
class Bug(Generic[C]):
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end (``timed``: with limits)."""

    config: C
    violates: str
    liveness: bool = False
    timed: bool = False


def without(config: C, *names: str) -> C:
    """Return a configuration (its field ``guards`` is Removable) with all guards but these."""
    changed: Any = config
    return replace(changed, guards=type(changed.guards).without(*names))  # type: ignore[no-any-return]


def bug(guard: str, violates: str, base: C, *, liveness: bool = False, timed: bool = False) -> tuple[str, Bug[C]]:
    """Return an entry of a table guard -> faulty variant: what fails without the guard in a configuration."""
    return guard, Bug(without(base, guard), violates, liveness, timed)
