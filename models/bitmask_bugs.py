"""One small configuration for each removable guard in which its absence shows, and the property that must fail.

FenceFrees, whose property is liveness, is dispatch's: see ``models/dispatch_bugs.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.bitmask_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant."""

    config: Config
    violates: str


BUGS: dict[str, Bug] = {
    "PutKeepsMask": Bug(Config(guards=Guards.without("PutKeepsMask")), "ExactlyOnceInOrder"),
    "ClearKeepsStarted": Bug(Config(guards=Guards.without("ClearKeepsStarted")), "InStep"),
}
