"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.dispatch_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

_RANK_0 = frozenset({0})

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("GuardOwnRead", "ExactlyOnceInOrder", Config()),
        bug("IdleGetKeepsExist", "ExistCoherent", Config()),
        bug("ClearLowersExist", "ExistCoherent", Config()),
        bug("ClearKeepsStarted", "InStep", Config()),
        bug("ClearOncePerEpoch", "ClearsOnlySeen", Config(max_epoch=2)),
        bug("FenceFrees", "PutReturns", Config(mortal=_RANK_0), liveness=True),
        bug("PutsInOrder", "WaitingInOrder", Config(producers=2)),
        bug("LowerInside", "ExistCoherent", Config()),
        bug("FenceWithdraws", "NoGhostCall", Config(mortal_producers=frozenset({0}))),
        bug("FencedCannotRead", "OnlyMembersRead", Config(mortal=_RANK_0)),
        bug("JoinSkips", "JoinSkipsStarted", Config(ranks=3, mortal=_RANK_0)),
    )
)
