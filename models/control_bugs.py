"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.control_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

_TWO_REQUESTS = Config(ranks=1, max_asked=2)
_DYING = Config(mortal=frozenset({0}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("Keyed", "NoMixing", _TWO_REQUESTS),
        bug("LateRefused", "EndedStays", _TWO_REQUESTS),
        bug("SkipsEnded", "TakesOpenInOrder", _TWO_REQUESTS),
        bug("FenceDooms", "LostEnds", _DYING, liveness=True),
        bug("TimeoutEnds", "RequestsEnd", _DYING, liveness=True),
    )
)
