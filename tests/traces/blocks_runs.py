"""Runs of block lists and their client as they record themselves: random ones, and altered ones."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from fdcomm.blocks import BLOCKS_EVENTS, BlockLists, Lease
from fdcomm.errors import CommTimeoutError, HostLostError, NoBlocksError
from fdcomm.swap import Swap
from fdcomm.transfer_client import TransferClient
from tests.conformance.memory_port import MemoryPort
from tests.conformance.waiting import until
from tests.traces.alterations import Change, dropped, gap, on_copies, renamed, twice, valued
from tests.traces.events import Event, index_of, lines_of, renumbered
from tests.traces.layerwise_runs import Memory

__all__ = ("ACTIONS", "ALTERED", "World", "lines_of", "random_run", "whole_run")

ACTIONS = set(BLOCKS_EVENTS)
_LIMIT_S = 30.0


class World:
    """A prefix cache whose every decision is random; the ranks are a port in memory, and its threads are real."""

    def __init__(self, rng: random.Random, device: int = 3, host: int = 2) -> None:
        self.rng = rng
        self.memory = Memory()
        self.port = MemoryPort(capacity=3)
        self.lists = BlockLists(device, host, recorder=self.memory)
        self.client = TransferClient(self.port, self.lists)
        self.held: list[Lease] = []
        self.swaps: list[Swap] = []

    def allocate(self) -> None:
        """Somebody wants blocks."""
        try:
            self.held.append(self.lists.allocate(self.rng.choice((1, 1, 2)), self.rng.choice(("device", "host"))))
        except NoBlocksError:
            self.free()

    def free(self) -> None:
        """Somebody gives blocks back, perhaps after a reset."""
        if self.held:
            self.lists.recycle(self.held.pop(self.rng.randrange(len(self.held))))

    def issue(self) -> None:
        """Blocks are swapped, or written."""
        mine = [lease for lease in self.held if lease.generation == self.lists.generation]
        self.rng.shuffle(mine)
        if not mine:
            return self.allocate()
        source, target = mine[0], mine[1] if len(mine) > 1 and self.rng.random() < 0.8 else None
        try:
            swap = self.client.issue("task", "swap", source, target)
        except CommTimeoutError:
            return None
        self.held = [lease for lease in self.held if lease not in (source, target)]
        self.swaps.append(swap)
        return None

    def work(self) -> None:
        """The ranks do a task, and its result is handled."""
        number = self.port.pull()
        if number is not None:
            self.port.finish(number, self.rng.choice(("ok", "ok", "failed")))
            self.settle()

    def overrun(self) -> None:
        """A task fails, and ranks are at it still."""
        number = self.port.pull()
        if number is not None:
            self.port.overrun(number)
            self.settle()

    def quiet(self) -> None:
        """The ranks that are at a task that has failed have ended."""
        if self.port.at:
            self.port.quiet(self.rng.choice(sorted(self.port.at)))
            self.settle()

    def cancel(self) -> None:
        """Somebody gives up."""
        if self.swaps:
            self.rng.choice(self.swaps).cancel()

    def clear(self) -> None:
        """Somebody else clears the queue."""
        self.port.withdraw()
        self.settle()

    def reset(self) -> None:
        """Every block is taken back."""
        while (number := self.port.pull()) is not None:
            self.port.finish(number)
        for number in sorted(self.port.at):
            self.port.quiet(number)
        self.client.reset(timeout=_LIMIT_S)
        self.settle()

    def settle(self) -> None:
        """Wait until every result is handled, and take what came back."""
        until(lambda: len(self.client.statistics().outstanding) == len(self.port.queued) + len(self.port.running))
        until(lambda: set(self.client.statistics().late) == set(self.port.at))
        for swap in [swap for swap in self.swaps if swap.done()]:
            self.swaps.remove(swap)
            if swap.lease is not None:
                self.held.append(swap.lease)

    def act(self) -> None:
        """One random thing."""
        acts: list[Callable[[], object]] = [self.allocate, self.free, self.issue, self.work, self.cancel]
        acts += [self.clear, self.reset, self.overrun, self.quiet]
        self.rng.choices(acts, [8, 5, 10, 6, 1, 1, 1, 2, 2])[0]()

    def end(self, lost: bool) -> list[Event]:
        """End it; return what was recorded."""
        if lost:
            self.port.lose(HostLostError("the host has ended"))
            until(lambda: self.lists.statistics().phase == "lost")
        self.client.close(timeout=_LIMIT_S)
        self.lists.check()
        return self.memory.events


def random_run(seed: int, acts: int, device: int = 3, host: int = 2) -> list[Event]:
    """Return what a random run records; every second one ends with the loss of its port."""
    world = World(random.Random(seed), device, host)
    for _ in range(acts):
        world.act()
    return world.end(lost=seed % 2 == 1)


def whole_run() -> list[Event]:
    """Return a random run that has every action but one of the two ends, so that each can be altered."""
    runs = (random_run(seed, 150) for seed in range(1, 200, 2))
    return next(run for run in runs if {event["action"] for event in run} >= ACTIONS - {"Close"} and _has_all(run))


def _has_all(run: list[Event]) -> bool:
    outcomes = {event["args"]["outcome"] for event in run if event["action"] == "Handle"}
    given = {event["result"]["given"] < 0 for event in run if event["action"] == "Handle"}
    late = {event["args"]["late"] for event in run if event["action"] == "Handle"}
    begun = any(event["action"] == "BeginReset" and event["post"]["tasks"] for event in run)
    return outcomes == {"ok", "failed", "cancelled"} and given == late == {True, False} and begun


# -- runs that never happened --------------------------------------------------------------------------------------


def _handled(outcome: str, then: str) -> Change:
    def alter(run: list[Event]) -> list[Event]:
        moving = {e["result"]["task"] for e in run if e["action"] == "Reserve" and e["args"]["target"] >= 0}

        def fits(e: Event) -> bool:
            return (
                not e["args"]["late"]
                and e["args"]["outcome"] == outcome
                and e["result"]["given"] >= 0
                and e["args"]["task"] in moving
            )

        run[index_of(run, "Handle", fits)]["args"]["outcome"] = then
        return run

    return alter


def _late(outcome: str, was: bool) -> Change:
    """What is said of ranks that are at a task is the contrary."""

    def alter(run: list[Event]) -> list[Event]:
        event = run[index_of(run, "Handle", lambda e: e["args"]["outcome"] == outcome and e["args"]["late"] is was)]
        event["args"]["late"] = not was
        return run

    return alter


def _freed_twice(run: list[Event]) -> list[Event]:
    """A block is in the list once more."""
    event = run[index_of(run, "Handle")]
    event["post"]["free"] = sorted([*event["post"]["free"], *event["post"]["free"][:1], 0])
    return run


def _early_rebuild(run: list[Event]) -> list[Event]:
    """The reset is over before a result is handled."""
    begun = index_of(run, "BeginReset", lambda e: bool(e["post"]["tasks"]))
    rebuilt = next(n for n in range(begun, len(run)) if run[n]["action"] == "Rebuild")
    run.insert(begun + 1, copy.deepcopy(run[rebuilt]))
    return renumbered(run)


def _stale_counts(run: list[Event]) -> list[Event]:
    """A free that comes after a reset counts."""
    event = run[index_of(run, "FreeStale")]
    event["action"] = "Free"
    event["args"] = {"block": event["args"]["block"]}
    return run


def _more(values: list[int]) -> list[int]:
    return [*values, 99]


def _other(value: Any) -> Any:
    return value + 1


ALTERED = on_copies(
    {
        "a line is lost": gap("Free"),
        "an allocation is forgotten": dropped("Allocate"),
        "a free is forgotten": dropped("Free"),
        "a reserve is forgotten": dropped("Reserve"),
        "a number is forgotten": dropped("Register"),
        "a result is forgotten": dropped("Handle"),
        "a result is handled twice": twice("Handle"),
        "a number is known twice": twice("Register"),
        "a cancel is forgotten": dropped("Cancel"),
        "a settlement is forgotten": dropped("Settle"),
        "a task settles twice": twice("Settle"),
        "ranks are at no late task": _late("failed", True),
        "ranks are at a task that is over": _late("failed", False),
        "lateness is a number": valued("Handle", "args", "late", int),
        "a task that is done is late": _late("ok", False),
        "a reset was not begun": dropped("BeginReset"),
        "a reset was not over": dropped("Rebuild"),
        "a reset is over too early": _early_rebuild,
        "a stale free counts": _stale_counts,
        "a block is freed twice": _freed_twice,
        "what was done has failed": _handled("ok", "failed"),
        "what has failed was done": _handled("failed", "ok"),
        "an outcome that is none": _handled("ok", "done"),
        "other blocks": valued("Allocate", "result", "ids", lambda ids: [i + 1 for i in ids]),
        "another task": valued("Reserve", "result", "task", _other),
        "another source": valued("Reserve", "args", "source", lambda source: source + 50),
        "somebody else was told": valued("BeginReset", "result", "told", _more),
        "nobody was told of the loss": valued("Lose", "result", "told", _more),
        "a refused task was kept": valued("Refuse", "result", "back", lambda back: not back),
        "a truth is a number": valued("Refuse", "result", "back", int),
        "another generation": valued("Rebuild", "post", "gen", _other),
        "another phase": valued("Cancel", "post", "phase", lambda phase: "closed"),
        "more in flight": valued("Register", "post", "tasks", _more),
        "no such action": renamed("Free", "Recycle"),
        "the loss was a close": renamed("Lose", "Close"),
    }
)
