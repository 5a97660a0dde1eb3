"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.dispatch_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end."""

    config: Config
    violates: str
    liveness: bool = False


def _bug(guard: str, violates: str, base: Config | None = None, *, liveness: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base or Config(), guards=Guards.without(guard)), violates, liveness)


_RANK_0 = frozenset({0})

BUGS: dict[str, Bug] = dict(
    (
        _bug("GuardOwnRead", "ExactlyOnceInOrder"),
        _bug("IdleGetKeepsExist", "ExistCoherent"),
        _bug("ClearLowersExist", "ExistCoherent"),
        _bug("ClearKeepsStarted", "InStep"),
        _bug("ClearOncePerEpoch", "ClearsOnlySeen", Config(max_epoch=2)),
        _bug("FenceFrees", "PutReturns", Config(mortal=_RANK_0), liveness=True),
        _bug("PutsInOrder", "WaitingInOrder", Config(producers=2)),
        _bug("LowerInside", "ExistCoherent"),
        _bug("FenceWithdraws", "NoGhostCall", Config(mortal_producers=frozenset({0}))),
        _bug("FencedCannotRead", "OnlyMembersRead", Config(mortal=_RANK_0)),
        _bug("JoinSkips", "JoinSkipsStarted", Config(ranks=3, mortal=_RANK_0)),
    )
)
