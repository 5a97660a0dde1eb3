"""Recorded events of dispatch and what extends it, as tuples for TLC, and what is wrong with one that cannot be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ("CHANNELS", "FORMAT", "Encoded", "Event", "encode", "text_of")

Event: TypeAlias = dict[str, Any]

FORMAT = 1
CHANNELS = ("dispatch", "bitmask", "cache_info", "connect")
_WITHOUT_CLEAR = ("cache_info", "connect")
_MAX = 2**31 - 1  # TLC's integers
_OF_RANK = ("Join", "Leave", "Fence", "GetTasks", "ClearRank")
_OF_PRODUCER = ("Connect", "Disconnect", "FenceProducer", "ClearProducer")
_OF_CALL = ("CallPut", "PutTasks", "PutLost", "PutTimeout")
_READS = ("ExistTasks", "NumTasks", "TaskTicket")


class _Malformed(Exception):
    """The event cannot be an event of this run."""


@dataclass(frozen=True)
class Encoded:
    """A run for TLC. ``malformed`` says what is wrong with the event at index ``malformed_at``; the events before it
    are encoded. ``ranks`` is 0 when there is no usable Open."""

    ranks: int
    depth: int
    producers: int
    events: tuple[tuple[Any, ...], ...]
    fenced: frozenset[int]
    malformed: str = ""
    malformed_at: int = 0


class _Encoder:
    def __init__(self, ranks: int, protocol: str) -> None:
        self.ranks = ranks
        self.protocol = protocol
        self.producers = 0
        self.seq = 0
        self.dp: object = None
        self.fenced: set[int] = set()

    def event(self, event: Event) -> tuple[Any, ...]:
        name = event.get("action")
        if (event.get("v"), event.get("protocol"), event.get("dp")) != (FORMAT, self.protocol, self.dp):
            raise _Malformed(f"v, protocol and dp must be {FORMAT}, {self.protocol} and {self.dp}")
        if self.protocol in _WITHOUT_CLEAR and name in ("ClearRank", "ClearProducer"):
            raise _Malformed(f"{self.protocol} has no {name}")
        args, result = event.get("args", {}), event.get("result", {})
        if not isinstance(args, dict) or not isinstance(result, dict):
            raise _Malformed("args and result must be objects")
        if name in _READS:
            return self.read(name, event, args, result)
        self.count(event)
        who, call_id = self.arguments(name, args)
        found: tuple[Any, ...] = ()
        if name == "GetTasks":
            self.keys("result", result, {"id", "all_read"})
            found = (_number(result["id"]), _truth(result["all_read"]))
        elif name in ("ClearRank", "ClearProducer"):
            self.keys("result", result, {"dropped"})
            found = _numbers(result["dropped"])
        else:
            self.keys("result", result, set())
        if name == "Fence":
            self.fenced.add(who)
        post = event.get("post")
        if not isinstance(post, dict):
            raise _Malformed("post is missing")
        self.keys("post", post, {"calls", "epoch", "exist", "log", "waiting"})
        after = (_number(post["calls"]), _number(post["epoch"]), _truth(post["exist"]))
        return (name, who, call_id, found, *after, _numbers(post["log"]), _numbers(post["waiting"]))

    def count(self, event: Event) -> None:
        if type(event.get("seq")) is not int or event["seq"] != self.seq + 1:
            raise _Malformed(
                f"events are missing, doubled or out of order: seq is {event.get('seq')}, and {self.seq + 1} is next"
            )
        self.seq += 1

    def read(self, name: str, event: Event, args: Event, result: Event) -> tuple[Any, ...]:
        if "seq" in event:
            self.count(event)
        self.keys("result", result, {"value"})
        value = _truth(result["value"]) if name == "ExistTasks" else _number(result["value"])
        return name, self.rank(args.get("rank")) if name == "TaskTicket" else 0, 0, (value,)

    def arguments(self, name: object, args: Event) -> tuple[int, int]:
        if name in _OF_RANK:
            self.keys("args", args, {"rank"})
            return self.rank(args["rank"]), 0
        if name not in (*_OF_PRODUCER, *_OF_CALL):
            raise _Malformed(f"{name!r} is not an action that a host can see")
        self.keys("args", args, {"producer", "id"} if name in _OF_CALL else {"producer"})
        producer = _number(args["producer"])
        if name == "Connect" and producer == self.producers:
            self.producers += 1
        if producer >= self.producers:
            raise _Malformed(f"producer {producer} has not connected: they are numbered in the order of Connect")
        return producer, _number(args.get("id", 0))

    def rank(self, value: object) -> int:
        rank = _number(value)
        if rank >= self.ranks:
            raise _Malformed(f"there is no rank {rank}: Open says {self.ranks}")
        return rank

    def keys(self, what: str, found: Event, wanted: set[str]) -> None:
        if set(found) != wanted:
            raise _Malformed(f"{what} must have exactly {sorted(wanted)}, not {sorted(found)}")


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MAX:
        raise _Malformed(f"{value!r} is not a number from 0 to {_MAX}")
    return value


def _numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _Malformed(f"{value!r} is not a list")
    return tuple(_number(item) for item in value)


def _truth(value: object) -> bool:
    if type(value) is not bool:
        raise _Malformed(f"{value!r} is not true or false")
    return value


def encode(trace: Sequence[Event]) -> Encoded:
    """Return a run for TLC, up to its first malformed event."""
    first = trace[0] if trace else {}
    ranks, depth = first.get("ranks"), first.get("depth")
    usable = all(type(value) is int and 1 <= value <= _MAX for value in (ranks, depth))
    known = first.get("v") == FORMAT and first.get("protocol") in CHANNELS
    if first.get("action") != "Open" or not usable or not known:
        reason = "a run begins with Open, with v, protocol, ranks and depth" if trace else "the run is empty"
        return Encoded(0, 0, 0, (), frozenset(), reason, 0)
    encoder = _Encoder(first["ranks"], first["protocol"])
    encoder.dp = first.get("dp")
    events: list[tuple[Any, ...]] = []
    malformed, at = "", 0
    for index, event in enumerate(trace[1:], 1):
        try:
            events.append(encoder.event(event))
        except _Malformed as error:
            malformed, at = str(error), index
            break
    return Encoded(
        first["ranks"], first["depth"], encoder.producers, tuple(events), frozenset(encoder.fenced), malformed, at
    )


def text_of(event: Event) -> str:
    """Return an event as a person reads it."""
    args = event.get("args")
    shown = ", ".join(f"{key}={value}" for key, value in args.items()) if isinstance(args, dict) else ""
    return f"seq {event.get('seq', '-')} {event.get('action')}({shown}) -> {json.dumps(event.get('result', {}))}"
