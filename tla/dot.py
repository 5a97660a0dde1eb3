"""The state graph that TLC dumps (``-dump dot,actionlabels``): initial states, states, labelled steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from tla.values import Function, parse_state

__all__ = ("DotSyntaxError", "Edge", "StateGraph", "parse_dot")

Edge: TypeAlias = tuple[Function, str, Function]

_NODE = re.compile(r'^(-?\d+) \[label="((?:[^"\\]|\\.)*)"(,style = filled)?\];?$')
_EDGE = re.compile(r'^(-?\d+) -> (-?\d+) \[label="(\w*)"')
_IGNORED = re.compile(r"^(strict digraph .*|nodesep=.*|subgraph .*|color=.*|label=.*|\{rank = same;.*|\}+|)$")
_ESCAPE = re.compile(r"\\(.)")


class DotSyntaxError(ValueError):
    """The text is not a complete dump."""


@dataclass(frozen=True)
class StateGraph:
    """A labelled transition graph. A state is a mapping from variable names to values."""

    initial: frozenset[Function]
    states: frozenset[Function]
    edges: frozenset[Edge]

    def labels(self) -> dict[str, int]:
        """Return how many edges have each label."""
        counts: dict[str, int] = {}
        for _, label, _ in self.edges:
            counts[label] = counts.get(label, 0) + 1
        return counts


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text)


def parse_dot(text: str) -> StateGraph:
    """Return the graph of a dump. Raises DotSyntaxError on a line that it does not know, or a cut file."""
    memo: dict[str, Any] = {}
    nodes: dict[str, Function] = {}
    initial: set[str] = set()
    edges: list[tuple[str, str, str]] = []
    if not text.rstrip().endswith("}"):
        raise DotSyntaxError("the dump ends in the middle")
    for number, line in enumerate(text.splitlines(), 1):
        if edge := _EDGE.match(line):
            edges.append((edge[1], edge[3], edge[2]))
        elif node := _NODE.match(line):
            if node[1] not in nodes:
                nodes[node[1]] = parse_state(_unescape(node[2]), memo)
            if node[3]:
                initial.add(node[1])
        elif not _IGNORED.match(line):
            raise DotSyntaxError(f"line {number}: {line[:120]!r}")
    missing = {end for source, _, target in edges for end in (source, target)} - set(nodes)
    if missing:
        raise DotSyntaxError(f"{len(missing)} states have edges and no values")
    return StateGraph(
        initial=frozenset(nodes[key] for key in initial),
        states=frozenset(nodes.values()),
        edges=frozenset((nodes[source], label, nodes[target]) for source, label, target in edges),
    )
