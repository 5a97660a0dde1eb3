"""State and constants of the FMQ model. Names and shapes are those of ``spec/fmq.toml``."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeAlias

from models.guards import Removable

__all__ = ("GONE", "LIVE", "Config", "Flow", "Frame", "Guards", "State", "before", "initial_state", "readable")

LIVE, GONE = "live", "gone"


class Frame(NamedTuple):
    """A message on its way: its number, and what its producer knew to be done."""

    n: int
    base: int


Flow: TypeAlias = tuple[Frame, ...]


class State(NamedTuple):
    """All variables of the spec. Connections are numbered from 1: connection 1 of a producer is entry 0 of its flow."""

    sent: tuple[int, ...]
    base: tuple[int, ...]
    life: tuple[str, ...]
    linked: tuple[bool, ...]
    flow: tuple[tuple[Flow, ...], ...]
    pipe: tuple[Flow, ...]
    ack: tuple[tuple[int, ...], ...]
    consumer: int
    starts: int
    cuts: int
    last: tuple[int, ...]
    done: tuple[int, ...]
    told: tuple[int, ...]
    peer: tuple[int, ...]
    there: tuple[frozenset[int], ...]
    given: tuple[tuple[int, ...], ...]
    finished: tuple[frozenset[int], ...]
    skipped: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Dedups: bool = True
    KeepsUntilAcked: bool = True
    AcksDone: bool = True
    Resends: bool = True
    FreshLink: bool = True
    Outlives: bool = True
    DrainsFirst: bool = True
    Reclaims: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    producers: int = 1
    max_sent: int | None = 2
    window: int = 2
    large: Container[int] = frozenset({2})
    max_starts: int | None = 2
    max_cuts: int | None = 1
    mortal: frozenset[int] = frozenset({0})
    keep: bool = True
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.producers, self.window) < 1:
            raise ValueError(f"producers and window must be at least 1: {self}")
        if not self.mortal <= set(range(self.producers)):
            raise ValueError(f"mortal must be producers below {self.producers}: {self}")

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "P": self.producers,
            "MaxSent": self.max_sent,
            "Window": self.window,
            "Large": self.large,
            "MaxStarts": self.max_starts,
            "MaxCuts": self.max_cuts,
            "Mortal": self.mortal,
            "Keep": self.keep,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nothing was put, and there is no consumer."""
    count = config.producers
    zeros, nothing, none = (0,) * count, ((),) * count, (frozenset[int](),) * count
    return State(
        sent=zeros,
        base=zeros,
        life=(LIVE,) * count,
        linked=(False,) * count,
        flow=nothing,
        pipe=nothing,
        ack=nothing,
        consumer=0,
        starts=0,
        cuts=0,
        last=(-1,) * count,
        done=zeros,
        told=zeros,
        peer=zeros,
        there=none,
        given=nothing,
        finished=none,
        skipped=none,
    )


def readable(s: State, p: int, c: int) -> bool:
    """Return True when a message of connection ``c`` (from 1) of the producer can be read."""
    return s.consumer > 0 and c <= len(s.flow[p]) and bool(s.flow[p][c - 1])


def before(s: State, p: int, base: int) -> int:
    """Return up to where nothing is missing when a message with that base arrives."""
    return max(s.last[p], base)
