"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from models.guards import Bug, bug
from models.ring_bias_state import Config as BiasConfig
from models.ring_last_state import Config as LastConfig
from models.ring_place import Config as PlaceConfig
from models.ring_segments import Config as OverflowConfig
from models.ring_state import Config
from models.ring_wait import Config as WaitConfig

__all__ = ("BIAS", "BUGS", "LAST", "OVERFLOW", "PLACE", "WAIT")

R = frozenset[int]
_ONE = Config(ranks=1)
_FENCED = Config(ranks=2, fenceable=R({0}))
_AGAIN = Config(ranks=2, puts=2, joins=1, mortal=R({0}))
_ROOM = Config(ranks=1, puts=2, clears=1)
_CLEAR = Config(ranks=2, puts=1, clears=1)

BUGS: dict[str, Bug[Config]] = dict(
    (
        bug("PublishLast", "NoTornRead", _ONE),
        bug("PublishFence", "NoTornRead", Config(ranks=1, ordered=False)),
        bug("WaitsForCursors", "Complete", _ONE),
        bug("SkipsFenced", "Delivers", Config(ranks=2, mortal=R({1})), liveness=True),
        bug("LivesLast", "Complete", _AGAIN),
        bug("ChecksLife", "NoTornRead", _FENCED),
        bug("JoinBarrier", "ExactlyOnceInOrder", Config(ranks=1, puts=1, joins=1, fenceable=R({0}))),
        bug("AnnouncesBegin", "OneFate", _CLEAR),
        bug("ClearBarrier", "OneFate", _CLEAR),
        bug("KeepsBegun", "OneFate", _CLEAR),
        bug("Resumes", "NoTornRead", Config(ranks=1, mortal=R({1}))),
        bug("CompletesClear", "Delivers", Config(ranks=1, puts=1, clears=1, mortal=R({2})), liveness=True),
        bug("ComparesGate", "NoTornRead", _ROOM),
        bug("PassesOver", "HonestFence", _ROOM),
        bug("LooksForVoids", "MakesRoom", _ROOM),
        bug("MarksOnce", "Delivers", Config(ranks=1, puts=2, clears=2), liveness=True),
    )
)

WAIT: dict[str, Bug[WaitConfig]] = dict(
    (
        bug("LooksAfter", "NoLostWakeUp", WaitConfig()),
        bug("Barrier", "NoLostWakeUp", WaitConfig()),
        bug("BellFirst", "NoLostWakeUp", WaitConfig()),
        bug("FreshBell", "NoLostWakeUp", WaitConfig(tellers=2, tells=2, spurious=False)),
        bug("OwnFlag", "NoLostWakeUp", WaitConfig(tells=2)),
        bug("Rechecks", "WaitsEnd", WaitConfig(mortal=R({0}), spurious=False), liveness=True),
    )
)

_LEAVES = OverflowConfig(writers=2, leavers=R({0}))
_ZOMBIE = OverflowConfig(ranks=2, fenceable=R({0}))

OVERFLOW: dict[str, Bug[OverflowConfig]] = dict(
    (
        bug("AfterReaders", "Stable", OverflowConfig(slots=2)),
        bug("AfterZombies", "Stable", _ZOMBIE),
        bug("KeepsUnbegun", "Stable", OverflowConfig(slots=2, back=True, mortal=R({1}))),
        bug("OneCounter", "Stable", OverflowConfig(writers=2, slots=2, leavers=R({0}))),
        bug("LeavesUnread", "NeverGone", _LEAVES),
        bug("TakesUnread", "NeverGone", _LEAVES),
        bug("TakesLatest", "NeverGone", OverflowConfig(writers=2, slots=2, puts=3, segments=3, leavers=R({0}))),
        bug("AsksLock", "OwnersOnly", OverflowConfig(writers=2)),
        bug("ChecksPlace", "Stable", _ZOMBIE),
        bug("TakesOver", "NothingLeft", OverflowConfig(writers=2, puts=1, leavers=R({0}))),
        bug("SweepsNew", "EndsClean", OverflowConfig(puts=1, mortal=R({0})), liveness=True),
    )
)

PLACE: dict[str, Bug[PlaceConfig]] = dict(
    (
        bug("SeesAgain", "NoneSkipped", PlaceConfig()),
        bug("KernelLock", "HeldByTheLiving", PlaceConfig(mortal=R({0}))),
        bug("TakesLock", "OneAtATime", PlaceConfig()),
        bug("GivesBack", "PutsEnd", PlaceConfig(), liveness=True),
        bug("AsksLife", "NamesTheHolder", PlaceConfig(mortal=R({0}), stoppable=R({1}), writers=3)),
    )
)

BIAS: dict[str, Bug[BiasConfig]] = dict(
    (
        bug("SaysFirst", "OneAtATime", BiasConfig()),
        bug("EndBarrier", "OneAtATime", BiasConfig()),
        bug("WaitsOut", "OneAtATime", BiasConfig()),
        bug("AsksToken", "PutsEnd", BiasConfig(mortal=R({0})), liveness=True),
        bug("TokenWord", "OneAtATime", BiasConfig(tokens=2)),
        bug("Marks", "OneAtATime", BiasConfig()),
        bug("CleansWord", "IdleSaysSo", BiasConfig(mortal=R({0}))),
        bug("ReadsHead", "NumbersGoUp", BiasConfig()),
        bug("Doubts", "NumbersGoUp", BiasConfig(puts=3, cuts=True)),
    )
)

_BACK = LastConfig(fenceable=R({0}), back=R({0}))

LAST: dict[str, Bug[LastConfig]] = dict(
    (
        bug("ToldFirst", "OneTold", LastConfig()),
        bug("LastFence", "SomebodyTold", LastConfig()),
        bug("LooksAtTold", "OneTold", LastConfig()),
        bug("LocksTies", "OneTold", LastConfig()),
        bug("OwnWord", "OneTold", LastConfig(messages=2, fenceable=R({0}), back=R({0}))),
        bug("TellBarrier", "OneTold", _BACK),
    )
)
