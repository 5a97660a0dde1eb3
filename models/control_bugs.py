"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.control_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant. ``liveness``: the property speaks of what must happen in the end."""

    config: Config
    violates: str
    liveness: bool = False


def _bug(guard: str, violates: str, base: Config, *, liveness: bool = False) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates, liveness)


_TWO_REQUESTS = Config(ranks=1, max_asked=2)
_DYING = Config(mortal=frozenset({0}))

BUGS: dict[str, Bug] = dict(
    (
        _bug("Keyed", "NoMixing", _TWO_REQUESTS),
        _bug("LateRefused", "EndedStays", _TWO_REQUESTS),
        _bug("SkipsEnded", "TakesOpenInOrder", _TWO_REQUESTS),
        _bug("FenceDooms", "LostEnds", _DYING, liveness=True),
        _bug("TimeoutEnds", "RequestsEnd", _DYING, liveness=True),
    )
)
