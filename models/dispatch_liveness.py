"""What dispatch promises to do in the end, and what that promise assumes."""

from __future__ import annotations

from collections.abc import Callable

from models.dispatch_state import AWAY, LIVE, Config, State
from models.kernel import Action
from models.liveness import Fair, LeadsTo

__all__ = ("fairness", "liveness")


def fairness(config: Config) -> list[Fair[State]]:
    """The host serves what it can, notices what is gone, and live ranks go on reading. Nothing else is assumed.

    Reading and losing are strong: a rank that crashes and comes back for ever does read now and then.
    """
    fair: list[Fair[State]] = [
        Fair("PutTasks", lambda s, a: a.name == "PutTasks", strong=True),
        Fair("PutLost", lambda s, a: a.name == "PutLost", strong=True),
    ]
    for rank in range(config.ranks):
        fair.append(_of("Fence", "rank", rank))
        fair.append(Fair(f"GetTasks({rank}) of a live rank", _live_get(rank), strong=True))
    for producer in range(config.producers):
        fair.append(_of("FenceProducer", "producer", producer))
    return fair


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties; each is a family over batches (and ranks)."""
    ids = range(1, 1 + (config.max_calls or 0))
    return {
        "Delivered": [_delivered(id_, rank) for id_ in ids for rank in range(config.ranks)],
        "PutReturns": [_put_returns(id_) for id_ in ids],
    }


def _delivered(id_: int, rank: int) -> LeadsTo[State]:
    def unread(s: State) -> bool:
        return s.status[rank] == LIVE and any(e.id == id_ and rank not in e.taken for e in s.log)

    return LeadsTo(f"Delivered(id={id_}, rank={rank})", unread, lambda s: not unread(s))


def _put_returns(id_: int) -> LeadsTo[State]:
    def waits(s: State) -> bool:
        return any(call.id == id_ for call in s.waiting)

    return LeadsTo(f"PutReturns(id={id_})", waits, lambda s: not waits(s) or AWAY in s.status)


def _of(name: str, key: str, value: int) -> Fair[State]:
    return Fair(f"{name}({value})", lambda s, a: a.name == name and a.param(key) == value)


def _live_get(rank: int) -> Callable[[State, Action], bool]:
    def of(s: State, a: Action) -> bool:
        return a.name == "GetTasks" and a.param("rank") == rank and s.status[rank] == LIVE

    return of
