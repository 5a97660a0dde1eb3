"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.readiness_state import Config

__all__ = ("BUGS",)

_R = frozenset
_ONE = _R({0})

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("EveryPart", "DoneIsReady", Config(parts=2)),
        bug("FenceResets", "GoneIsNotReady", Config(max_waits=0, mortal=_ONE)),
        bug("WordsKeyed", "SaidIsSo", Config(max_inc=2, max_waits=0, cuts=_ONE)),
        bug("BeatsKeyed", "DoneIsFresh", Config(max_inc=2, cuts=_ONE, hangs=_ONE)),
        bug("AgeCounts", "DoneIsFresh", Config(hangs=_ONE)),
        bug("FailureTells", "TroubleTells", Config(failing=_ONE), liveness=True),
        bug("LossTells", "TroubleTells", Config(mortal=_ONE), liveness=True),
        bug(
            "Ordered",
            "NoCircle",
            Config(components=2, needs=_R({1}), max_waits=2, askers=_R({1, 2}), masks=_R({1, 2})),
        ),
    )
)
