"""What a published protocol's race is to its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ("Race",)

C = TypeVar("C")


@dataclass(frozen=True)
class Race(Generic[C]):
    """An environment in which a race shows, and the property that fails."""

    config: C
    violates: str
