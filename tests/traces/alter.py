"""Altered recordings: each has one thing that did not happen, at a known place.

The place is known by construction, not by asking a judge. Events are numbered anew after each change, so that it is
the protocol that a judge must know, and not only the numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ("ALTERATIONS", "Alteration", "altered")

Event: TypeAlias = dict[str, Any]
Run: TypeAlias = list[Event]


@dataclass(frozen=True)
class Alteration:
    """``change`` alters a run in place and returns the index of the first event that cannot be. Open has index 0."""

    of: str
    why: str
    change: Callable[[Run], int]
    renumber: bool = True


def _find(run: Run, action: str, nth: int = 0, **where: Any) -> int:
    """Return the index of the nth event of an action whose args, result or post have these values."""
    found = [
        index
        for index, event in enumerate(run)
        if event["action"] == action
        and all({**event["args"], **event["result"]}.get(key) == value for key, value in where.items())
    ]
    return found[nth]


def _dropped_call(run: Run) -> int:
    index = _find(run, "CallPut")
    del run[index]
    return index


def _dropped_join(run: Run) -> int:
    index = _find(run, "Join", rank=1)
    del run[index]
    return _find(run, "GetTasks", rank=1)


def _dropped_fence(run: Run) -> int:
    del run[_find(run, "Fence")]
    return _find(run, "PutLost")


def _lost_line(run: Run) -> int:
    index = _find(run, "GetTasks")
    del run[index]
    return index


def _duplicated_get(run: Run) -> int:
    index = _find(run, "GetTasks", all_read=False)
    run.insert(index + 1, copy.deepcopy(run[index]))
    return index + 1


def _duplicated_put(run: Run) -> int:
    index = _find(run, "PutTasks")
    run.insert(index + 1, copy.deepcopy(run[index]))
    return index + 1


def _swapped(run: Run) -> int:
    index = _find(run, "CallPut")
    run[index], run[index + 1] = run[index + 1], run[index]
    return index


def _swapped_gets(run: Run) -> int:
    """Two ranks' gets of one batch, in the other order: the last one is then said to be the first."""
    index = _find(run, "GetTasks", 1, id=2)
    first = _find(run, "GetTasks", 0, id=2)
    run[first], run[index] = run[index], run[first]
    return first


def _wrong_rank(run: Run) -> int:
    index = _find(run, "GetTasks", all_read=True)
    run[index]["args"]["rank"] ^= 1  # that rank has taken it already
    return index


def _wrong_id(run: Run) -> int:
    index = _find(run, "GetTasks", 1)
    run[index]["result"]["id"] += 1
    return index


def _wrong_all_read(run: Run) -> int:
    index = _find(run, "GetTasks", all_read=False)
    run[index]["result"]["all_read"] = True
    return index


def _wrong_exist(run: Run) -> int:
    index = _find(run, "ClearRank", 0)
    run[index]["post"]["exist"] = True  # P1.3: the clear left the flag
    return index


def _wrong_epoch(run: Run) -> int:
    index = _find(run, "ClearRank", 1)
    run[index]["post"]["epoch"] += 1  # P1.5: the second rank's clear counted
    return index


def _wrong_dropped(run: Run) -> int:
    index = _find(run, "ClearProducer")
    run[index]["result"]["dropped"].insert(0, 1)  # P1.4: rank 0 has taken it
    return index


def _read_by_fenced(run: Run) -> int:
    index = _find(run, "Fence")
    log = run[index]["post"]["log"]
    get = copy.deepcopy(run[index])
    get |= {"action": "GetTasks", "result": {"id": log[0], "all_read": True}}
    get["post"]["log"] = log[1:]
    run.insert(index + 1, get)
    return index + 1


def _read_after_clear(run: Run) -> int:
    index = _find(run, "ClearProducer")
    get = copy.deepcopy(run[index])
    dropped = run[index]["result"]["dropped"][0]
    get |= {"action": "GetTasks", "args": {"rank": 0}, "result": {"id": dropped, "all_read": False}}
    run.insert(index + 1, get)
    return index + 1


def _put_out_of_turn(run: Run) -> int:
    index = _find(run, "PutTasks", 2)
    event = run[index]
    older, younger = event["args"]["id"], event["post"]["waiting"][0]
    event["args"]["id"] = younger  # P1.9
    event["post"]["waiting"][0] = older
    event["post"]["log"][-1] = younger
    return index


def _ghost_put(run: Run) -> int:
    """The call of a producer that was fenced is served after all."""
    index = _find(run, "FenceProducer")
    call = next(event for event in run if event["action"] == "CallPut" and event["args"]["producer"] == _gone(run))
    put = _find(run, "PutTasks", 3)
    run[put]["args"] = dict(call["args"])
    run[put]["post"]["log"][-1] = call["args"]["id"]
    if index > put:
        raise ValueError("the producer was fenced too late for this alteration")
    return put


def _gone(run: Run) -> int:
    return int(run[_find(run, "FenceProducer")]["args"]["producer"])


def _too_many(run: Run) -> int:
    """A third batch is retained where two are allowed."""
    index = _find(run, "CallPut", 2)
    put = copy.deepcopy(run[index])
    put["action"] = "PutTasks"
    put["post"]["log"] = [*put["post"]["log"], put["args"]["id"]]
    put["post"]["waiting"] = []
    run.insert(index + 1, put)
    return index + 1


def _started_for_late(run: Run) -> int:
    """A restarted rank is given a batch that the other one has started without it."""
    index = _find(run, "GetTasks", rank=1)
    run[index]["result"] = {"id": 1, "all_read": True}
    return index


ALTERATIONS: dict[str, Alteration] = {
    "dropped-call": Alteration("steady", "a call is missing, and its put is there", _dropped_call),
    "dropped-join": Alteration("steady", "a rank reads that has not joined", _dropped_join),
    "dropped-fence": Alteration("restart", "a put is refused for a rank that is not lost", _dropped_fence),
    "lost-line": Alteration("steady", "a line is gone: the numbers have a gap", _lost_line, renumber=False),
    "duplicated-get": Alteration("steady", "a rank takes a batch twice", _duplicated_get),
    "duplicated-put": Alteration("steady", "a call is served twice", _duplicated_put),
    "swapped": Alteration("steady", "a call is served before it came", _swapped),
    "swapped-gets": Alteration("steady", "the last reader of a batch comes first", _swapped_gets),
    "wrong-rank": Alteration("steady", "another rank takes the batch, which it has taken already", _wrong_rank),
    "wrong-id": Alteration("steady", "a rank takes a batch out of order", _wrong_id),
    "wrong-all-read": Alteration("steady", "all have read, although one has not", _wrong_all_read),
    "wrong-exist": Alteration("clear", "exist stays raised after a clear (P1.3)", _wrong_exist),
    "wrong-epoch": Alteration("clear", "every rank's clear counts (P1.5)", _wrong_epoch),
    "wrong-dropped": Alteration("clear", "a clear drops what a rank has started (P1.4)", _wrong_dropped),
    "read-after-clear": Alteration("clear", "a rank takes what was cleared", _read_after_clear),
    "read-by-fenced": Alteration("restart", "a fenced rank reads", _read_by_fenced),
    "started-for-late": Alteration("restart", "a restarted rank is given what it has missed", _started_for_late),
    "put-out-of-turn": Alteration("waiting", "a younger call is served first (P1.9)", _put_out_of_turn),
    "ghost-put": Alteration("waiting", "the call of a lost producer is served", _ghost_put),
    "too-many": Alteration("waiting", "more batches are retained than depth allows", _too_many),
}


def altered(alteration: Alteration, run: Run) -> tuple[Run, int]:
    """Return an altered copy of a run, and the index of its first impossible event."""
    run = copy.deepcopy(run)
    run[0].setdefault("args", {})
    run[0].setdefault("result", {})
    position = alteration.change(run)
    del run[0]["args"], run[0]["result"]
    if alteration.renumber:
        for seq, event in enumerate(run[1:], 1):
            event["seq"] = seq
    return run, position
