"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.mailbox_state import Config

__all__ = ("BUGS",)

_MORTAL = Config(max_items=1, mortal=frozenset({1}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("OneSender", "InOrderOnce", Config()),
        bug("LooksAgain", "WaitingIsSent", Config(), liveness=True),
        bug("FirstOwner", "OneClient", Config(clients=2)),
        bug("Mandatory", "NothingToTheGone", _MORTAL),
        bug("Bounds", "Bounded", Config(capacity=1)),
        bug("Expires", "UnaskedEnds", Config(max_items=1, idle=True), liveness=True),
        bug("EndedRefused", "EndedStays", Config(max_items=1)),
        bug("FlushEnds", "FinishedIsOver", Config()),
        bug("TellsUnsent", "NothingVanishes", _MORTAL),
    )
)
