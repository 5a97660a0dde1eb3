"""State and constants of the link model. Names and shapes are those of ``spec/link.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from models.guards import Removable

__all__ = ("CALLS", "CLIENT", "ENDED", "Config", "Guards", "Request", "State", "initial_state", "mask", "numbers")

CLIENT = ("up", "closed", "lost", "fenced", "dead")
CALLS = ("none", "open", "answered", "lost", "fenced")
ENDED = ("closed", "fenced")


class Request(NamedTuple):
    """What a handle sends: a call's number (0: it was closed), which calls are open, and how many there were."""

    number: int
    open: frozenset[int]
    top: int


class State(NamedTuple):
    """All variables of the spec. Calls are numbered from 1: call 1 is entry 0."""

    client: str
    calls: tuple[str, ...]
    wire: frozenset[Request]
    late: frozenset[Request]
    back: frozenset[int]
    serving: bool
    session: str
    top: int
    known: tuple[str, ...]
    ran: tuple[int, ...]
    losses: int


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Dedups: bool = True
    StaleRefused: bool = True
    KeepsAnswer: bool = True
    Acknowledges: bool = True
    EndedRemembered: bool = True
    FencedTold: bool = True
    StopsAtFence: bool = True
    Resends: bool = True
    GivesUp: bool = True
    FencesSilent: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    calls: int = 1
    window: int = 1
    max_losses: int = 0
    may_fence: bool = False
    impatient: bool = False
    client_mortal: bool = False
    host_mortal: bool = False
    closes: bool = False
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.calls, self.window, self.max_losses) < 0:
            raise ValueError(f"calls, window and max_losses must be at least 0: {self}")

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "Calls": self.calls,
            "Window": self.window,
            "MaxLosses": self.max_losses,
            "MayFence": self.may_fence,
            "Impatient": self.impatient,
            "ClientMortal": self.client_mortal,
            "HostMortal": self.host_mortal,
            "Closes": self.closes,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nothing was called."""
    return State(
        client="up",
        calls=("none",) * config.calls,
        wire=frozenset(),
        late=frozenset(),
        back=frozenset(),
        serving=True,
        session="new",
        top=0,
        known=("none",) * config.calls,
        ran=(0,) * config.calls,
        losses=0,
    )


def mask(open_calls: frozenset[int]) -> int:
    """Return a set of calls as one number: parameters of actions are numbers."""
    return sum(1 << number for number in open_calls)


def numbers(bits: int) -> frozenset[int]:
    """Return the set that :func:`mask` has made a number."""
    return frozenset(number for number in range(1, bits.bit_length()) if bits >> number & 1)
