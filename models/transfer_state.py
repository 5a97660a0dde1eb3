"""State and constants of the transfer model. Names and shapes are those of ``spec/transfer.toml``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from models.guards import Removable

__all__ = (
    "AWAY",
    "CANCELLED",
    "DEAD",
    "FAILED",
    "LIVE",
    "LOST",
    "OK",
    "QUEUED",
    "STARTED",
    "Config",
    "Guards",
    "Report",
    "State",
    "ended",
    "initial_state",
    "numbers",
    "reported",
)

AWAY, LIVE, DEAD, LOST = "away", "live", "dead", "lost"
QUEUED, STARTED, OK, FAILED, CANCELLED = "queued", "started", "ok", "failed", "cancelled"


class Report(NamedTuple):
    """What a rank reported of a task."""

    rank: int
    ok: bool


class State(NamedTuple):
    """All variables of the spec. Tasks are numbered from 1: task 1 is entry 0 of the sequences. So are clients."""

    owner: tuple[int, ...]
    kind: tuple[int, ...]
    state: tuple[str, ...]
    reports: tuple[frozenset[Report], ...]
    without: tuple[frozenset[int], ...]
    busy: tuple[frozenset[int], ...]
    results: tuple[tuple[int, ...], ...]
    hand: tuple[int, ...]
    handled: frozenset[int]
    held: tuple[frozenset[int], ...]
    gone: frozenset[int]
    status: tuple[str, ...]
    vote: tuple[str, ...]
    phase: str
    pauses: int
    open: tuple[bool, ...]
    spare: tuple[bool, ...]
    jobs: tuple[frozenset[int], ...]
    running: tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Agreed: bool = True
    RefusalFrees: bool = True
    StartCounts: bool = True
    DoneAfterReport: bool = True
    WithdrawTells: bool = True
    KeepsStarted: bool = True
    FailureTold: bool = True
    FenceFrees: bool = True
    EndedStays: bool = True
    InOrder: bool = True
    OverdueHeld: bool = True
    AbandonHolds: bool = True
    FenceSettles: bool = True
    DoneAfterSettle: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. None for a bound means unbounded (a recorded run has no bounds)."""

    ranks: int = 2
    clients: int = 1
    kinds: int = 1
    max_issued: int | None = 1
    capacity: int = 2
    max_pauses: int = 0
    leavers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    failing: frozenset[int] = frozenset()
    slow: frozenset[int] = frozenset()
    frail: frozenset[int] = frozenset()
    impatient: frozenset[int] = frozenset()
    hasty: bool = False
    inside: bool = True
    guards: Guards = field(default_factory=Guards)

    def __post_init__(self) -> None:
        if min(self.ranks, self.clients, self.kinds, self.capacity) < 1:
            raise ValueError(f"ranks, clients, kinds and capacity must be at least 1: {self}")
        if not (self.leavers | self.mortal | self.silent | self.failing | self.slow) <= set(range(self.ranks)):
            raise ValueError(f"leavers, mortal, silent, failing and slow must be ranks below {self.ranks}: {self}")
        if not (self.frail | self.impatient) <= set(range(1, self.clients + 1)):
            raise ValueError(f"frail and impatient must be clients from 1 to {self.clients}: {self}")

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "C": self.clients,
            "Kinds": self.kinds,
            "MaxIssued": self.max_issued,
            "Capacity": self.capacity,
            "MaxPauses": self.max_pauses,
            "Leavers": self.leavers,
            "Mortal": self.mortal,
            "Silent": self.silent,
            "Failing": self.failing,
            "Slow": self.slow,
            "Frail": self.frail,
            "Impatient": self.impatient,
            "Hasty": self.hasty,
            "Inside": self.inside,
            **asdict(self.guards),
        }


def initial_state(config: Config) -> State:
    """Nobody is there, and nothing was issued."""
    n, clients = config.ranks, config.clients
    return State(
        owner=(),
        kind=(),
        state=(),
        reports=(),
        without=(),
        busy=(),
        results=((),) * clients,
        hand=(0,) * clients,
        handled=frozenset(),
        held=(frozenset(),) * clients,
        gone=frozenset(),
        status=(AWAY,) * n,
        vote=("none",) * n,
        phase="run",
        pauses=0,
        open=(False,) * n,
        spare=(False,) * n,
        jobs=(frozenset(),) * n,
        running=(frozenset(),) * n,
    )


def numbers(s: State, *states: str) -> list[int]:
    """Return the tasks that are in one of these states, in order."""
    return [number for number, state in enumerate(s.state, 1) if state in states]


def ended(s: State, number: int) -> bool:
    """Return True when the task has its result."""
    return s.state[number - 1] in (OK, FAILED, CANCELLED)


def reported(s: State, number: int) -> set[int]:
    """Return the ranks that have reported."""
    return {report.rank for report in s.reports[number - 1]}
