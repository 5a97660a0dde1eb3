"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.gate_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS", "FORGETFUL")

_RANK_1 = frozenset({1})
_ONE = Config(keys=1, max_issues=1)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("KeyedRounds", "NoMixing", Config(skippers=_RANK_1)),
        bug("OnePerRank", "OncePerRound", Config(keys=1, overlap=True)),
        bug("LateRefused", "OneFate", Config()),
        bug("FenceDooms", "LostEnds", replace(_ONE, mortal=_RANK_1), liveness=True),
        bug("FenceForgets", "LostOwesNothing", Config(mortal=_RANK_1)),
        bug("OpenFences", "ReturnAwaited", replace(_ONE, mortal=_RANK_1)),
        bug("VanishLost", "VanishedIsLost", replace(_ONE, silent=_RANK_1)),
        bug("TimeoutEnds", "RoundsEnd", replace(_ONE, skippers=_RANK_1), liveness=True, timed=True),
        bug("PassesPending", "CompleteCollected", Config(), liveness=True),
    )
)

# No guard, but a limit: a rank that owes more answers than MaxLate is not refused the oldest.
FORGETFUL = Bug(Config(max_late=1), "OneFate")
