"""Runs of a mailbox as it records itself: random ones, in which others act while a message is sent; altered ones."""

from __future__ import annotations

import copy
import random
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.mailbox.results import MAILBOX_EVENTS, Results
from tests.conformance.mailbox_wire import Wire, piece
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, index_of, lines_of, renumbered
from tests.traces.layerwise_runs import Memory

__all__ = ("ACTIONS", "ALTERED", "World", "lines_of", "random_run", "whole_run")

ACTIONS = set(MAILBOX_EVENTS)
_CLIENTS = (b"a", b"b", b"c")


class _Clock:
    """Time that goes on when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class World:
    """A server whose every event is random; clients are in memory."""

    def __init__(self, rng: random.Random, *, capacity: int = 6, requests: int = 30) -> None:
        self.rng = rng
        self.memory = Memory()
        self.wire = Wire()
        self.results = Results(self.wire.send, capacity=capacity, ttl_s=10.0, recorder=self.memory)
        self.clock = _Clock()
        self.results._clock = self.clock
        self.names = [f"request {number}" for number in range(requests)]
        self.made: dict[str, list[int]] = {name: [] for name in self.names}
        self.wire.during = self._others
        self.depth = 0

    def _others(self) -> None:
        """Others act while a message is sent."""
        if self.depth < 2 and self.rng.random() < 0.5:
            self.depth += 1
            for _ in range(self.rng.randrange(4)):
                self.act(inner=True)
            self.depth -= 1

    def act(self, *, inner: bool = False) -> None:
        """Do something."""
        name = self.rng.choice(self.names)
        luck = self.rng.random()
        try:
            if luck < 0.6:
                number = len(self.made[name]) + 1
                self.results.put(name, piece(number), self.rng.random() < 0.25, 0.0)
                self.made[name].append(number)
            elif luck < 0.85:
                self.results.handle(name, self.rng.choice(_CLIENTS), 0.0)
            elif luck < 0.9:
                which = self.rng.choice((self.wire.gone, self.wire.slow))
                which.symmetric_difference_update({self.rng.choice(_CLIENTS)})
            elif not inner:
                self.clock.now += self.rng.choice((1.0, 6.0, 11.0))
                self.results.expire()
        except FdcommError as error:
            self.refused = error

    def close(self) -> None:
        """Close, perhaps while a message is sent."""
        self.results.close()


def random_run(seed: int, acts: int) -> list[Event]:
    """Return what a random run has recorded."""
    world = World(random.Random(seed))
    for _ in range(acts):
        world.act()
    world.close()
    return world.memory.events


def whole_run() -> list[Event]:
    """Return a run in which everything happens; always the same."""
    world = World(random.Random(0), capacity=4)
    results, wire = world.results, world.wire
    wire.during = lambda: None
    results.put("early", piece(1), False, 0.0)
    results.put("early", piece(2), True, 0.0)
    results.handle("early", b"a", 0.0)
    results.handle("live", b"b", 0.0)
    more = [lambda: results.put("live", piece(2), False, 0.0), lambda: results.put("live", piece(3), True, 0.0)]
    wire.during = lambda: more.pop(0)() if more else None
    results.put("live", piece(1), False, 0.0)
    wire.during = lambda: None
    for name, which in (("lost", wire.gone), ("late", wire.slow)):
        results.handle(name, b"c", 0.0)
        which.add(b"c")
        try:
            results.put(name, piece(1), False, 0.0)
        except FdcommError:
            which.discard(b"c")
    results.put("never asked", piece(1), False, 0.0)
    world.clock.now += 11.0
    results.expire()
    results.put("left", piece(1), False, 0.0)
    results.handle("flying", b"a", 0.0)
    wire.during = world.close
    results.put("flying", piece(1), False, 0.0)
    return world.memory.events


def _sent_twice(run: list[Event]) -> list[Event]:
    index = index_of(run, "Sent")
    run.insert(index + 1, copy.deepcopy(run[index]))
    return renumbered(run)


def _second_client(run: list[Event]) -> list[Event]:
    """A second client gets the rest."""
    index = index_of(run, "Handle", lambda e: e["post"]["flying"] == 0)
    other = copy.deepcopy(run[index])
    other["args"]["client"] = 1
    run.insert(index + 1, other)
    return renumbered(run)


def _reopened(run: list[Event]) -> list[Event]:
    """A request that is over gets a handle."""
    index = index_of(run, "Sent", lambda e: e["post"]["stage"] == "over")
    handle = copy.deepcopy(run[index_of(run, "Handle")])
    handle["args"]["request"] = run[index]["args"]["request"]
    handle["post"] = {"stage": "open", "cached": 0, "flying": 0, "kept": run[index]["post"]["kept"]}
    run.insert(index + 1, handle)
    return renumbered(run)


def _send_forgotten(run: list[Event]) -> list[Event]:
    """A batch is sent while another one of the request is still being sent."""
    del run[index_of(run, "Sent", lambda e: e["post"]["flying"] > 0)]
    return renumbered(run)


def _goes_on(run: list[Event]) -> list[Event]:
    """A request that was given up gets another result."""
    index = index_of(run, "Lost")
    put = copy.deepcopy(run[index_of(run, "Put")])
    put["args"] = {"request": run[index]["args"]["request"], "last": 0}
    run.insert(index + 1, put)
    return renumbered(run)


def _other(value: Any) -> Any:
    return value + 1


ALTERED = on_copies(
    {
        "a line is lost": gap("Put"),
        "a put is forgotten": dropped("Put"),
        "a handle is forgotten": dropped("Handle"),
        "a send is forgotten": _send_forgotten,
        "what is lost goes on": _goes_on,
        "a batch is sent twice": _sent_twice,
        "a second client": _second_client,
        "a request opens again": _reopened,
        "the last result was not the last": valued("Put", "args", "last", lambda last: 1 - last),
        "another request": valued("Sent", "args", "request", _other),
        "a request that is none": valued("Put", "args", "request", lambda number: number + 7),
        "another stage": valued("Sent", "post", "stage", lambda stage: "late"),
        "a stage that is none": valued("Late", "post", "stage", lambda stage: "gone"),
        "more is cached": valued("Put", "post", "cached", _other),
        "more is being sent": valued("Handle", "post", "flying", _other),
        "more is kept": valued("Expire", "post", "kept", _other),
        "less is kept": valued("Handle", "post", "kept", _other),
        "a truth is a number": valued("Put", "post", "kept", bool),
        "the loss was late": renamed("Lost", "Late"),
        "no such action": renamed("Expire", "Forget"),
        "it expired while it was sent": renamed("Late", "Expire"),
    }
)
