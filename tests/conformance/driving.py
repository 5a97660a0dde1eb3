"""Driving what is under test through the graph of its model: every edge of a core, every move of a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from fdcomm.errors import FdcommError, ProtocolViolationError
from models.explore import Path
from models.graph import Edge, Graph
from models.kernel import Action, changes, show
from tests.conformance.walks import Move, Moves, walks

__all__ = (
    "Coverage",
    "Deviation",
    "Probe",
    "ServiceCoverage",
    "difference",
    "expect",
    "must_raise",
    "refused",
    "replay",
    "take_every_edge",
    "take_every_move",
    "where",
)

S = TypeVar("S", bound=tuple[Any, ...])
S_contra = TypeVar("S_contra", bound=tuple[Any, ...], contravariant=True)
E = TypeVar("E", bound=FdcommError)


class Deviation(AssertionError):
    """The implementation does not do what the model does. The text has the behaviour that shows it."""


@dataclass
class Coverage:
    """What was driven. ``edges`` of ``of`` edges of the graph."""

    states: int = 0
    edges: int = 0
    of: int = 0
    refusals: int = 0
    actions: Counter[str] = field(default_factory=Counter)


@dataclass
class ServiceCoverage(Coverage):
    """What was driven, in how many behaviours."""

    walks: int = 0


def difference(wanted: tuple[Any, ...], found: tuple[Any, ...]) -> str:
    """Name the variables that differ."""
    return "; ".join(f"{name} = {show(b)} instead of {show(a)}" for name, (a, b) in changes(wanted, found).items())


def where(path: Iterable[Action]) -> str:
    """Say how the state was reached."""
    return f"after {', '.join(map(str, path)) or 'nothing'}"


# -- what must be refused ------------------------------------------------------------------------------------------

# (label, the call, what it must return; None: it must raise ProtocolViolationError). Each must change nothing.
Probe: TypeAlias = tuple[str, Callable[[], object], "tuple[object, ...] | None"]


def refused(probe: Probe) -> str:
    """Make the call of a probe; return "" when it was refused as it should be, else what happened."""
    label, call, answer = probe
    try:
        value = call()
    except ProtocolViolationError as error:
        return "" if answer is None else f"{label} raised {error!r} instead of returning {answer[0]!r}"
    if answer is None:
        return f"{label} returned {value!r} instead of raising ProtocolViolationError"
    return "" if value == answer[0] else f"{label} returned {value!r} instead of {answer[0]!r}"


def must_raise(kind: type[E], call: Callable[[], object]) -> E:
    """Make a call that must raise; return the error."""
    try:
        answer = call()
    except kind as error:
        return error
    raise Deviation(f"a call that must raise {kind.__name__} returned {answer!r}")


# -- a core ----------------------------------------------------------------------------------------------------------


class _Core(Protocol):
    def copy(self: D) -> D:
        """Return an independent driver in the same state."""

    def state(self) -> Any:
        """Return the model's state that the core is in."""

    def step(self, action: Action, /) -> object:
        """Take one step; return what the core's method returned."""


D = TypeVar("D", bound=_Core)


def replay(driver: D, path: Path[Any]) -> D:
    """Take the steps of a path, and return the driver."""
    for action in path.actions:
        driver.step(action)
    return driver


def expect(action: Action, result: object, expected: object) -> None:
    """Compare what a step has returned with what it must return."""
    if result != expected:
        raise Deviation(f"{action} returned {result!r} instead of {expected!r}")


def take_every_edge(
    graph: Graph[S],
    reach: Callable[[Path[S]], D],
    take: Callable[[D, Edge[S]], None],
    probes: Callable[[D, S], Iterable[Probe]],
) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there.

    Each state is reached from the start by a shortest path; each of its edges then starts from a copy. ``take`` makes
    a step and checks what it returned; that the core is then in the model's state is checked here.
    """
    coverage = Coverage(states=len(graph.states), of=len(graph.edges))
    steps = graph.successors()
    for state in graph.states:
        path = graph.path(state)
        there = reach(path)
        coverage.refusals += _visit(there, path.actions, state, probes)
        for action, after in steps[state]:
            _take(there.copy(), path.actions, (state, action, after), take)
            coverage.edges += 1
            coverage.actions[action.name] += 1
    return coverage


def _take(driver: D, path: tuple[Action, ...], edge: Edge[S], take: Callable[[D, Edge[S]], None]) -> None:
    _, action, after = edge
    try:
        take(driver, edge)
        found = driver.state()
    except Deviation as error:
        raise Deviation(f"{error} {where(path)}") from error
    except Exception as error:
        raise Deviation(f"{action} raised {error!r} {where(path)}") from error
    if found != after:
        raise Deviation(f"{difference(after, found)} {where((*path, action))}")


def _visit(driver: D, path: tuple[Action, ...], state: S, probes: Callable[[D, S], Iterable[Probe]]) -> int:
    if driver.state() != state:
        raise Deviation(f"{difference(state, driver.state())} {where(path)}")
    tried = 0
    for probe in probes(driver, state):
        tried += 1
        if problem := refused(probe):
            raise Deviation(f"{problem} {where(path)}")
        if driver.state() != state:
            raise Deviation(f"{difference(state, driver.state())} after the refused {probe[0]} {where(path)}")
    return tried


# -- a host ----------------------------------------------------------------------------------------------------------


class _Host(Protocol[S_contra]):
    def refusals(self, state: S_contra) -> int:
        """Make calls that cannot succeed in ``state``: each must fail and change nothing. Return how many."""

    def take(self, move: Move[S_contra]) -> None:
        """Do what the actions of the move are, in one critical section."""

    def finish(self) -> None:
        """End the host: whoever waits is told."""


H = TypeVar("H", bound=_Host[Any])


def take_every_move(
    graph: Graph[S], moves: Moves[S], make: Callable[[], H], check: Callable[[H, S, Move[S]], None]
) -> ServiceCoverage:
    """Take every move of a host, and try once in every state what must be refused there.

    ``check`` compares the host with a state, and what it recorded with the move that led there (none for refusals).
    """
    coverage = ServiceCoverage(of=len(graph.edges))
    seen: set[Edge[S]] = set()
    visited: set[S] = set()
    for walk in walks(graph.initial[0], moves):
        coverage.walks += 1
        driver = make()
        done: list[Action] = []
        try:
            for move in walk:
                before = move[0][0]
                if before not in visited:
                    visited.add(before)
                    coverage.refusals += driver.refusals(before)
                    check(driver, before, ())
                done += [action for _, action, _ in move]
                driver.take(move)
                check(driver, move[-1][2], move)
                seen.update(move)
            driver.finish()
        except Exception as error:
            raise Deviation(f"{error!r} in the behaviour {', '.join(map(str, done)) or '(start)'}") from error
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage
