"""The liveness checker on small graphs with known answers, then on dispatch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import pytest

from models.dispatch import Config, Dispatch
from models.dispatch_liveness import fairness, liveness
from models.graph import build
from models.kernel import Action, Model, Step
from models.liveness import Fair, LeadsTo, leads_to


class Node(NamedTuple):
    name: str


class Drawn(Model[Node]):
    """A graph given edge by edge: state -> {action: state}. It starts in ``a``."""

    name = "drawn"
    invariants: Mapping[str, object] = {}  # type: ignore[assignment]

    def __init__(self, table: Mapping[str, Mapping[str, str]]) -> None:
        self.table = table
        self.actions = {"all": self.all}

    def initial(self) -> Iterable[Node]:
        return (Node("a"),)

    def all(self, node: Node) -> Iterator[Step[Node]]:
        for label, after in self.table[node.name].items():
            yield Action(label), Node(after)


def fair(name: str, *, strong: bool = False) -> Fair[Node]:
    return Fair(name, lambda _, action: action.name == name, strong)


REACHES_Z: LeadsTo[Node] = LeadsTo("a ~> z", lambda node: node.name == "a", lambda node: node.name == "z")


@pytest.mark.parametrize(
    ("table", "assumed", "holds"),
    [
        pytest.param({"a": {"go": "z"}, "z": {}}, [], False, id="it may stay for ever"),
        pytest.param({"a": {"go": "z"}, "z": {}}, [fair("go")], True, id="weak fairness moves it"),
        pytest.param({"a": {"go": "b"}, "b": {}, "z": {}}, [fair("go")], False, id="a dead end"),
        pytest.param(
            {"a": {"go": "z", "off": "b"}, "b": {"on": "a"}, "z": {}},
            [fair("go"), fair("on"), fair("off")],
            False,
            id="weak fairness does not hold on to a step that comes and goes",
        ),
        pytest.param(
            {"a": {"go": "z", "off": "b"}, "b": {"on": "a"}, "z": {}},
            [fair("go", strong=True), fair("on"), fair("off")],
            True,
            id="strong fairness does",
        ),
        pytest.param(
            {"a": {"go": "z", "off": "b"}, "b": {"on": "a"}, "z": {}},
            [fair("go", strong=True)],
            False,
            id="it may stay where the step is disabled",
        ),
        pytest.param(
            {"a": {"go": "z", "x": "b"}, "b": {"x": "c"}, "c": {"x": "b"}, "z": {}},
            [fair("go", strong=True), fair("x")],
            False,
            id="a cycle elsewhere",
        ),
        pytest.param({"a": {"same": "a"}, "z": {}}, [fair("same")], False, id="a step that changes nothing is no step"),
        pytest.param(
            {"a": {"x": "b", "y": "b"}, "b": {"x": "a", "y": "z"}, "z": {}},
            [fair("y")],
            False,
            id="y is taken for ever, from a only",
        ),
    ],
)
def test_known_answers(table: Mapping[str, Mapping[str, str]], assumed: list[Fair[Node]], holds: bool) -> None:
    lasso = leads_to(build(Drawn(table)), REACHES_Z, assumed)
    assert (lasso is None) == holds
    if lasso is not None:
        assert Node("z") not in lasso.cycle
        assert lasso.path.last in lasso.cycle


CONFIGS = {
    "plain": Config(),
    "ranks crash and leave": Config(mortal=frozenset({0, 1}), leavers=frozenset({1})),
    "producers crash": Config(producers=2, mortal_producers=frozenset({0}), max_epoch=0),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_dispatch_does_what_it_promises(name: str) -> None:
    config = CONFIGS[name]
    graph = build(Dispatch(config))
    for properties in liveness(config).values():
        assert properties
        for prop in properties:
            assert any(prop.from_(state) for state in graph.states), f"{prop.name} says nothing"
            assert leads_to(graph, prop, fairness(config)) is None
            assert leads_to(graph, prop, []) is not None, f"{prop.name} cannot fail"


@pytest.mark.parametrize(
    ("without", "breaks"),
    [
        ("PutTasks", {"PutReturns"}),
        ("PutLost", {"PutReturns"}),
        ("Fence(1)", {"PutReturns"}),
        ("GetTasks(0) of a live rank", {"Delivered", "PutReturns"}),
        ("GetTasks(1) of a live rank", {"Delivered", "PutReturns"}),
    ],
)
def test_every_assumption_is_needed(without: str, breaks: set[str]) -> None:
    config = Config(mortal=frozenset({1}))
    graph = build(Dispatch(config))
    assumed = [item for item in fairness(config) if item.name != without]
    assert len(assumed) == len(fairness(config)) - 1
    failed = {
        name for name, properties in liveness(config).items() if any(leads_to(graph, p, assumed) for p in properties)
    }
    assert failed == breaks


def test_weak_fairness_is_not_enough_for_a_rank_that_crashes_for_ever() -> None:
    config = Config(mortal=frozenset({0}))
    graph = build(Dispatch(config))
    weak = [replace(item, strong=False) for item in fairness(config)]
    assert any(leads_to(graph, prop, weak) for prop in liveness(config)["PutReturns"])
