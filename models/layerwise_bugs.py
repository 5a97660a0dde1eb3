"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.guards import Bug, bug
from models.layerwise_state import Config

__all__ = ("BUGS",)

_1 = frozenset({1})
_ONE = Config(tasks=1)
_TWO_SLOTS = Config(slots=2, layers=1)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("StepTagged", "NeverUncomputed", Config()),
        bug("SerialSteps", "NeverUncomputed", Config()),
        bug("KeepsEarly", "EveryLayerSent", _ONE, liveness=True),
        bug("LatestWins", "EarlyKept", _ONE),
        bug("EndForgets", "NoLeftover", replace(_ONE, aborted=_1)),
        bug("EndKeepsNewer", "EarlyKept", Config(aborted=_1)),
        bug("GoneStaysGone", "OneFate", replace(_ONE, expiry=True)),
        bug("ExpiresEarly", "EarlyEnds", replace(_ONE, lost=_1, expiry=True), liveness=True, timed=True),
        bug("ExpiresTask", "OthersGoOn", replace(_TWO_SLOTS, expiry=True), liveness=True, timed=True),
        bug("AgreedOrder", "SameCollectives", replace(_TWO_SLOTS, ranks=2)),
        bug("FailedTakePart", "SameCollectives", Config(ranks=2, layers=1, expiry=True)),
    )
)
