"""Runs of FMQ queues as their handles record them, made ready for the judges: random ones, and altered ones.

A handle records an action before others can see it, or after it has seen others' (it hears, it reads), so the order of
the record explains every event. What only the network knows is filled in: how many messages of a broken connection
still arrived, which the run itself shows.
"""

from __future__ import annotations

import random
import threading
from typing import Any

from fdcomm.errors import CommTimeoutError
from tests.traces.alterations import dropped, gap, on_copies, renamed, twice, valued
from tests.traces.events import Event, lines_of, renumbered

__all__ = ("ALTERED", "EVENTS", "Record", "lines_of", "prepared", "random_run", "whole_run")

EVENTS = {
    *("Put", "Connect", "Cut", "End", "HearAck"),
    *("StartConsumer", "EndConsumer", "Take", "Skip", "Drop", "Finish", "Acknowledge", "Reclaim", "Sweep"),
}
Raw = tuple[str, dict[str, Any]]
_READS = ("Take", "Skip", "Drop")


class Record:
    """What handles of one process have told."""

    def __init__(self, producers: int, window: int, large: int, keeps: bool = True) -> None:
        self._opening = (producers, window, large, keeps)
        self._raw: list[Raw] = []
        self._lock = threading.Lock()

    def trace(self, action: str, args: dict[str, Any]) -> None:
        """Take an action."""
        with self._lock:
            self._raw.append((action, dict(args)))

    def events(self) -> list[Event]:
        """Return the run."""
        return prepared(self._raw, *self._opening)

    def lines(self) -> list[str]:
        """Return the lines of a trace file."""
        return lines_of(self.events())


def prepared(raw: list[Raw], producers: int, window: int, large: int, keeps: bool = True) -> list[Event]:
    """Return what was told as a run: producers by number, connections counted for each consumer, ``k`` filled in."""
    opening = {"producers": producers, "window": window, "large": large, "keep": keeps}
    events: list[Event] = [{"v": 1, "protocol": "fmq", "dp": 0, "seq": 0, "action": "Open", **opening}]
    names: dict[str, int] = {}
    links: dict[int, list[int]] = {}
    linked: dict[int, bool] = {}
    serving = False
    for at, (action, args) in enumerate(raw):
        found: dict[str, int] = {}
        if "producer" in args:
            p = found["p"] = names.setdefault(args["producer"], len(names))
        if action == "Sweep" and "producer" in args:
            del found["p"]
        if action in ("StartConsumer", "EndConsumer"):
            serving = action == "StartConsumer"
            links, linked = {}, {}
        elif action == "Connect":
            if not serving:  # it was killed while somebody connected: nobody will read, and it breaks at once
                continue
            links.setdefault(p, []).append(args["connection"])
            linked[p] = True
            found |= {"base": args["base"], "again": args["again"]}
        elif action in ("Cut", "End"):
            if action == "Cut" and not linked.get(p):
                continue
            found["k"] = _arrived(raw[at + 1 :], args, links[p][-1]) if linked.get(p) else 0
            linked[p] = False
        elif action in _READS:
            found |= {"c": links[p].index(args["connection"]) + 1, "number": args["number"], "base": args["base"]}
        elif action == "Put":
            found |= {"number": args["number"], "base": args["base"]}
        elif action != "Sweep":
            found["number"] = args["number"]
        events.append({"v": 1, "protocol": "fmq", "dp": 0, "seq": len(events), "action": action, "args": found})
    return _swept_once(events)


def _arrived(later: list[Raw], args: dict[str, Any], connection: int) -> int:
    """Return how many messages of a connection are read from here on."""
    count = 0
    for action, more in later:
        if action == "EndConsumer":
            break
        mine = action in _READS and more["producer"] == args["producer"]
        count += mine and more["connection"] == connection
    return count


def _swept_once(events: list[Event]) -> list[Event]:
    """One sweep takes what all producers have left, and is none when that is nothing."""
    left: set[int] = set()
    gone: set[int] = set()
    kept: list[Event] = []
    large = events[0]["large"]
    for event in events:
        action, args = event["action"], event.get("args", {})
        if action == "Put" and large and args["number"] % large == 0:
            left.add((args["p"] << 32) + args["number"])
        elif action == "End":
            gone.add(args["p"])
        elif action in ("Finish", "Reclaim"):
            upto = args["number"] if action == "Finish" else 1 << 31
            left = {one for one in left if one >> 32 != args["p"] or one & 0xFFFFFFFF > upto}
        elif action == "Sweep":
            if not any(one >> 32 in gone for one in left):
                continue
            left = {one for one in left if one >> 32 not in gone}
        kept.append(event)
    return renumbered(kept)


# -- random runs ---------------------------------------------------------------------------------------------------


def random_run(seed: int, acts: int, window: int = 4) -> list[Event]:
    """Return the run of real handles over a network in memory, every decision random."""
    from tests.traces.fmq_bed import Bed

    rng, bed = random.Random(seed), Bed(large=3, window=window)
    try:
        for _ in range(acts):
            act = rng.choice(("put", "put", "look", "look", "get", "get", "get", "done", "cut", "turn"))
            if act == "put":
                try:
                    bed.put(rng.randrange(100))
                except CommTimeoutError:
                    bed.look()
            elif act == "look":
                bed.look()
            elif act == "get":
                bed.get()
            elif act == "done":
                bed.done()
            elif act == "cut" and rng.random() < 0.5:
                bed.network.cut(rng.randrange(4))
                bed.look()
            elif act == "turn" and (bed.consumer is None or rng.random() < 0.3):
                if bed.consumer is None:
                    bed.start()
                elif rng.random() < 0.6:
                    bed.done()
                    bed.kill(unheard=rng.random() < 0.7)
                else:
                    bed.consumer.close(done=rng.random() < 0.5)
                    bed.consumer = None
        first = rng.random() < 0.5
        if first:
            bed.producer.end(0.0)  # before the consumer, which then finds what is left
            while bed.get() is not None or bed.get() is not None:
                pass
        bed.end()
        if bed.left():
            bed.start()
            bed.end()
        return bed.record.events()
    finally:
        bed.close()


def whole_run() -> list[Event]:
    """Return a random run that has every action, so that each can be altered; what is reclaimed need not be swept."""
    runs = (random_run(seed, 120) for seed in range(1, 400))
    return next(run for run in runs if {event["action"] for event in run} >= EVENTS - {"Sweep"})


# -- runs that never happened --------------------------------------------------------------------------------------


ALTERED = on_copies(
    {
        "a line is lost": gap("Take"),
        "a put is forgotten": dropped("Put"),
        "a connection is forgotten": dropped("Connect"),
        "a message is given twice": twice("Take"),
        "a message is not given": dropped("Take"),
        "more is acknowledged than is done": valued("Acknowledge", "args", "number", lambda n: n + 1),
        "what was heard was never said": valued("HearAck", "args", "number", lambda n: n + 1),
        "more is done than was read": valued("Finish", "args", "number", lambda n: n + 1),
        "a duplicate is given": renamed("Drop", "Take"),
        "a message is passed over": renamed("Take", "Skip"),
        "a message that was done is given": renamed("Skip", "Take"),
        "another number": valued("Take", "args", "number", lambda n: n + 1),
        "another base": valued("Take", "args", "base", lambda n: n + 1),
        "fewer are sent again": valued("Connect", "args", "again", lambda n: n + 1),
        "two consumers": twice("StartConsumer"),
        "a producer ends twice": twice("End"),
        "no such action": renamed("Finish", "Complete"),
    }
)
