"""Level V3 on the core: every edge of a model graph is taken by the core, and every refusal refuses."""

from __future__ import annotations

from collections.abc import Callable

from fdcomm.core.dispatch import Dispatch as Core
from models.dispatch import Config, Dispatch
from models.dispatch_state import State
from models.graph import Graph, build
from models.kernel import Action
from tests.conformance.core_driver import CoreDriver, expected_result, probes
from tests.conformance.driving import Coverage, Deviation, difference, refused, where
from tests.conformance.plans import unbounded

__all__ = ("Coverage", "Deviation", "difference", "drive_core")

Make = Callable[[int, int], Core[str]]


def drive_core(config: Config, make: Make = Core[str], graph: Graph[State] | None = None) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there.

    ``graph`` is that of a model that extends dispatch, in dispatch's states; None is dispatch's own.

    Each state is reached from the start by a shortest path; each of its edges then starts from a copy.
    """
    graph = graph or build(Dispatch(config))
    free = unbounded(config)
    coverage = Coverage(states=len(graph.states), of=len(graph.edges))
    steps = graph.successors()
    visited: set[State] = set()
    for state in graph.states:
        path = graph.path(state).actions
        there = CoreDriver(config.ranks, config.producers, config.depth, make)
        for action in path:
            there.step(action)
        known = state._replace(got=())  # the core has no history: one visit for all
        if known not in visited:
            visited.add(known)
            coverage.refusals += _visit(there, path, state, free)
        for action, after in steps[state]:
            _take(there.copy(), path, state, action, after)
            coverage.edges += 1
            coverage.actions[action.name] += 1
    return coverage


def _take(driver: CoreDriver, path: tuple[Action, ...], before: State, action: Action, after: State) -> None:
    try:
        result = driver.step(action)
    except Exception as error:
        raise Deviation(f"{action} raised {error!r} {where(path)}") from error
    expected = expected_result(action, before, after)
    if result != expected:
        raise Deviation(f"{action} returned {result!r} instead of {expected!r} {where(path)}")
    found = driver.state()
    if found != after:
        raise Deviation(f"{difference(after, found)} {where((*path, action))}")


def _visit(driver: CoreDriver, path: tuple[Action, ...], state: State, free: Dispatch) -> int:
    """Check the reads and the refusals of one state. The driver is in it, and is so afterwards."""
    if driver.state() != state:
        raise Deviation(f"{difference(state, driver.state())} {where(path)}")
    enabled = {action for action, _ in free.steps(state)}
    _check_reads(driver.core, state, enabled, path)
    before = driver.copy()
    tried = 0
    for probe in probes(driver.core, state, enabled):
        tried += 1
        if problem := refused(probe):
            raise Deviation(f"{problem} {where(path)}")
    if driver.state() != state:  # one of them changed something: find out which
        for number in range(tried):
            fresh = before.copy()
            probe = list(probes(fresh.core, state, enabled))[number]
            refused(probe)
            if fresh.state() != state:
                raise Deviation(f"{difference(state, fresh.state())} after the refused {probe[0]} {where(path)}")
        raise Deviation(f"the refused calls together changed the core {where(path)}")
    return tried


def _check_reads(core: Core[str], state: State, enabled: set[Action], path: tuple[Action, ...]) -> None:
    ready = {a.params[1][1] for a in enabled if a.name == "PutTasks"}
    numbers = range(1, state.calls + 2)
    ranks = range(len(state.status))
    seen: dict[str, tuple[object, object]] = {
        "num_tasks": (core.num_tasks(), len(state.log)),
        "task_ticket": (
            [core.task_ticket(rank) for rank in ranks],
            [next((e.id for e in state.log if rank not in e.taken), 0) for rank in ranks],
        ),
        "missing": (core.missing(), tuple(r for r in ranks if state.log and r not in state.log[0].taken)),
        "can_put": ({n for n in numbers if core.can_put(n)}, ready),
        "is_waiting": ({n for n in numbers if core.is_waiting(n)}, {call.id for call in state.waiting}),
    }
    for name, (found, wanted) in seen.items():
        if found != wanted:
            raise Deviation(f"{name} is {found!r} instead of {wanted!r} {where(path)}")
