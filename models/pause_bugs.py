"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.pause_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end."""

    config: Config
    violates: str
    liveness: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness)


_ONE = Config(ranks=1)

BUGS: dict[str, Bug] = dict(
    (
        _bug("TakeShuts", "QuietMeansShut", _ONE),
        _bug("AllRanks", "PausedMeansStill", Config()),
        _bug("OldOrdersDropped", "QuietMeansShut", replace(_ONE, max_orders=3)),
        _bug("FenceFrees", "PauseComes", Config(mortal=frozenset({0})), liveness=True),
        _bug("JoinsShut", "PausedMeansStill", _ONE),
        _bug("HoldBlocks", "HeldMeansPaused", replace(_ONE, clients=2)),
        _bug("ResumeWaits", "OnlyOwnerEnds", replace(_ONE, clients=2)),
    )
)
