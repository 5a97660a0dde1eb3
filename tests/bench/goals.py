"""The goals of the data path, as ratios within one run, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench.results import Figure, Results, figure

__all__ = (
    "FLOORS",
    "GOALS",
    "IDLE_MOST",
    "Floor",
    "Goal",
    "Judged",
    "idle_goal",
    "judge",
    "judge_floors",
)

SMALL = (64, 4096)
MIDDLE = (32768,)
LARGE = (262144,)
HUGE = (4 << 20,)
ALL = (*SMALL, *MIDDLE, *LARGE, *HUGE)
ANY = (1, 2, 4, 8)

IDLE_MOST = 0.01
"""Part of a processor that an idle reader may use."""


@dataclass(frozen=True)
class Goal:
    """Against one peer: at least ``times`` as fast in these cells (0.83: at most 1.2 times as long)."""

    peer: str
    load: str
    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    times: float


@dataclass(frozen=True)
class Floor:
    """At most ``times`` a sum of what cannot be avoided."""

    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    parts: tuple[str, ...]
    times: float


@dataclass(frozen=True)
class Judged:
    """One cell: its ratio and its goal. ``found`` is None where it was not measured."""

    ours: str
    peer: str
    load: str
    size: int
    ranks: int
    wanted: float
    found: Figure | None

    @property
    def met(self) -> bool | None:
        return None if self.found is None else self.found.median >= self.wanted


_LITTLE_WORSE = 1 / 1.2  # at most 1.2 times as long
_VLLM, _SGLANG = "vLLM MessageQueue", "SGLang shm broadcast"
_POLLING, _EVENT = "iceoryx2, polling", "iceoryx2, event"
_SHIPPED = ("shipped, TCP", "FastDeploy EngineWorkerQueue")
_SEVERAL = (2, 4, 8)

GOALS: tuple[Goal, ...] = (
    *(
        goal
        for peer in _SHIPPED
        for goal in (
            Goal(peer, "back", SMALL, (4,), 150),
            Goal(peer, "back", MIDDLE, ANY, 400),
            Goal(peer, "back", LARGE, ANY, 40),
            Goal(peer, "back", HUGE, ANY, 30),
            Goal(peer, "paced", ALL, ANY, 30),
        )
    ),
    Goal(_VLLM, "back", SMALL, _SEVERAL, 2.5),
    Goal(_VLLM, "back", MIDDLE, ANY, 1),
    Goal(_VLLM, "back", LARGE, (1, 2), 1),
    Goal(_VLLM, "back", LARGE, (4, 8), 1.3),
    Goal(_VLLM, "back", HUGE, ANY, 2),
    Goal(_VLLM, "paced", ALL, ANY, 1.5),
    Goal(_SGLANG, "back", SMALL, ANY, 1.7),
    Goal(_SGLANG, "back", MIDDLE, ANY, 1),
    Goal(_SGLANG, "back", LARGE, ANY, 1.3),
    Goal(_SGLANG, "back", HUGE, ANY, 2),
    Goal(_SGLANG, "paced", ALL, ANY, _LITTLE_WORSE),
    Goal(_POLLING, "back", SMALL, ANY, 1.3),
    Goal(_POLLING, "back", (*MIDDLE, *LARGE), ANY, 1),
    Goal(_POLLING, "back", HUGE, ANY, 2),
    Goal(_POLLING, "paced", ALL, ANY, _LITTLE_WORSE),
    Goal(_EVENT, "back", SMALL, ANY, 2.5),
    Goal(_EVENT, "back", (*MIDDLE, *LARGE), ANY, 1),
    Goal(_EVENT, "back", HUGE, ANY, 2),
    Goal(_EVENT, "paced", ALL, ANY, 1.8),
    *(
        Goal(peer, load, ALL, ANY, 1)
        for peer in (
            "Pipe per reader, pickled once",
            "Queue per reader",
            "pyzmq PUSH per reader",
            "pyzmq PUB/SUB",
            "faster-fifo per reader",
        )
        for load in ("back", "paced")
    ),
)

FLOORS: tuple[Floor, ...] = (
    Floor(SMALL, (1,), ("hand_off", "dumps", "loads", "copy"), 3),
    Floor(LARGE, ANY, ("dumps", "loads"), 1.5),
    Floor(HUGE, ANY, ("copy", "loads"), 1.5),
)


def judge(results: Results, ours: str) -> Iterator[Judged]:
    """Yield every cell of every goal whose size and number of ranks this run has.

    What is to hold back to back is to hold with a writer that looks, too, where that was measured.
    """
    for goal in GOALS:
        for load in ("back", "looking") if goal.load == "back" else (goal.load,):
            for size in goal.sizes:
                for ranks in goal.ranks:
                    if size in results.sizes and ranks in results.ranks:
                        found = results.against(ours, goal.peer, ranks, size, load)
                        if found is not None or load != "looking":
                            yield Judged(ours, goal.peer, load, size, ranks, goal.times, found)


def judge_floors(results: Results, ours: str) -> Iterator[Judged]:
    """Yield the cells that are held against floors: ``found`` is the floor's part of our time, the goal 1 / times."""
    for floor in FLOORS:
        for size in floor.sizes:
            for ranks in floor.ranks:
                if size in results.sizes and ranks in results.ranks:
                    least = results.floor_us(ranks, size, *floor.parts)
                    mine = results.values(ours, ranks, size, "back")
                    found = figure([least / value for value in mine]) if least is not None and mine else None
                    yield Judged(ours, "floor: " + " + ".join(floor.parts), "back", size, ranks, 1 / floor.times, found)


def idle_goal(results: Results, ours: str) -> tuple[Figure | None, bool | None]:
    """Return what an idle reader uses, and whether it is little enough."""
    used = results.idle(ours)
    return used, None if used is None else used.median < IDLE_MOST
