"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.status_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end; ``timed``: by time limits."""

    config: Config
    violates: str
    liveness: bool = False
    timed: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False, timed: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness, timed)


_DYING = Config(mortal=frozenset({0}))

BUGS: dict[str, Bug] = dict(
    (
        _bug("ReportsKeyed", "ClearedMeansEmpty", Config(max_asked=3)),
        _bug("WaitsForAll", "ClearedMeansEmpty", Config(parts=2)),
        _bug("OneAtATime", "EndStays", Config(max_asked=2)),
        _bug("Staged", "InStages", Config(components=2)),
        _bug("FailureEnds", "WorkEnds", Config(returns=False), liveness=True),
        _bug("FenceFails", "WorkEnds", replace(_DYING, returns=False), liveness=True),
        _bug("ExpiryFrees", "RequestsEnd", Config(), liveness=True, timed=True),
        _bug("JoinMarks", "ClearedMeansEmpty", _DYING),
    )
)
