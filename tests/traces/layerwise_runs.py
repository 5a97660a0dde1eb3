"""Runs of layer-wise senders as they record themselves: random ones on simulated time, real ones, altered ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

from fdcomm.layer_table import LAYERWISE_EVENTS
from fdcomm.layerwise import LayerSender
from fdcomm.runtime import SystemRuntime
from fdcomm.trace import FORMAT, Recorder
from tests.traces.alterations import Change, dropped, on_copies, twice
from tests.traces.events import Event, index_of, lines_of

__all__ = ("ACTIONS", "ALTERED", "Event", "Memory", "Simulated", "lines_of", "random_run", "whole_run")

ACTIONS = set(LAYERWISE_EVENTS)
_LIMIT_S = 10.0


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


def whole_run() -> list[Event]:
    """Return a random run that has every action, so that each can be altered."""
    runs = (random_run(seed, 200) for seed in range(200))
    return next(run for run in runs if {event["action"] for event in run} >= ACTIONS)


# -- runs that never happened --------------------------------------------------------------------------------------


def _changed(action: str, part: str, change: Callable[[Event], Event], **where: Any) -> Change:
    def alter(run: list[Event]) -> list[Event]:
        event = run[index_of(run, action, lambda e: all(e[part].get(key) == value for key, value in where.items()))]
        event[part] = event[part] | change(event[part])
        return run

    return alter


def _lost_line(run: list[Event]) -> list[Event]:
    return [*run[:5], *run[6:]]


def _last_report(change: Callable[[Event, Event], Event]) -> Change:
    """The last report is another one; ``change`` also gets the first report of its slot."""

    def alter(run: list[Event]) -> list[Event]:
        reports = [event for event in run if event["action"] == "OnProgress"]
        last = reports[-1]
        first = next(event for event in reports if event["args"]["slot"] == last["args"]["slot"])
        last["args"] = last["args"] | change(first["args"], last["args"])
        return run

    return alter


def _infos_swapped(run: list[Event]) -> list[Event]:
    """The first two infos of one slot, without what is said of them, change places."""
    infos = [event for event in run if event["action"] == "OnCacheInfo"]
    first, second = next(
        (a, b) for n, a in enumerate(infos) for b in infos[n + 1 :] if a["args"]["slot"] == b["args"]["slot"]
    )
    first["args"], second["args"] = second["args"], first["args"]
    return run


ALTERED = on_copies(
    {
        "a line is lost": _lost_line,
        "a layer is sent that is not computed": _changed("NextReady", "result", lambda r: {"last": r["last"] + 1}),
        "a layer is left out": _changed("NextReady", "result", lambda r: {"first": r["first"] + 1}),
        "layers are sent twice": twice("NextReady"),
        "a sending is forgotten": dropped("NextReady"),
        "an info is forgotten": dropped("OnCacheInfo"),
        "early progress was not there": _changed("OnCacheInfo", "result", lambda r: {"ready": r["ready"] + 1}),
        "a failed task was sent": _changed("NextDone", "result", lambda r: {"failed": False}, failed=True),
        "a sent task failed": _changed("NextDone", "result", lambda r: {"failed": True}, failed=False),
        "a task is finished twice": twice("NextDone"),
        "a task is not finished": dropped("NextDone"),
        "nothing was kept": _changed("ExpireEarly", "result", lambda r: {"step": r["step"] + 1}),
        "an expiry is forgotten": dropped("ExpireTask"),
        "an end did nothing": _changed("OnEnd", "result", lambda r: {"ended": False}, ended=True),
        "a report of no slot": _last_report(lambda first, last: {"slot": last["slot"] + 3}),
        "a report that no order has": _last_report(lambda first, last: {"step": (first["step"] + 2**31) % 2**32}),
        "infos of a slot change places": _infos_swapped,
        "an info comes twice": twice("OnCacheInfo"),
        "a truth is a number": _changed("OnCacheInfo", "result", lambda r: {"failed": int(r["failed"])}),
        "more than there is is sent": _changed("NextDone", "result", lambda r: {"sent": r["sent"] + 1}),
        "another task is finished": _changed("NextDone", "result", lambda r: {"step": (r["step"] + 1) % 2**32}),
        "an end of what was over": _changed("OnEnd", "result", lambda r: {"ended": True}, ended=False),
        "other arguments": _changed("OnEnd", "args", lambda r: {"rank": 0}),
    }
)
