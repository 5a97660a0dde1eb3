"""State and constants of the mailbox model. Names and shapes are those of ``spec/mailbox.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from models.guards import Removable

__all__ = ("ENDS", "Config", "Given", "Guards", "State", "initial_state")

ENDS = ("over", "lost", "late", "expired", "closed")


class Given(NamedTuple):
    """A result that was sent, and to which client."""

    item: int
    to: int


class State(NamedTuple):
    """All variables of the spec. Requests and clients are numbered from 1: request 1 is entry 0."""

    clients: tuple[str, ...]
    owner: tuple[int, ...]
    stage: tuple[str, ...]
    made: tuple[int, ...]
    fin: tuple[bool, ...]
    cached: tuple[tuple[int, ...], ...]
    flights: tuple[tuple[tuple[int, ...], ...], ...]
    sent: tuple[tuple[Given, ...], ...]
    dropped: tuple[int, ...]
    closed: bool


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    OneSender: bool = True
    LooksAgain: bool = True
    FirstOwner: bool = True
    Mandatory: bool = True
    Bounds: bool = True
    Expires: bool = True
    EndedRefused: bool = True
    FlushEnds: bool = True
    TellsUnsent: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    requests: int = 1
    clients: int = 1
    max_items: int | None = 2
    capacity: int = 2
    mortal: frozenset[int] = frozenset()
    slow: bool = False
    idle: bool = False
    closes: bool = False
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.requests, self.clients, self.capacity) < 0:
            raise ValueError(f"requests, clients and capacity must be at least 0: {self}")
        if not self.mortal <= set(range(1, self.clients + 1)):
            raise ValueError(f"mortal must be clients, which are numbered from 1: {self}")

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Requests": self.requests,
            "Clients": self.clients,
            "MaxItems": self.max_items,
            "Capacity": self.capacity,
            "Mortal": self.mortal,
            "Slow": self.slow,
            "Idle": self.idle,
            "Closes": self.closes,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """All clients live, and nobody has asked for anything."""
    return State(
        clients=("live",) * config.clients,
        owner=(0,) * config.requests,
        stage=("open",) * config.requests,
        made=(0,) * config.requests,
        fin=(False,) * config.requests,
        cached=((),) * config.requests,
        flights=((),) * config.requests,
        sent=((),) * config.requests,
        dropped=(0,) * config.requests,
        closed=False,
    )
