"""The kernel and the explorer on a model that can be counted by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from models.explore import explore
from models.graph import build
from models.kernel import Action, Model, Step, changes, show


class Place(NamedTuple):
    x: int
    y: int


class Grid(Model[Place]):
    """Walks right or up in a square of ``side`` x ``side`` places."""

    name = "grid"

    def __init__(self, side: int) -> None:
        self.side = side
        self.actions = {"Right": self.right, "Up": self.up}
        self.invariants = {"Low": lambda place: place.y < side - 1}
        self.action_properties = {"NotFromTheEdge": lambda before, action, after: before.x == 0 or action.name == "Up"}
        self.sometimes = {
            "corner": lambda place: place == (side - 1, side - 1),
            "outside": lambda place: place.x >= side,
        }
        self.sometimes_steps = {"up at the right": lambda before, action, after: before.x == side - 1}

    def initial(self) -> Iterable[Place]:
        return (Place(0, 0),)

    def right(self, place: Place) -> Iterator[Step[Place]]:
        if place.x + 1 < self.side:
            yield Action("Right", (("to", place.x + 1),)), place._replace(x=place.x + 1)

    def up(self, place: Place) -> Iterator[Step[Place]]:
        if place.y + 1 < self.side:
            yield Action("Up"), place._replace(y=place.y + 1)


def test_counts_are_those_of_the_square() -> None:
    result = explore(Grid(4), only=())
    assert (result.distinct, result.generated, result.depth) == (16, 1 + 24, 7)
    assert result.complete
    assert result.deadlocks == [Place(3, 3)]
    assert result.coverage == {"Right": 12, "Up": 12}


def test_reachability_tells_reached_from_not_reached() -> None:
    result = explore(Grid(3), only=())
    assert result.unreached == ("outside",)
    assert len(result.reached["corner"]) == 4
    assert len(result.reached["up at the right"]) == 3
    assert not result.ok


def test_the_first_violation_is_as_short_as_any() -> None:
    found = explore(Grid(4)).violation
    assert found is not None
    assert (found.property, found.kind, len(found.path)) == ("NotFromTheEdge", "action property", 2)
    assert [str(action) for action in found.path.actions] == ["Right(to=1)", "Right(to=2)"]


def test_an_invariant_is_reported_with_its_path() -> None:
    found = explore(Grid(4), only={"Low"}).violation
    assert found is not None
    assert (found.kind, [str(action) for action in found.path.actions]) == ("invariant", ["Up()"] * 3)
    assert found.path.last == Place(0, 3)


def test_without_stop_every_property_is_judged_and_all_is_explored() -> None:
    result = explore(Grid(4), stop=False)
    assert (result.distinct, set(result.violations), result.complete) == (16, {"Low", "NotFromTheEdge"}, True)


def test_a_bound_makes_the_result_incomplete() -> None:
    result = explore(Grid(50), only=(), max_states=100)
    assert 100 <= result.distinct < 110
    assert not result.complete


def test_an_unknown_property_is_refused() -> None:
    with pytest.raises(ValueError, match="no property"):
        explore(Grid(2), only={"Lwo"})


def test_the_graph_has_a_shortest_path_to_every_edge() -> None:
    graph = build(Grid(3))
    plans = list(graph.paths())
    assert [edge for _, edge in plans] == graph.edges
    assert len(graph.edges) == 12
    for path, (before, _, _) in plans:
        assert path.last == before
        assert len(path) == before.x + before.y
        state = path.start
        for action, after in path.steps:
            assert (action, after) in list(Grid(3).steps(state))
            state = after


def test_a_graph_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 10 states"):
        build(Grid(5), max_states=10)


def test_values_are_shown_as_tla_writes_them() -> None:
    value = (frozenset({10, 2}), Place(1, 2), True, "up", ())
    assert show(value) == '<<{2, 10}, [x |-> 1, y |-> 2], TRUE, "up", <<>>>>'


def test_changes_are_the_fields_that_differ() -> None:
    assert changes(Place(1, 2), Place(1, 5)) == {"y": (2, 5)}
