"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.layerwise_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end (``timed``: with limits)."""

    config: Config
    violates: str
    liveness: bool = False
    timed: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False, timed: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness, timed)


_1 = frozenset({1})
_ONE = Config(tasks=1)
_TWO_SLOTS = Config(slots=2, layers=1)

BUGS: dict[str, Bug] = dict(
    (
        _bug("StepTagged", "NeverUncomputed", Config()),
        _bug("SerialSteps", "NeverUncomputed", Config()),
        _bug("KeepsEarly", "EveryLayerSent", _ONE, liveness=True),
        _bug("LatestWins", "EarlyKept", _ONE),
        _bug("EndForgets", "NoLeftover", replace(_ONE, aborted=_1)),
        _bug("EndKeepsNewer", "EarlyKept", Config(aborted=_1)),
        _bug("GoneStaysGone", "OneFate", replace(_ONE, expiry=True)),
        _bug("ExpiresEarly", "EarlyEnds", replace(_ONE, lost=_1, expiry=True), liveness=True, timed=True),
        _bug("ExpiresTask", "OthersGoOn", replace(_TWO_SLOTS, expiry=True), liveness=True, timed=True),
        _bug("AgreedOrder", "SameCollectives", replace(_TWO_SLOTS, ranks=2)),
        _bug("FailedTakePart", "SameCollectives", Config(ranks=2, layers=1, expiry=True)),
    )
)
