"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.guards import Bug, bug
from models.pause_state import Config

__all__ = ("BUGS",)

_ONE = Config(ranks=1)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("TakeShuts", "QuietMeansShut", _ONE),
        bug("AllRanks", "PausedMeansStill", Config()),
        bug("OldOrdersDropped", "QuietMeansShut", replace(_ONE, max_orders=3)),
        bug("FenceFrees", "PauseComes", Config(mortal=frozenset({0})), liveness=True),
        bug("JoinsShut", "PausedMeansStill", _ONE),
        bug("HoldBlocks", "HeldMeansPaused", replace(_ONE, clients=2)),
        bug("ResumeWaits", "OnlyOwnerEnds", replace(_ONE, clients=2)),
    )
)
