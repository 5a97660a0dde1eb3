"""State and constants of the layerwise model. Names and shapes are those of ``spec/layerwise.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeAlias

from models.guards import Removable

__all__ = ("Config", "Done", "Guards", "Progress", "State", "Task", "initial_state")

Progress: TypeAlias = "tuple[()] | tuple[int, int]"


class Task(NamedTuple):
    """A task in the table: how many of its layers are sent, and how many may be."""

    task: int
    sent: int
    ready: int
    failed: bool


class Done(NamedTuple):
    """A task that was finished, and how many of its layers had been sent."""

    task: int
    sent: int
    failed: bool


class State(NamedTuple):
    """All variables of the spec, each a function of the rank."""

    computed: tuple[tuple[int, ...], ...]
    ended: tuple[frozenset[int], ...]
    given: tuple[int, ...]
    tasks: tuple[tuple[Task, ...], ...]
    early: tuple[tuple[Progress, ...], ...]
    seen: tuple[tuple[int, ...], ...]
    gone: tuple[tuple[frozenset[int], ...], ...]
    told: tuple[frozenset[int], ...]
    done: tuple[tuple[Done, ...], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    StepTagged: bool = True
    SerialSteps: bool = True
    KeepsEarly: bool = True
    LatestWins: bool = True
    EndForgets: bool = True
    EndKeepsNewer: bool = True
    GoneStaysGone: bool = True
    ExpiresEarly: bool = True
    ExpiresTask: bool = True
    AgreedOrder: bool = True
    FailedTakePart: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. A rank may take task ``t`` in slot ``(t - 1) % slots`` only."""

    ranks: int = 1
    tasks: int = 2
    slots: int = 1
    layers: int = 2
    capacity: int = 2
    modulus: int = 8
    first: int = 7
    lost: frozenset[int] = frozenset()
    aborted: frozenset[int] = frozenset()
    expiry: bool = False
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.tasks, self.slots, self.layers, self.capacity) < 1:
            raise ValueError(f"ranks, tasks, slots, layers and capacity must be at least 1: {self}")
        if not 0 <= self.first < self.modulus or 2 * self.tasks >= self.modulus:
            raise ValueError(f"the steps of all tasks must be less than half of the modulus apart: {self}")
        if not (self.lost | self.aborted) <= set(range(1, self.tasks + 1)):
            raise ValueError(f"lost and aborted must be tasks: {self}")

    def step(self, task: int) -> int:
        """Return the step of a task."""
        return (self.first + task - 1) % self.modulus

    def slot(self, task: int) -> int:
        """Return the slot of a task."""
        return (task - 1) % self.slots

    @property
    def infos(self) -> tuple[int, ...]:
        """The tasks whose infos reach the ranks, in order."""
        return tuple(task for task in range(1, self.tasks + 1) if task not in self.lost)

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "T": self.tasks,
            "S": self.slots,
            "L": self.layers,
            "Capacity": self.capacity,
            "Modulus": self.modulus,
            "First": self.first,
            "Lost": self.lost,
            "Aborted": self.aborted,
            "Expiry": self.expiry,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nothing is computed, and nothing has come."""
    each = range(config.ranks)
    nothing: frozenset[int] = frozenset()
    no_progress: Progress = ()
    return State(
        computed=tuple((0,) * config.tasks for _ in each),
        ended=tuple(nothing for _ in each),
        given=(0,) * config.ranks,
        tasks=tuple(() for _ in each),
        early=tuple((no_progress,) * config.slots for _ in each),
        seen=tuple((-1,) * config.slots for _ in each),
        gone=tuple((nothing,) * config.slots for _ in each),
        told=tuple(nothing for _ in each),
        done=tuple(() for _ in each),
    )
