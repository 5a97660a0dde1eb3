"""State and constants of the blocks model. Names and shapes are those of ``spec/blocks.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from models.guards import Removable

__all__ = ("OVER", "SERVING", "Config", "Guards", "Lease", "State", "Task", "in_flight", "initial_state")

OVER = ("done", "refused")
SERVING = ("open", "resetting")
_NOTHING: frozenset[int] = frozenset()


class Lease(NamedTuple):
    """Blocks that were given to somebody, and in which generation."""

    ids: frozenset[int]
    gen: int


class Task(NamedTuple):
    """A task, with what it moves."""

    source: frozenset[int]
    target: frozenset[int]
    stage: str = "issuing"
    out: str = ""
    told: str = ""
    known: bool = False
    at: bool = False
    late: bool = False

    @property
    def held(self) -> frozenset[int]:
        """Return its blocks."""
        return self.written if self.stage == "late" else self.source | self.target

    @property
    def written(self) -> frozenset[int]:
        """Return what the ranks may write to."""
        return self.target or self.source


class State(NamedTuple):
    """All variables of the spec. Tasks are numbered from 1: task 1 is entry 0."""

    gen: int
    phase: str
    free: frozenset[int]
    leases: frozenset[Lease]
    tasks: tuple[Task, ...]
    hand: int
    alive: bool


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    AwaitsHandled: bool = True
    AwaitsResults: bool = True
    CountsIssuing: bool = True
    LeasesEnd: bool = True
    KeepsUntilResult: bool = True
    TellsWaiters: bool = True
    Withdraws: bool = True
    SurvivesBad: bool = True
    KeepsUnknown: bool = True
    EndTells: bool = True
    HoldsLate: bool = True
    AwaitsLate: bool = True
    SettlesOnce: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    device: int = 1
    host: int = 1
    sizes: frozenset[int] = frozenset({1})
    in_place: bool = False
    max_tasks: int | None = 1
    max_gen: int | None = 1
    bad: frozenset[int] = frozenset()
    refuses: bool = False
    cancels: bool = False
    mortal: bool = False
    closes: bool = False
    overruns: bool = False
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.device, self.host) < 0 or min(self.sizes, default=1) < 1:
            raise ValueError(f"device and host must be at least 0, and sizes at least 1: {self}")

    @property
    def blocks(self) -> range:
        """Return all blocks."""
        return range(self.device + self.host)

    def of_kind(self, kind: int) -> range:
        """Return the blocks of the device (0) or of the host (1)."""
        return range(self.device) if kind == 0 else range(self.device, self.device + self.host)

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Device": self.device,
            "Host": self.host,
            "Sizes": self.sizes,
            "InPlace": self.in_place,
            "MaxTasks": self.max_tasks,
            "MaxGen": self.max_gen,
            "Bad": self.bad,
            "Refuses": self.refuses,
            "Cancels": self.cancels,
            "Mortal": self.mortal,
            "Closes": self.closes,
            "Overruns": self.overruns,
            **asdict(self.guards),
        }


def in_flight(task: Task) -> bool:
    """Return True until the task's blocks are somebody else's."""
    return task.stage not in OVER


def initial_state(config: Config) -> State:
    """Every block is free, and nothing was issued."""
    return State(0, "open", frozenset(config.blocks), frozenset(), (), 0, True)
