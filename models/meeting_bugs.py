"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.meeting_state import Config

__all__ = ("BUGS",)

R = frozenset[int]
_TWO = Config()
_COMES = Config(ranks=1, fences=True, comes=True)
_TIMED = Config(timed=R({0}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("LooksAgain", "OneFate", _TIMED),
        bug("WithdrawsLocked", "OneFate", _TIMED),
        bug("LabelsChecked", "PassNeedsAll", Config(labels=2)),
        bug("PlacesChecked", "PassNeedsAll", Config(places=2)),
        bug("FindsApart", "NoLostWakeUp", Config(places=2)),
        bug("GoesOn", "OwnAbort", Config(ranks=1, places=2, aborts=True)),
        bug("TwoBanks", "Counts", Config(ranks=1, places=2)),
        bug("FindsDead", "WaitEnds", Config(mortal=R({0}), spurious=False), liveness=True),
        bug("CompletesFence", "WaitEnds", Config(absent=R({0}), mortal=R({2}), fences=True), liveness=True),
        bug("OwnLine", "NoLostWakeUp", _COMES),
        bug("ChecksLife", "OneFate", _COMES),
        bug("Barrier", "NoLostWakeUp", _TWO),
        bug("Wakes", "NoLostWakeUp", _TWO),
        bug("Rechecks", "WaitEnds", Config(mortal=R({0}), spurious=False), liveness=True),
    )
)
