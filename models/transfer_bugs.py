"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.transfer_state import Config

__all__ = ("BUGS",)

_PAUSED = Config(max_pauses=1)
_ALONE = Config(ranks=1)
_DYING = Config(mortal=frozenset({0}))

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("Agreed", "StillIsQuiet", _PAUSED),
        bug("RefusalFrees", "PauseComes", _PAUSED, liveness=True),
        bug("StartCounts", "StillIsQuiet", _PAUSED),
        bug("DoneAfterReport", "StillIsQuiet", _PAUSED),
        bug("WithdrawTells", "OneResult", _ALONE),
        bug("KeepsStarted", "CancelledUntouched", _ALONE),
        bug("FailureTold", "TasksEnd", Config(failing=frozenset({0})), liveness=True),
        bug("FenceFrees", "TasksEnd", _DYING, liveness=True),
        bug("EndedStays", "EndStays", Config(ranks=1, impatient=frozenset({1}))),
        bug("InOrder", "KindInOrder", Config(ranks=1, max_issued=2)),
        bug("OverdueHeld", "TargetsHeld", Config(ranks=1, slow=frozenset({0}))),
        bug("AbandonHolds", "FreeIsStill", Config(ranks=1, impatient=frozenset({1}))),
        bug("FenceSettles", "TasksSettle", Config(ranks=1, mortal=frozenset({0})), liveness=True),
        bug("DoneAfterSettle", "StillIsQuiet", Config(ranks=1, max_pauses=1, slow=frozenset({0}))),
    )
)
"""Guard -> the configuration without it, and what fails."""
