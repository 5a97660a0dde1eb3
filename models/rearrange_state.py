"""State and constants of the rearrange model. Names and shapes are those of ``spec/rearrange.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from models.guards import Removable

__all__ = ("AWAY", "DEAD", "LIVE", "Config", "Guards", "State", "initial_state")

AWAY, LIVE, DEAD = "away", "live", "dead"


class State(NamedTuple):
    """All variables of the spec."""

    status: tuple[str, ...]
    phase: str
    outcome: tuple[str, ...]
    reached: frozenset[int]
    load: tuple[str, ...]
    job: tuple[int, ...]
    table: tuple[int, ...]
    worker: tuple[str, ...]
    swap: tuple[int, ...]

    @property
    def running(self) -> int:
        """The number of the last request; 0 before the first."""
        return len(self.outcome)

    @property
    def committed(self) -> bool:
        """The exchange of weights has begun."""
        return any(w in ("swap", "done", "lost") for w in self.worker)


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    OneAtATime: bool = True
    ReportsKeyed: bool = True
    AllPeers: bool = True
    FailureFrees: bool = True
    SwapKept: bool = True
    InStep: bool = True
    WaitsLimited: bool = True
    FenceEnds: bool = True
    TimeoutEnds: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec.

    ``max_requests=None`` is a recorded run: nothing is bounded, a request names the first few of the addresses, and
    nobody has seen what a loader does with its job, so it may take the next load without a word about the last.
    """

    ranks: int = 2
    peers: int = 1
    max_requests: int | None = 2
    movers: frozenset[int] = frozenset()
    failing: frozenset[int] = frozenset()
    deaf: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if self.ranks < 1 or self.peers < 0:
            raise ValueError(f"ranks must be at least 1, and peers at least 0: {self}")
        if not self.movers <= set(range(2 * self.ranks + 1)) or not self.failing <= set(range(self.ranks)):
            raise ValueError(f"movers must be parties, and failing ranks: {self}")
        if not self.deaf <= set(range(1, self.peers + 1)):
            raise ValueError(f"deaf must be addresses from 1 to {self.peers}: {self}")

    @property
    def coordinator(self) -> int:
        """The coordinator's number as a party."""
        return 2 * self.ranks

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "A": self.peers,
            "MaxRequests": self.max_requests,
            "Movers": self.movers,
            "Failing": self.failing,
            "Deaf": self.deaf,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nothing was asked; the movers are not there yet."""
    ranks = config.ranks
    return State(
        status=tuple(AWAY if party in config.movers else LIVE for party in range(2 * ranks + 1)),
        phase="FREE",
        outcome=(),
        reached=frozenset(),
        load=("none",) * ranks,
        job=(0,) * ranks,
        table=(0,) * ranks,
        worker=("idle",) * ranks,
        swap=(0,) * ranks,
    )
