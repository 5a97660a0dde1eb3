"""One small configuration for each removable guard in which its absence shows, and the property that must fail.

FenceFrees, whose property is liveness, is dispatch's: see ``models/dispatch_bugs.py``.
"""

from __future__ import annotations

from models.bitmask_state import Config
from models.guards import Bug, bug

__all__ = ("BUGS",)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("PutKeepsMask", "ExactlyOnceInOrder", Config()),
        bug("ClearKeepsStarted", "InStep", Config()),
    )
)
