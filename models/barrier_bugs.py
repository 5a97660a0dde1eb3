"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.barrier_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

_ONE = Config(barriers=1)
_DYING = replace(_ONE, mortal=frozenset({0}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("FenceWithdraws", "NoGhostArrival", _DYING),
        bug("FenceWakes", "WaitReturns", _DYING, liveness=True),
        bug("ResetHarmless", "ResetBreaksNobody", _ONE),
        bug("ResetNamesAbort", "AbortsHold", replace(_ONE, max_aborts=1)),
        bug("RoundsCount", "PassNeedsAll", _ONE),
        bug("OneWaitPerRank", "PassNeedsAll", _ONE),
        bug("LabelsChecked", "OneLabel", replace(_ONE, ranks=3, labels=2, max_rounds=1)),
        bug("RoundsChecked", "RoundAsNamed", replace(_ONE, named=True)),
        bug("CrossWaitFound", "NoCrossWait", Config(max_rounds=1)),
    )
)
