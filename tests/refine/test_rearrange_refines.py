"""Rearrange's model and its specification have the same labelled graph, with every guard and without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.graph import build, compare, named
from models.rearrange import Guards, Rearrange
from models.rearrange_shipped import RearrangeShipped
from tests.refine.rearrange_graphs import FIXED, SHIPPED, UNGUARDED, compared, compared_shipped

pytestmark = pytest.mark.tlc


def test_the_model_is_the_specification() -> None:
    wanted, difference = compared(FIXED["2 ranks, everything"])
    assert not difference, difference.text(3)
    assert {label for _, label, _ in wanted.edges} == set(Rearrange().actions)


def test_the_model_is_the_specification_without_guards() -> None:
    wanted, difference = compared(UNGUARDED)
    assert not difference, difference.text(3)
    # A difference would show: with its guards the model has another graph.
    guarded = named(build(Rearrange(replace(UNGUARDED, guards=Guards()))))
    assert compare(wanted, guarded)


def test_the_shipped_model_is_its_specification() -> None:
    wanted, difference = compared_shipped(SHIPPED["2 ranks, 1 request, all may fail"])
    assert not difference, difference.text(3)
    missing = set(RearrangeShipped().actions) - {label for _, label, _ in wanted.edges}
    assert missing == {"WorkBegin", "WorkEnd", "WorkTell"}  # a load fails, so no table ever comes
