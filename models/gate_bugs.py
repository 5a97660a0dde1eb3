"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.gate_state import Config, Guards

__all__ = ("BUGS", "FORGETFUL", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end (``timed``: with limits)."""

    config: Config
    violates: str
    liveness: bool = False
    timed: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False, timed: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness, timed)


_RANK_1 = frozenset({1})
_ONE = Config(keys=1, max_issues=1)

BUGS: dict[str, Bug] = dict(
    (
        _bug("KeyedRounds", "NoMixing", Config(skippers=_RANK_1)),
        _bug("OnePerRank", "OncePerRound", Config(keys=1, overlap=True)),
        _bug("LateRefused", "OneFate", Config()),
        _bug("FenceDooms", "LostEnds", replace(_ONE, mortal=_RANK_1), liveness=True),
        _bug("FenceForgets", "LostOwesNothing", Config(mortal=_RANK_1)),
        _bug("OpenFences", "ReturnAwaited", replace(_ONE, mortal=_RANK_1)),
        _bug("VanishLost", "VanishedIsLost", replace(_ONE, silent=_RANK_1)),
        _bug("TimeoutEnds", "RoundsEnd", replace(_ONE, skippers=_RANK_1), liveness=True, timed=True),
        _bug("PassesPending", "CompleteCollected", Config(), liveness=True),
    )
)

# No guard, but a limit: a rank that owes more answers than MaxLate is not refused the oldest.
FORGETFUL = Bug(Config(max_late=1), "OneFate")
