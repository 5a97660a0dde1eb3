"""What an engine and its ranks do, as values: for the tables of the parity tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tests.parity.worlds import World

__all__ = ("Act", "both", "each", "engine", "first", "nothing", "rest")

Act: TypeAlias = Callable[[World[Any]], object]


def nothing(world: World[Any]) -> object:
    """Do nothing."""
    return world


def engine(method: str, *args: Any, **kwargs: Any) -> Act:
    """The engine's handle calls a method."""
    return lambda world: getattr(world.engine, method)(*args, **kwargs)


def first(method: str, *args: Any, **kwargs: Any) -> Act:
    """Rank 0 calls a method."""
    return lambda world: getattr(world.ranks[0], method)(*args, **kwargs)


def rest(method: str, *args: Any) -> Act:
    """All other ranks call a method."""
    return lambda world: [getattr(rank, method)(*args) for rank in world.ranks[1:]]


def each(method: str, *args: Any) -> Act:
    """All ranks call a method."""
    return both(first(method, *args), rest(method, *args))


def both(*acts: Act) -> Act:
    """One thing after the other."""
    return lambda world: [act(world) for act in acts]
