"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.link_state import Config

__all__ = ("BUGS",)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("Dedups", "AtMostOnce", Config()),
        bug("StaleRefused", "AtMostOnce", Config(calls=2)),
        bug("KeepsAnswer", "CallEnds", Config(max_losses=1), liveness=True),
        bug("Acknowledges", "Bounded", Config(calls=2)),
        bug("EndedRemembered", "EndedStays", Config(may_fence=True)),
        bug("FencedTold", "CallEnds", Config(may_fence=True), liveness=True),
        bug("StopsAtFence", "NothingAfterTheEnd", Config(may_fence=True)),
        bug("Resends", "CallEnds", Config(max_losses=1), liveness=True),
        bug("GivesUp", "CallEnds", Config(host_mortal=True), liveness=True),
        bug("FencesSilent", "GoneIsFenced", Config(client_mortal=True), liveness=True),
    )
)
