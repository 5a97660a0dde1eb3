"""Level V3 on the barrier core: every edge of a model graph is taken by it, and what is not enabled is refused.

A crash is invisible to the host, so the core has no such call: the driver remembers who has crashed. The same holds
for ``passed`` and ``undone``, which are history.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from fdcomm.core.barrier import Arrival, BarrierGroup
from models.barrier import Barrier, Config, State
from models.barrier_state import AWAY, DEAD, LIVE, LOST, UNSAID
from models.barrier_state import Arrival as ModelArrival
from models.graph import Edge, build
from models.kernel import Action, show
from tests.conformance.driving import Coverage, Deviation, Probe, difference, refused, replay, take_every_edge

__all__ = (
    "BarrierDriver",
    "Coverage",
    "Deviation",
    "abstract",
    "difference",
    "drive_core",
    "endings",
    "names_of",
    "refused",
)

Make: TypeAlias = Callable[[tuple[str, ...], int], BarrierGroup]

# rank -> how its wait ended: outcome, and what it was told beside it.
Endings: TypeAlias = dict[int, tuple[str, object]]

ACTION_OF = {"passed": "Pass", "mismatch": "Mismatch", "lost": "Refuse", "broken": "Refuse", "over": "Refuse"}


def names_of(barriers: int) -> tuple[str, ...]:
    """Return the names of a group's barriers."""
    return tuple(f"barrier{number}" for number in range(barriers))


def label_of(number: int) -> str:
    """Return the label of that number; the first is none."""
    return f"label {number}" if number else ""


def abstract(core: BarrierGroup, dead: set[int], undone: list[int], passed: list[list[int]]) -> State:
    """Return the model's state of a core, with what the core cannot know given beside it."""
    status = tuple(
        (DEAD if rank in dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
        for rank in range(core.ranks)
    )
    arrived = tuple(
        tuple(
            ModelArrival(a.at.rank, int(a.at.label[6:] or 0), UNSAID if a.at.round is None else a.at.round)
            for a in core._barriers[name].arrived.values()
        )
        for name in core.names
    )
    return State(
        status=status,
        generation=tuple(core.generation(name) for name in core.names),
        arrived=arrived,
        broken=tuple(core.broken(name) for name in core.names),
        aborts=tuple(core.aborts(name) for name in core.names),
        undone=tuple(undone),
        passed=tuple(tuple(counts) for counts in passed),
    )


class BarrierDriver:
    """A core under test, and the arrivals that it gave out."""

    def __init__(self, config: Config, make: Make = BarrierGroup) -> None:
        self.names = names_of(config.barriers)
        self.core = make(self.names, config.ranks)
        self.dead: set[int] = set()
        self.undone = [0] * config.barriers
        self.passed = [[0] * config.barriers for _ in range(config.ranks)]
        self.waiting: dict[int, Arrival] = {}

    def copy(self) -> BarrierDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        return abstract(self.core, self.dead, self.undone, self.passed)

    def step(self, action: Action) -> tuple[str, Endings]:
        """Take one step; return its name as the core has it, and how waits ended in it."""
        core, name, rank = self.core, action.name, action.param("rank")
        done = name
        ended: Endings = {}
        if name == "Crash":
            self.dead.add(_known(rank))
        elif name in ("Join", "Leave", "Fence"):
            {"Join": core.join, "Leave": core.leave, "Fence": core.fence}[name](_known(rank))
            self.dead.discard(_known(rank))
            self._gone(_known(rank), name)
        elif name == "Timeout":
            if not core.timeout(_known(rank)):
                raise AssertionError("a waiting rank's arrival could not be taken back")
            self._gone(_known(rank), name)
        elif name == "Abort":
            done = name if core.abort(self._barrier(action)) else "nothing"
        elif name == "Reset":
            if core.reset(self._barrier(action), _known(action.param("abort"))):
                self.undone[_known(action.param("barrier"))] = _known(action.param("abort"))
            else:
                done = "nothing"
        else:
            done = self._arrive(action)
        for who, arrival in list(self.waiting.items()):
            if arrival.ending is not None:
                del self.waiting[who]
                ended[who] = _told(arrival)
                if arrival.ending.outcome == "passed":
                    self.passed[who][self.names.index(arrival.at.barrier)] += 1
        return done, ended

    def _arrive(self, action: Action) -> str:
        rank, number = _known(action.param("rank")), action.param("round")
        label = label_of(action.param("label") or 0)
        said = None if number in (None, UNSAID) else number
        arrival = self.core.arrive(rank, self._barrier(action), label, said)
        self.waiting[rank] = arrival
        return "Arrive" if arrival.ending is None else ACTION_OF[arrival.ending.outcome]

    def _gone(self, rank: int, name: str) -> None:
        arrival = self.waiting.pop(rank, None)
        if arrival is not None and arrival.ending is not None:
            raise AssertionError(f"{name} ended the wait that it withdraws: {arrival.ending}")

    def _barrier(self, action: Action) -> str:
        return self.names[_known(action.param("barrier"))]


def _known(value: int | None) -> int:
    assert value is not None
    return value


def _told(arrival: Arrival) -> tuple[str, object]:
    ending = arrival.ending
    assert ending is not None
    if ending.outcome == "passed":
        return "passed", (ending.round, arrival.index)
    if ending.outcome == "lost":
        return "lost", ending.ranks
    if ending.outcome == "mismatch":
        return "mismatch", tuple((at.rank, at.barrier, at.label, at.round) for at in ending.positions)
    return ending.outcome, ending.round


def endings(action: Action, before: State, after: State) -> Endings:
    """Return how waits must end in a step of the model, the arriving one included."""
    names = names_of(len(before.generation))
    waiting = {a.rank: (number, a) for number, there in enumerate(before.arrived) for a in there}
    name, rank = action.name, action.param("rank")
    if name == "Pass":
        number = _known(action.param("barrier"))
        order = [*(a.rank for a in before.arrived[number]), _known(rank)]
        return {who: ("passed", (before.generation[number], index)) for index, who in enumerate(order)}
    if name == "Mismatch":
        mine = ModelArrival(_known(rank), _known(action.param("label")), _known(action.param("round")))
        everybody = waiting | {mine.rank: (_known(action.param("barrier")), mine)}
        positions = tuple(
            (who, names[number], label_of(a.label), None if a.round == UNSAID else a.round)
            for who, (number, a) in sorted(everybody.items())
        )
        return dict.fromkeys(everybody, ("mismatch", positions))
    if name == "Refuse":
        number = _known(action.param("barrier"))
        lost = tuple(who for who, status in enumerate(before.status) if status == LOST)
        if lost:
            return {_known(rank): ("lost", lost)}
        return {_known(rank): ("broken" if before.broken[number] else "over", before.generation[number])}
    if name == "Fence":
        lost = tuple(who for who, status in enumerate(after.status) if status == LOST)
        return {who: ("lost", lost) for who in waiting if who != rank}
    if name == "Abort":
        number = _known(action.param("barrier"))
        return {a.rank: ("broken", before.generation[number]) for a in before.arrived[number]}
    return {}


def probes(core: BarrierGroup, state: State) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``state``, as far as the core can know that."""
    waiting = {a.rank for there in state.arrived for a in there}
    for rank, status in enumerate(state.status):
        here = status in (LIVE, DEAD)
        if here:
            yield f"Join({rank})", _bind(core.join, rank), None
        else:
            yield f"Leave({rank})", _bind(core.leave, rank), None
            yield f"Fence({rank})", _bind(core.fence, rank), None
        for name in core.names:
            if not here or rank in waiting:
                yield f"Arrive({rank}, {name})", _bind(core.arrive, rank, name), None
        if rank not in waiting:
            yield f"Timeout({rank})", _bind(core.timeout, rank), (False,)
    for number, name in enumerate(core.names):
        if state.broken[number]:
            yield f"Abort({name})", _bind(core.abort, name), (False,)
        for abort in range(state.aborts[number] + 2):
            if not state.broken[number] or abort != state.aborts[number]:
                yield f"Reset({name}, {abort})", _bind(core.reset, name, abort), (False,)
    yield "Abort(no barrier)", _bind(core.abort, "no barrier"), None


def drive_core(config: Config, make: Make = BarrierGroup) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Barrier(config))
    return take_every_edge(graph, lambda path: replay(BarrierDriver(config, make), path), _take, _probes)


def _take(driver: BarrierDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    done, ended = driver.step(action)
    expected = endings(action, before, after)
    if (done, ended) != (action.name, expected):
        raise Deviation(f"{action} was {done} and ended {ended} instead of {expected}")


def _probes(driver: BarrierDriver, state: State) -> Iterator[Probe]:
    core, ranks = driver.core, range(len(state.status))
    for number, name in enumerate(core.names):
        there = tuple(a.rank for a in state.arrived[number])
        seen: Any = (core.arrived(name), core.missing(name))
        if seen != (there, tuple(rank for rank in ranks if rank not in there)):
            raise Deviation(f"arrived and missing are {seen} in {show(state)}")
    yield from probes(core, state)


def _bind(call: Callable[..., object], *args: object) -> Callable[[], object]:
    return lambda: call(*args)
