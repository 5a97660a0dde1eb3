"""Races in one process, each one order of steps, and what their scenarios ask of a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm.errors import FdcommError
from tests.races.race import Race

__all__ = ("OneProcessRace", "name_of")


def name_of(call: Callable[[], Any]) -> str:
    """Return the name of the error that a call raises, or ""."""
    try:
        call()
    except FdcommError as error:
        return type(error).__name__
    return ""


@dataclass(frozen=True)
class OneProcessRace(Race):
    """One process, one order of steps. ``shipped`` gets nothing; ``on_ours`` is the subclass's."""

    shipped: Callable[[], str]  # type: ignore[assignment]
    ours: Callable[[Any], str]
    ranks: int = 1

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped steps."""
        return self.shipped()
