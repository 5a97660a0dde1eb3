"""The removable guards of a contract, and the faulty variants that lack one: what all models share about them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeVar

__all__ = ("Removable",)

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
