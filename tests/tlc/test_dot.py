"""The dumped state graph."""

from __future__ import annotations

import pytest

from tests.tlc.test_messages import CAPTURED
from tla.dot import DotSyntaxError, parse_dot

TINY = (CAPTURED / "tiny.dot").read_text()


def test_states_and_edges() -> None:
    graph = parse_dot(TINY)
    assert {state["n"] for state in graph.initial} == {0}
    assert {(state["n"], state["seen"]["b"]) for state in graph.states} == {
        (0, frozenset()),
        (1, frozenset({0})),
        (2, frozenset({0, 1})),
    }
    assert {(source["n"], label, target["n"]) for source, label, target in graph.edges} == {(0, "Up", 1), (1, "Up", 2)}
    assert graph.labels() == {"Up": 2}


def test_a_cut_dump_is_refused() -> None:
    lines = TINY.splitlines()
    with pytest.raises(DotSyntaxError, match="ends in the middle"):
        parse_dot("\n".join(lines[:6]))


def test_an_edge_to_nowhere_is_refused() -> None:
    lines = [line for line in TINY.splitlines() if "n = 2" not in line]
    with pytest.raises(DotSyntaxError, match="no values"):
        parse_dot("\n".join(lines))


def test_an_unknown_line_is_refused() -> None:
    with pytest.raises(DotSyntaxError, match="line 2"):
        parse_dot("strict digraph DiskGraph {\nwhat is this\n}")
