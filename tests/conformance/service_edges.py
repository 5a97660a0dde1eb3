"""Level V3 on the host's service: the edges of the model graph that a host can take, each taken.

A put call that can be answered at its arrival is answered in the same critical section. So the states between, where
the call has arrived and its answer is possible but not given, exist only inside it: from them no other edge can be
taken, and these edges (with those that only they lead to) are counted as ``not for a host``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.dispatch import Config, Dispatch
from models.dispatch_state import State
from models.graph import Edge, Graph, build
from models.kernel import Action
from tests.conformance.core_driver import expected_result
from tests.conformance.driving import Deviation, ServiceCoverage, difference
from tests.conformance.service_driver import ServiceDriver
from tests.conformance.walks import Move, Moves, Steps, reachable_moves, walks

__all__ = ("HostGraph", "drive_service", "host_graph")


@dataclass
class HostGraph:
    """The moves from each state in which a host can be between two critical sections."""

    graph: Graph[State]
    moves: Moves[State]


def host_graph(config: Config) -> HostGraph:
    """Compute what a host can do."""
    graph = build(Dispatch(config))
    return HostGraph(graph, reachable_moves(graph, _moves))


def _moves(state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    for action, after in steps[state]:
        yield _move(state, action, after, steps)


def _move(state: State, action: Action, after: State, steps: Steps[State]) -> Move[State]:
    first = (state, action, after)
    if action.name == "CallPut":
        for answer, then in steps[after]:
            if answer.name in ("PutTasks", "PutLost") and answer.params[1][1] == after.calls:
                return first, (after, answer, then)
    return (first,)


def drive_service(config: Config, protocol: str = "dispatch") -> ServiceCoverage:
    """Take every move of the host's graph through the service, on the channel of the protocol."""
    host = host_graph(config)
    coverage = ServiceCoverage(of=len(host.graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in walks(host.graph.initial[0], host.moves):
        coverage.walks += 1
        driver = ServiceDriver(config, protocol)
        driver.events()
        done: list[Action] = []
        for move in walk:
            before = move[0][0]
            try:
                if before not in visited:
                    visited.add(before)
                    coverage.refusals += driver.refusals(before)
                    _check(driver, before, ())
                driver.step(move[0][1])
                done += [action for _, action, _ in move]
                _check(driver, move[-1][2], move)
            except Exception as error:
                text = ", ".join(map(str, done))
                raise Deviation(f"{error} in the behaviour {text or '(start)'}, {move[0][1]}") from error
            seen.update(move)
        driver.finish()
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage


def _check(driver: ServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    tickets = [next((e.id for e in wanted.log if rank not in e.taken), 0) for rank in range(len(wanted.status))]
    if list(driver.words[1 : 1 + driver.config.ranks]) != tickets:
        raise Deviation(
            f"the shared tickets are {list(driver.words[1 : 1 + driver.config.ranks])} instead of {tickets}"
        )
    events = driver.events()
    edges = [edge for edge in move if edge[1].name not in ("Crash", "CrashProducer")]
    if [event[0] for event in events] != [action for _, action, _ in edges]:
        raise Deviation(f"recorded {[str(event[0]) for event in events]} for {[str(e[1]) for e in edges]}")
    for (_, result, post), (before, action, after) in zip(events, edges, strict=True):
        shown = {
            "calls": after.calls,
            "epoch": after.epoch,
            "exist": after.exist,
            "log": [entry.id for entry in after.log],
            "waiting": [call.id for call in after.waiting],
        }
        if post != shown:
            raise Deviation(f"{action} was recorded with {post} after it instead of {shown}")
        if result != _recorded(action, before, after):
            raise Deviation(f"{action} was recorded with the result {result}")


def _recorded(action: Action, before: State, after: State) -> dict[str, object]:
    expected = expected_result(action, before, after)
    if action.name == "GetTasks" and isinstance(expected, tuple):
        return {"id": expected[0], "all_read": expected[3]}
    if action.name in ("ClearRank", "ClearProducer") and isinstance(expected, tuple):
        return {"dropped": list(expected)}
    return {}
