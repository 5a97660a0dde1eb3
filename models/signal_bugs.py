"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import replace

from models.guards import Bug, bug
from models.signal_state import Config

__all__ = ("BUGS",)

_R = frozenset[int]
_ONE = Config(creators=_R({0}), attachers=_R({1}))
_TWO = Config()

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("GuardTaken", "OneOwner", _TWO),
        bug("OwnerChecked", "LiveIsKept", _TWO),
        bug("LockFirst", "LiveIsKept", _TWO),
        bug("FillFirst", "OnlyWhole", _ONE),
        bug("InodeChecked", "OnlyExamined", replace(_TWO, insisters=_R({1}))),
        bug("Supersedes", "HoldersCanKnow", _ONE),
        bug("ClearMarks", "HoldersCanKnow", _ONE),
        bug("LinkFirst", "OnlyExamined", replace(_ONE, attachers=_R(), foreign=True)),
        bug("TempDropped", "NothingInTheWay", replace(_ONE, attachers=_R(), mortal=_R({0}))),
    )
)
