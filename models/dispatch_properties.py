"""What is claimed of dispatch: invariants, action properties, and the situations that must be reachable."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from models.dispatch_state import AWAY, DEAD, DOWN, LIVE, LOST, UP, Config, State
from models.kernel import Action

__all__ = ("action_properties", "invariants", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the state invariants under a configuration."""
    ranks = range(config.ranks)
    everyone = frozenset(ranks)
    immortal = everyone - config.mortal

    def type_ok(s: State) -> bool:
        return (
            len(s.rankSeen) == len(s.status) == len(s.got) == config.ranks
            and len(s.prodSeen) == len(s.producer) == config.producers
            and all(status in (AWAY, LIVE, DEAD, LOST) for status in s.status)
            and all(life in (UP, DEAD, DOWN) for life in s.producer)
            and all(0 <= seen <= s.epoch for seen in (*s.rankSeen, *s.prodSeen))
            and all(0 < call.id <= s.calls and 0 <= call.producer < config.producers for call in s.waiting)
            and all(0 < e.id <= s.calls and e.epoch <= s.epoch and e.taken < everyone for e in s.log)
        )

    def exactly_once_in_order(s: State) -> bool:
        return all(_increasing(ids) for ids in s.got)

    def bounded(s: State) -> bool:
        return len(s.log) <= config.depth

    def exist_coherent(s: State) -> bool:
        return s.exist == any(e.taken != everyone for e in s.log)

    def in_step(s: State) -> bool:
        """A rank that cannot crash never skips, so it has got, or can still get, whatever another has got."""
        retained = {e.id for e in s.log}
        gone = {id_ for ids in s.got for id_ in ids} - retained
        return all(gone.issubset(s.got[rank]) for rank in immortal)

    def no_ghost_call(s: State) -> bool:
        owners = [call.producer for call in s.waiting]
        limit = len(owners) if config.per_producer is None else config.per_producer
        return all(s.producer[p] != DOWN and owners.count(p) <= limit for p in owners)

    def waiting_in_order(s: State) -> bool:
        ids = [call.id for call in s.waiting]
        return _increasing(tuple(ids)) and all(e.id < id_ for e in s.log for id_ in ids)

    return {
        "TypeOK": type_ok,
        "ExactlyOnceInOrder": exactly_once_in_order,
        "Bounded": bounded,
        "ExistCoherent": exist_coherent,
        "InStep": in_step,
        "NoGhostCall": no_ghost_call,
        "WaitingInOrder": waiting_in_order,
    }


def action_properties() -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    return {
        "ClearsOnlySeen": _clears_only_seen,
        "OnlyMembersRead": _only_members_read,
        "JoinSkipsStarted": _join_skips_started,
    }


def _clears_only_seen(s: State, action: Action, t: State) -> bool:
    if action.name not in ("ClearRank", "ClearProducer"):
        return True
    (_, who), *_ = action.params
    seen = (s.rankSeen if action.name == "ClearRank" else s.prodSeen)[who]
    kept = {e.id for e in t.log}
    return all(e.epoch <= seen and not e.taken for e in s.log if e.id not in kept)


def _only_members_read(s: State, action: Action, t: State) -> bool:
    readers = (rank for rank, (old, new) in enumerate(zip(s.got, t.got, strict=True)) if old != new)
    return all(s.status[rank] in (LIVE, DEAD) for rank in readers)


def _join_skips_started(s: State, action: Action, t: State) -> bool:
    back = [r for r, (old, new) in enumerate(zip(s.status, t.status, strict=True)) if (old, new) == (LOST, LIVE)]
    return all(not e.taken or rank in e.taken for rank in back for e in t.log)


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "every rank took the last batch": lambda s: bool(s.calls) and all(s.calls in ids for ids in s.got),
        "a call waits while the log is full": lambda s: bool(s.waiting) and len(s.log) == config.depth,
        "some ranks have taken what others have not": lambda s: any(e.taken for e in s.log),
    }
    if config.max_epoch != 0:
        if config.ranks > 1:
            found["a started batch outlived a clear"] = lambda s: any(e.taken and e.epoch < s.epoch for e in s.log)
        found["a handle has not seen the epoch"] = lambda s: min((*s.rankSeen, *s.prodSeen)) < s.epoch
    if config.ranks == 1:
        del found["some ranks have taken what others have not"]
    if config.depth > 1:
        found["more than one batch is retained"] = lambda s: len(s.log) > 1
    if config.producers > 1:
        found["calls of two producers wait"] = lambda s: len({call.producer for call in s.waiting}) > 1
    if config.mortal:
        found["a call waits while a rank is lost"] = lambda s: bool(s.waiting) and LOST in s.status
        if config.ranks > 2:
            found["a restarted rank skipped a batch"] = _skipped
    if config.mortal_producers:
        found["the call of a dead producer waits"] = lambda s: any(s.producer[c.producer] == DEAD for c in s.waiting)
    if config.leavers:
        found["a batch waits for a rank's next reader"] = lambda s: any(
            status == AWAY and any(rank not in e.taken for e in s.log) and any(s.got)
            for rank, status in enumerate(s.status)
        )
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.max_epoch != 0:
        found["a clear drops a batch"] = lambda s, a, t: a.name.startswith("Clear") and len(t.log) < len(s.log)
        found["a late clear drops nothing"] = lambda s, a, t: a.name.startswith("Clear") and s.epoch == t.epoch
    if config.mortal:
        found["a dead rank is served"] = lambda s, a, t: a.name == "GetTasks" and s.status[a.params[0][1]] == DEAD
        if config.ranks > 1:
            found["a join empties the log"] = lambda s, a, t: a.name == "Join" and s.exist and not t.exist
    if config.mortal_producers:
        found["a fence withdraws a call"] = lambda s, a, t: a.name == "FenceProducer" and s.waiting != t.waiting
        found["a dead producer is served"] = lambda s, a, t: a.name == "PutTasks" and s.producer[a.params[0][1]] == DEAD
    return found


def _skipped(s: State) -> bool:
    return any(rank in e.taken and e.id not in s.got[rank] for e in s.log for rank in range(len(s.got)))


def _increasing(ids: tuple[int, ...]) -> bool:
    return all(left < right for left, right in pairwise(ids))
