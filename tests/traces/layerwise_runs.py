"""Runs of layer-wise senders as they record themselves: random ones on simulated time, real ones, altered ones."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from fdcomm.layer_table import LAYERWISE_EVENTS
from fdcomm.layerwise import LayerSender
from fdcomm.runtime import SystemRuntime
from fdcomm.trace import FORMAT, Recorder

__all__ = ("ACTIONS", "ALTERED", "Event", "Memory", "Simulated", "lines_of", "random_run")

Event = dict[str, Any]
ACTIONS = set(LAYERWISE_EVENTS)
_LIMIT_S = 10.0


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


class Memory(Recorder):
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one event."""
        self.events.append({"v": FORMAT, **copy.deepcopy(dict(event))})

    def close(self) -> None:
        """Nothing to close."""


class Simulated(SystemRuntime):
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class World:
    """A device that computes slot by slot, an engine that gives infos in order, and the shipping sender."""

    def __init__(self, rng: random.Random, slots: int, layers: int) -> None:
        self.rng = rng
        self.slots, self.layers = slots, layers
        self.clock = Simulated()
        self.memory = Memory()
        self.started: list[tuple[int, int]] = []
        self.at: dict[int, tuple[int, int]] = {}
        self.to_give: list[tuple[int, int]] = []
        self.given: list[tuple[int, int]] = []
        self.step = 2**32 - 3
        self.sent: list[tuple[Any, int, int]] = []
        self.finished: list[tuple[Any, Exception | None]] = []
        self.lost: list[tuple[int, int]] = []
        self.sender = LayerSender(
            slots,
            layers,
            self._send,
            lambda request, error: self.finished.append((request, error)),
            missing=lambda slot, step, error: self.lost.append((slot, step)),
            capacity=3,
            info_timeout=_LIMIT_S,
            layer_timeout=_LIMIT_S,
            recorder=self.memory,
            runtime=self.clock,
        )

    def _send(self, request: Any, first: int, last: int) -> None:
        if self.rng.random() < 0.05:
            raise OSError("the network is down")
        slot, step = request
        done = self.layers - 1 if self.at[slot][0] != step else self.at[slot][1]
        if last > done:
            raise AssertionError(f"layer {last} of step {step} in slot {slot} was sent, and computed is {done}")
        self.sent.append((request, first, last))

    def start(self) -> None:
        """A slot goes on to its next pass, which the engine announces, or forgets to."""
        slot = self.rng.randrange(self.slots)
        if self.at.get(slot, (0, self.layers - 1))[1] < self.layers - 1:
            self.sender.on_end(slot, self.at[slot][0])
        self.step += self.rng.randint(1, 2)
        where = slot, self.step
        self.at[slot] = self.step, -1
        self.started.append(where)
        if self.rng.random() < 0.85:
            self.to_give.append(where)

    def compute(self) -> None:
        """A slot computes a layer or two, and the report comes, perhaps with an older one behind it."""
        slots = [slot for slot, (_, layer) in self.at.items() if layer < self.layers - 1]
        if not slots:
            return self.start()
        slot = self.rng.choice(slots)
        step, layer = self.at[slot]
        layer = min(self.layers - 1, layer + self.rng.randint(1, 2))
        self.at[slot] = step, layer
        self.sender.on_progress(slot, step, layer)
        if self.rng.random() < 0.3:
            self.sender.on_progress(slot, step, self.rng.randint(0, layer))
        return None

    def give(self) -> None:
        """The next info comes, if there is room."""
        if self.to_give and self.sender.in_flight() < 3:
            where = self.to_give.pop(0)
            self.sender.on_cache_info(where, *where, timeout=0)
            self.given.append(where)

    def end(self) -> None:
        """A request is aborted."""
        if self.started:
            slot, step = self.rng.choice(self.started[-4:])
            if self.at[slot] != (step, -1) or self.rng.random() < 0.5:
                self.sender.on_end(slot, step)

    def wait(self) -> None:
        """Time passes."""
        self.clock.now += self.rng.choice((1.0, 1.0, _LIMIT_S / 2, _LIMIT_S))

    def act(self) -> None:
        """One random thing."""
        acts: list[Callable[[], object]] = [self.start, self.compute, self.give, self.end, self.wait]
        self.rng.choices([*acts, self.sender.run_once], [3, 8, 5, 1, 1, 8])[0]()


def random_run(seed: int, acts: int, slots: int = 3, layers: int = 3) -> list[Event]:
    """Return what the shipping sender records in a random run on simulated time."""
    world = World(random.Random(seed), slots, layers)
    for _ in range(acts):
        world.act()
    for _, error in world.finished:
        if isinstance(error, AssertionError):
            raise error
    if [request for request, _ in world.finished] != world.given[: len(world.finished)]:
        raise AssertionError(f"infos came as {world.given}, and their tasks ended as {world.finished}")
    return world.memory.events


# -- runs that never happened --------------------------------------------------------------------------------------


def _first(run: list[Event], action: str, holds: Callable[[Event], bool] = lambda event: True) -> int:
    return next(n for n, event in enumerate(run) if event["action"] == action and n > 0 and holds(event))


def _changed(action: str, part: str, change: Callable[[Event], Event], **where: Any) -> Callable[[list[Event]], Any]:
    def alter(run: list[Event]) -> list[Event]:
        run = copy.deepcopy(run)
        event = run[_first(run, action, lambda e: all(e[part].get(key) == value for key, value in where.items()))]
        event[part] = event[part] | change(event[part])
        return run

    return alter


def _without(action: str, holds: Callable[[Event], bool] = lambda event: True) -> Callable[[list[Event]], list[Event]]:
    def alter(run: list[Event]) -> list[Event]:
        kept = copy.deepcopy(run)
        del kept[_first(kept, action, holds)]
        return _renumbered(kept)

    return alter


def _twice(action: str) -> Callable[[list[Event]], list[Event]]:
    def alter(run: list[Event]) -> list[Event]:
        longer = copy.deepcopy(run)
        number = _first(longer, action)
        longer.insert(number, copy.deepcopy(longer[number]))
        return _renumbered(longer)

    return alter


def _renumbered(run: list[Event]) -> list[Event]:
    for number, event in enumerate(run[1:], 1):
        event["seq"] = number
    return run


def _lost_line(run: list[Event]) -> list[Event]:
    return copy.deepcopy([*run[:5], *run[6:]])


ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "a line is lost": _lost_line,
    "a layer is sent that is not computed": _changed("NextReady", "result", lambda r: {"last": r["last"] + 1}),
    "a layer is left out": _changed("NextReady", "result", lambda r: {"first": r["first"] + 1}),
    "layers are sent twice": _twice("NextReady"),
    "a sending is forgotten": _without("NextReady"),
    "an info is forgotten": _without("OnCacheInfo"),
    "early progress was not there": _changed("OnCacheInfo", "result", lambda r: {"ready": r["ready"] + 1}),
    "a failed task was sent": _changed("NextDone", "result", lambda r: {"failed": False}, failed=True),
    "a sent task failed": _changed("NextDone", "result", lambda r: {"failed": True}, failed=False),
    "a task is finished twice": _twice("NextDone"),
    "a task is not finished": _without("NextDone"),
    "nothing was kept": _changed("ExpireEarly", "result", lambda r: {"step": r["step"] + 1}),
    "an expiry is forgotten": _without("ExpireTask"),
    "an end did nothing": _changed("OnEnd", "result", lambda r: {"ended": False}, ended=True),
    "an unknown action": _changed("OnEnd", "args", lambda r: {"rank": 0}),
}
"""Changes after which a run cannot have happened."""
