"""What a race is to its test: one scenario, run on both variants."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fdcomm.session import DataPathName
from tests.races.pipes import WATCHDOG_S
from tests.races.variants import Ours, Shipped

__all__ = ("Race", "wait_until")


@dataclass(frozen=True)
class Race:
    """A race and its scenario.

    A scenario returns what went wrong, in words, or "". The same function serves both variants where nothing but
    the order of whole calls matters; where a client is stopped inside a call, each has its own.

    Args:
        ids: Identifiers in ``spec/races.toml``.
        shipped: Scenario for the shipped protocol.
        ours: Scenario for ours.
        symptom: Words that the shipped variant's answer must have, so that it cannot fail for another reason.
        ranks: Number of readers.
        tcp: The shipped manager must be on TCP.
        data_path: How our items go: the scenario may be about the host.
    """

    ids: tuple[str, ...]
    shipped: Callable[[Shipped], str]
    ours: Callable[[Ours], str]
    symptom: str
    ranks: int = 2
    tcp: bool = False
    data_path: DataPathName = "auto"

    def on_shipped(self) -> str:
        """Return what went wrong on the shipped protocol."""
        with Shipped(self.ranks, tcp=self.tcp) as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with Ours(self.ranks, self.data_path) as variant:
            return self.ours(variant)


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    """Ask again until it holds: each ``holds`` is a round trip. The watchdog raises."""
    end = time.monotonic() + WATCHDOG_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not become true within {WATCHDOG_S} s")
