"""The races of the shipped dispatch: an environment in which each shows, and the property that fails.

P1.7 (a dead reader), B82 (a dead holder of the lock) and their like are liveness, and left to TLC.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.dispatch_shipped_state import Config

__all__ = ("RACES", "Race")


@dataclass(frozen=True)
class Race:
    """A safety race."""

    config: Config
    violates: str


_R = frozenset[int]

RACES: dict[str, Race] = {
    "P1.1": Race(Config(barrier=False), "ExactlyOnceInOrder"),
    "P1.2": Race(Config(idle_gets=True), "OnlyReadersLower"),
    "P1.3": Race(Config(clearers=_R({2}), max_clears=1), "ExistMeansWork"),
    "P1.4": Race(Config(clearers=_R({2}), max_clears=1), "InStep"),
    "P1.5": Race(Config(max_calls=1, clearers=_R({0, 1}), max_clears=1), "ClearsOnlySeen"),
    "P1.8": Race(Config(max_calls=1, one_address=False), "NoLostWakeUp"),
    "P1.9": Race(Config(ranks=1, producers=2, max_calls=3), "PutsInOrder"),
    "B02": Race(Config(ranks=1, lower_inside=False), "NoLostWakeUp"),
}
