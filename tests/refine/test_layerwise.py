"""The models of layer-wise sending and TLC's graphs are equal; a model with one fault differs."""

from __future__ import annotations

import pytest

from models.graph import build, compare, named
from models.layerwise import Guards, Layerwise
from tests.refine.layerwise_graphs import FIXED, compare_of, spec_graph

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize(
    ("kind", "name"),
    [("FIXED", "2 slots, an info is lost"), ("PAIR", "published reader"), ("OPENING", "2 names"), ("SHIPPED", "B14")],
)
def test_equal(kind: str, name: str) -> None:
    wanted, difference = compare_of(kind, name)
    assert not difference, difference.text()
    assert len(wanted.states) > 50


def test_a_model_with_a_fault_differs() -> None:
    config = FIXED["1 slot, used twice"]
    spec = spec_graph(config)
    assert not compare(spec, named(build(Layerwise(config))))
    for guard in Guards.names():
        model = Layerwise(config)
        model.guards = Guards.without(guard)
        if guard in ("AgreedOrder", "FailedTakePart"):
            continue  # one rank, one slot: the order is the only one; failed tasks are looked at below
        assert compare(spec, named(build(model))), guard
    model = Layerwise(config)
    model.guards = Guards.without("FailedTakePart")
    assert compare(spec, named(build(model)))
