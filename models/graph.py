"""The labelled transition graph of a model, and how two graphs differ.

Equality of two graphs (initial states, states, labelled edges) is stronger than bisimulation, and it explains itself:
what is missing or extra can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from models.explore import Path, path_to
from models.kernel import Action, Model, changes, show

__all__ = ("Difference", "Edge", "Graph", "Named", "build", "compare", "named")

S = TypeVar("S", bound=tuple[Any, ...])

Edge: TypeAlias = tuple[S, Action, S]


@dataclass
class Graph(Generic[S]):
    """Every reachable state and step of a model.

    Attributes:
        initial: Initial states.
        states: All states, nearest first.
        edges: All steps as (state, action, state), in the order in which the exploration met them.
    """

    name: str
    initial: list[S] = field(default_factory=list)
    states: list[S] = field(default_factory=list)
    edges: list[Edge[S]] = field(default_factory=list)
    _parents: dict[S, tuple[Action, S] | None] = field(default_factory=dict, repr=False)

    def path(self, state: S) -> Path[S]:
        """Return a shortest path to a state."""
        return path_to(self._parents, state)

    def paths(self) -> Iterator[tuple[Path[S], Edge[S]]]:
        """Yield every edge with a shortest path to its source: a plan that drives each edge once.

        Edges of one source follow each other, so a driver that can copy its subject may replay the path only once.
        """
        source: S | None = None
        path: Path[S] | None = None
        for edge in self.edges:
            if path is None or edge[0] != source:
                source, path = edge[0], self.path(edge[0])
            yield path, edge

    def successors(self) -> dict[S, list[tuple[Action, S]]]:
        """Return the steps of each state."""
        table: dict[S, list[tuple[Action, S]]] = {state: [] for state in self.states}
        for before, action, after in self.edges:
            table[before].append((action, after))
        return table


def build(model: Model[S], max_states: int = 200_000) -> Graph[S]:
    """Explore a model completely, whatever its properties say. Raises ValueError when it has too many states."""
    graph: Graph[S] = Graph(model.name)
    parents = graph._parents
    for state in model.initial():
        if state not in parents:
            parents[state] = None
            graph.initial.append(state)
            graph.states.append(state)
    for state in graph.states:  # grows while it is read: a queue
        for action, after in model.steps(state):
            graph.edges.append((state, action, after))
            if after not in parents:
                if len(parents) >= max_states:
                    raise ValueError(f"{model.name} has more than {max_states} states")
                parents[after] = (action, state)
                graph.states.append(after)
    return graph


@dataclass(frozen=True)
class Named(Generic[S]):
    """A graph whose edges carry action names only, as TLC writes them. Also what a parsed TLC graph becomes."""

    initial: frozenset[S]
    states: frozenset[S]
    edges: frozenset[tuple[S, str, S]]


def named(graph: Graph[S]) -> Named[S]:
    """Drop the parameters from the labels."""
    edges = frozenset((before, action.name, after) for before, action, after in graph.edges)
    return Named(frozenset(graph.initial), frozenset(graph.states), edges)


@dataclass(frozen=True)
class Difference(Generic[S]):
    """What one graph (``found``) lacks and has in excess of another (``wanted``)."""

    missing_initial: frozenset[S]
    extra_initial: frozenset[S]
    missing_states: frozenset[S]
    extra_states: frozenset[S]
    missing_edges: frozenset[tuple[S, str, S]]
    extra_edges: frozenset[tuple[S, str, S]]

    def __bool__(self) -> bool:
        return any(self._parts().values())

    def _parts(self) -> dict[str, Sequence[str]]:
        return {
            "missing initial state": _lines(self.missing_initial),
            "extra initial state": _lines(self.extra_initial),
            "missing edge": _edge_lines(self.missing_edges),
            "extra edge": _edge_lines(self.extra_edges),
            "missing state": _lines(self.missing_states),
            "extra state": _lines(self.extra_states),
        }

    def counts(self) -> str:
        """Return one line: how many of what."""
        parts = {kind: len(lines) for kind, lines in self._parts().items() if lines}
        return ", ".join(f"{count} {kind}s" for kind, count in parts.items()) or "equal"

    def text(self, limit: int = 3) -> str:
        """Return a report with the first ``limit`` items of each kind."""
        lines = [self.counts()]
        for kind, items in self._parts().items():
            lines += [f"{kind}: {item}" for item in items[:limit]]
            if len(items) > limit:
                lines.append(f"{kind}: and {len(items) - limit} more")
        return "\n".join(lines)


def compare(wanted: Named[S], found: Named[S]) -> Difference[S]:
    """Compare two graphs as sets."""
    return Difference(
        wanted.initial - found.initial,
        found.initial - wanted.initial,
        wanted.states - found.states,
        found.states - wanted.states,
        wanted.edges - found.edges,
        found.edges - wanted.edges,
    )


def _lines(states: Iterable[S]) -> list[str]:
    return sorted((show(state) for state in states), key=lambda text: (len(text), text))


def _edge_lines(edges: Iterable[tuple[S, str, S]]) -> list[str]:
    lines = []
    for before, label, after in edges:
        moved = ", ".join(f"{key}: {show(old)} -> {show(new)}" for key, (old, new) in changes(before, after).items())
        lines.append(f"{label} {{{moved or 'no change'}}} from {show(before)}")
    return sorted(lines, key=lambda text: (len(text), text))
