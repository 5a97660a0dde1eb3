"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.signal_state import Config, Guards

__all__ = ("BUGS", "Bug")


@dataclass(frozen=True)
class Bug:
    """A faulty variant."""

    config: Config
    violates: str


def _bug(guard: str, violates: str, base: Config) -> tuple[str, Bug]:
    return guard, Bug(replace(base, guards=Guards.without(guard)), violates)


_R = frozenset[int]
_ONE = Config(creators=_R({0}), attachers=_R({1}))
_TWO = Config()

BUGS: dict[str, Bug] = dict(
    (
        _bug("GuardTaken", "OneOwner", _TWO),
        _bug("OwnerChecked", "LiveIsKept", _TWO),
        _bug("LockFirst", "LiveIsKept", _TWO),
        _bug("FillFirst", "OnlyWhole", _ONE),
        _bug("InodeChecked", "OnlyExamined", replace(_TWO, insisters=_R({1}))),
        _bug("Supersedes", "HoldersCanKnow", _ONE),
        _bug("ClearMarks", "HoldersCanKnow", _ONE),
        _bug("LinkFirst", "OnlyExamined", replace(_ONE, attachers=_R(), foreign=True)),
        _bug("TempDropped", "NothingInTheWay", replace(_ONE, attachers=_R(), mortal=_R({0}))),
    )
)
