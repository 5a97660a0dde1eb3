"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.guards import Bug, bug
from models.rearrange_state import Config

__all__ = ("BUGS",)

_ONE = Config(peers=0, max_requests=1)
_TWO = Config(peers=0, max_requests=2)
_LOADER_1 = frozenset({1})

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("OneAtATime", "OneRunning", _TWO),
        bug("ReportsKeyed", "LoadedByAll", Config(ranks=1, peers=0)),
        bug("AllPeers", "PeersReached", Config(ranks=1, max_requests=1)),
        bug("FailureFrees", "LoadedByAll", _ONE),
        bug("SwapKept", "SwapsAreRunning", _ONE),
        bug("InStep", "SwapsTogether", _ONE),
        bug("WaitsLimited", "WaitsEnd", _ONE, liveness=True),
        bug("FenceEnds", "LostEnds", replace(_ONE, movers=_LOADER_1), liveness=True),
        bug("TimeoutEnds", "RequestsEnd", _ONE, liveness=True, timed=True),
    )
)
