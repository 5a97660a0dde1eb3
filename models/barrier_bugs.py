"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.barrier_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end."""

    config: Config
    violates: str
    liveness: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness)


_ONE = Config(barriers=1)
_DYING = replace(_ONE, mortal=frozenset({0}))

BUGS: dict[str, Bug] = dict(
    (
        _bug("FenceWithdraws", "NoGhostArrival", _DYING),
        _bug("FenceWakes", "WaitReturns", _DYING, liveness=True),
        _bug("ResetHarmless", "ResetBreaksNobody", _ONE),
        _bug("ResetNamesAbort", "AbortsHold", replace(_ONE, max_aborts=1)),
        _bug("RoundsCount", "PassNeedsAll", _ONE),
        _bug("OneWaitPerRank", "PassNeedsAll", _ONE),
        _bug("LabelsChecked", "OneLabel", replace(_ONE, ranks=3, labels=2, max_rounds=1)),
        _bug("RoundsChecked", "RoundAsNamed", replace(_ONE, named=True)),
        _bug("CrossWaitFound", "NoCrossWait", Config(max_rounds=1)),
    )
)
