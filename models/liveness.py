"""Leads-to properties under fairness, decided on the whole transition graph.

``P ~> Q`` fails when a fair behaviour reaches a P state and never a Q state after it. Such a behaviour ends in a
strongly connected part of the graph without Q (or stays in one state for ever: stuttering is always allowed). The
part is fair when, for each assumption, it takes the step, or (weak) it has a state where the step is disabled, or
(strong) it has no state where the step is enabled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from models.explore import Path
from models.graph import Graph
from models.kernel import Action

__all__ = ("Fair", "Lasso", "LeadsTo", "leads_to")

S = TypeVar("S", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Fair(Generic[S]):
    """An assumption: the steps that ``of`` selects are taken when they stay enabled (``strong``: recur) for ever."""

    name: str
    of: Callable[[S, Action], bool]
    strong: bool = False


@dataclass(frozen=True)
class LeadsTo(Generic[S]):
    """The property ``from_ ~> to``."""

    name: str
    from_: Callable[[S], bool]
    to: Callable[[S], bool]


@dataclass(frozen=True)
class Lasso(Generic[S]):
    """A fair behaviour that breaks the property: a path, and the states among which it stays for ever."""

    path: Path[S]
    cycle: frozenset[S]

    def __str__(self) -> str:
        stays = "stays there for ever" if len(self.cycle) == 1 else f"stays among {len(self.cycle)} states for ever"
        return f"after {len(self.path)} steps it {stays}"


def leads_to(graph: Graph[S], prop: LeadsTo[S], fairness: Sequence[Fair[S]]) -> Lasso[S] | None:
    """Return a fair behaviour that violates the property, or None when it holds."""
    table = graph.successors()
    region = {state for state in graph.states if not prop.to(state)}
    starts = [state for state in graph.states if state in region and prop.from_(state)]
    parents: dict[S, tuple[Action, S] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        state = queue.popleft()
        for action, after in table[state]:
            if after in region and after not in parents:
                parents[after] = (action, state)
                queue.append(after)
    pending: list[Collection[S]] = [parents]
    while pending:
        for part in _components(table, pending.pop()):
            verdict = _judge(table, part, fairness)
            if verdict is None:
                nearest = min((_join(graph, parents, state) for state in part), key=len)
                return Lasso(nearest, part)
            if verdict:
                pending.append(verdict)
    return None


def _judge(
    table: dict[S, list[tuple[Action, S]]], part: frozenset[S], fairness: Sequence[Fair[S]]
) -> frozenset[S] | None:
    """None: a fair behaviour stays in the part. Else the smaller part that may still hold one (perhaps empty)."""
    smaller = part
    for fair in fairness:
        enabled: set[S] = set()
        taken = False
        for state in part:
            for action, after in table[state]:
                if after != state and fair.of(state, action):
                    enabled.add(state)
                    taken = taken or after in part
        if taken or (not fair.strong and len(enabled) < len(part)):
            continue
        if fair.strong:
            smaller -= enabled
        else:
            return frozenset()
    return None if smaller == part else smaller


def _components(table: dict[S, list[tuple[Action, S]]], within: Collection[S]) -> list[frozenset[S]]:
    """Strongly connected components of the graph restricted to some states (Tarjan, without recursion)."""
    inside = set(within)
    index: dict[S, int] = {}
    low: dict[S, int] = {}
    stack: list[S] = []
    on_stack: set[S] = set()
    found: list[frozenset[S]] = []
    for root in within:
        if root in index:
            continue
        work = [(root, iter(table[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            state, rest = work[-1]
            for _, after in rest:
                if after not in inside:
                    continue
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on_stack.add(after)
                    work.append((after, iter(table[after])))
                    break
                if after in on_stack:
                    low[state] = min(low[state], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    members = set()
                    while state not in members:
                        members.add(stack.pop())
                    on_stack -= members
                    found.append(frozenset(members))
    return found


def _walk(parents: dict[S, tuple[Action, S] | None], state: S) -> tuple[S, list[tuple[Action, S]]]:
    steps: list[tuple[Action, S]] = []
    while (link := parents[state]) is not None:
        steps.append((link[0], state))
        state = link[1]
    return state, steps[::-1]


def _join(graph: Graph[S], parents: dict[S, tuple[Action, S] | None], state: S) -> Path[S]:
    """A path to the ``from_`` state, and from there within the region."""
    start, steps = _walk(parents, state)
    prefix = graph.path(start)
    return Path(prefix.start, (*prefix.steps, *steps))
