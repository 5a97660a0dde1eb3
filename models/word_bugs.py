"""One small configuration for each removable guard in which its absence shows, and the property that must fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from models import word, word_counter, word_lock, word_sequence

__all__ = ("BUGS", "SHIPPED", "Bug", "model_of")


@dataclass(frozen=True)
class Bug:
    """A faulty variant of one part. ``liveness``: the property speaks of what must happen in the end."""

    part: str
    config: Any
    violates: str
    race: str
    liveness: bool = False


_0 = frozenset({0})
_Word, _Sequence, _Lock = word.Config, word_sequence.Config, word_lock.Config


def _word(guard: str, **rest: Any) -> word.Config:
    return _Word(guards=word.Guards.without(guard), **rest)


def _sequence(guard: str, **rest: Any) -> word_sequence.Config:
    return _Sequence(guards=word_sequence.Guards.without(guard), **rest)


def _lock(*guards: str, **rest: Any) -> word_lock.Config:
    return _Lock(processes=3, guards=word_lock.Guards.without(*guards), **rest)


BUGS: dict[str, Bug] = {
    "Barrier": Bug("Word", _word("Barrier", sets=1), "NoLostWakeUp", "lost-wake-up"),
    "TokenFirst": Bug("Word", _word("TokenFirst", sets=1, waiters=2), "NoLostWakeUp", "lost-wake-up"),
    "ClearsLocked": Bug("Word", _word("ClearsLocked"), "NoLostWakeUp", "lost-wake-up"),
    "FreshTokens": Bug("Word", _word("FreshTokens", setters=2, spurious=False), "NoLostWakeUp", "lost-wake-up"),
    "Rechecks": Bug("Word", _word("Rechecks", sets=1, spurious=False, mortal=_0), "WaitsEnd", "lost-wake-up", True),
    "Locked": Bug("Counter", word_counter.Config(locked=False), "NothingLost", "lost-update"),
    "DeathFrees": Bug("Counter", word_counter.Config(mortal=_0, frees=False), "Returns", "lost-update"),
    "Sequenced": Bug("Sequence", _sequence("Sequenced"), "NoTornRead", "torn-read"),
    "InOrder": Bug("Sequence", _sequence("InOrder"), "NoTornRead", "torn-read"),
    "OneWriter": Bug("Sequence", _sequence("OneWriter", writers=2), "NoTornRead", "torn-read"),
    "BeginsOdd": Bug("Sequence", _sequence("BeginsOdd", writers=2, mortal=_0), "NoTornRead", "torn-read"),
    "ProvesDeath": Bug("Sequence", _sequence("ProvesDeath", mortal=_0), "ReadsEnd", "torn-read", True),
    "ChecksFile": Bug("IpcLock", _lock("ChecksFile"), "Exclusion", "split-lock"),
    "RemovesLocked": Bug("IpcLock", _lock("RemovesLocked"), "Exclusion", "split-lock"),
}

# IPCLock as FastDeploy has it. The other shipped variants are Locked and Sequenced without their guard.
SHIPPED = Bug("IpcLock", _lock("ChecksFile", "RemovesLocked"), "Exclusion", "split-lock")

_MODELS: dict[str, Any] = {
    "Word": word.Word,
    "Counter": word_counter.Counter,
    "Sequence": word_sequence.Sequence,
    "IpcLock": word_lock.IpcLock,
}


def model_of(part: str, config: Any) -> Any:
    """Return the model of a part under a configuration."""
    return _MODELS[part](config)
