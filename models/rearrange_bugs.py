"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.rearrange_state import Config, Guards

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


_ONE = Config(peers=0, max_requests=1)
_TWO = Config(peers=0, max_requests=2)
_LOADER_1 = frozenset({1})

BUGS: dict[str, Bug] = dict(
    (
        _bug("OneAtATime", "OneRunning", _TWO),
        _bug("ReportsKeyed", "LoadedByAll", Config(ranks=1, peers=0)),
        _bug("AllPeers", "PeersReached", Config(ranks=1, max_requests=1)),
        _bug("FailureFrees", "LoadedByAll", _ONE),
        _bug("SwapKept", "SwapsAreRunning", _ONE),
        _bug("InStep", "SwapsTogether", _ONE),
        _bug("WaitsLimited", "WaitsEnd", _ONE, liveness=True),
        _bug("FenceEnds", "LostEnds", replace(_ONE, movers=_LOADER_1), liveness=True),
        _bug("TimeoutEnds", "RequestsEnd", _ONE, liveness=True, timed=True),
    )
)
