"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.guards import Bug, bug
from models.status_state import Config

__all__ = ("BUGS",)

_DYING = Config(mortal=frozenset({0}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("ReportsKeyed", "ClearedMeansEmpty", Config(max_asked=3)),
        bug("WaitsForAll", "ClearedMeansEmpty", Config(parts=2)),
        bug("OneAtATime", "EndStays", Config(max_asked=2)),
        bug("Staged", "InStages", Config(components=2)),
        bug("FailureEnds", "WorkEnds", Config(returns=False), liveness=True),
        bug("FenceFails", "WorkEnds", replace(_DYING, returns=False), liveness=True),
        bug("ExpiryFrees", "RequestsEnd", Config(), liveness=True, timed=True),
        bug("JoinMarks", "ClearedMeansEmpty", _DYING),
    )
)
