"""Open handles that nobody refers to: they end with their process, and not when the last reference is gone."""

from __future__ import annotations

__all__ = ("hold", "let_go")

_held: set[object] = set()


def hold(handle: object) -> None:
    """Keep an open handle that nobody refers to: it serves until it is closed."""
    _held.add(handle)


def let_go(handle: object) -> None:
    """It was closed."""
    _held.discard(handle)
