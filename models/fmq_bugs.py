"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.fmq_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

_ONE = Config(max_sent=1, window=1, large=frozenset({1}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("Dedups", "InOrder", Config(max_sent=1, window=1, large=frozenset())),
        bug("KeepsUntilAcked", "AckedWasDone", _ONE),
        bug("AcksDone", "AckedWasDone", _ONE),
        bug("Resends", "Settles", Config(max_sent=1, window=1, large=frozenset(), mortal=frozenset()), liveness=True),
        bug("FreshLink", "AckedStays", Config(max_sent=1, window=1, large=frozenset())),
        bug("Outlives", "SkipsOnlyDone", _ONE),
        bug("DrainsFirst", "SkipsOnlyDone", Config()),
        bug("Reclaims", "LeftoversGo", Config(max_starts=1, max_cuts=0), liveness=True),
    )
)
