"""The comparison of transition graphs sees every planted fault, and nothing in equal graphs."""

from __future__ import annotations

import pytest

from models.dispatch import Dispatch, State
from models.graph import Named, build, compare, named
from models.kernel import show
from tests.refine.mutants import CONFIG, MUTANTS


@pytest.fixture(scope="module")
def right() -> Named[State]:
    """The graph of the model as it is."""
    return named(build(Dispatch(CONFIG)))


def test_equal_graphs_have_no_difference(right: Named[State]) -> None:
    again = named(build(Dispatch(CONFIG)))
    difference = compare(right, again)
    assert not difference
    assert difference.text() == "equal"


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_seen(name: str, right: Named[State]) -> None:
    difference = compare(right, named(build(MUTANTS[name]())))
    assert difference
    assert difference.counts() != "equal"


def test_counts_alone_would_miss_swapped_labels(right: Named[State]) -> None:
    wrong = named(build(MUTANTS["swapped labels"]()))
    assert (len(wrong.states), len(wrong.edges)) == (len(right.states), len(right.edges))
    assert compare(right, wrong)


def test_the_report_names_the_step_and_its_state(right: Named[State]) -> None:
    wrong = named(build(MUTANTS["wrong label"]()))
    difference = compare(right, wrong)
    report = difference.text(limit=1).splitlines()
    lost = [edge for edge in right.edges if edge[1] == "PutLost"]
    assert report[0] == f"{len(lost)} missing edges, {len(lost)} extra edges"
    assert report[1].startswith("missing edge: PutLost {waiting: <<")
    assert report[2] == f"missing edge: and {len(lost) - 1} more"
    assert report[3].startswith("extra edge: PutTimeout {waiting: <<")
    assert any(report[1].endswith(f"from {show(before)}") for before, _, _ in lost)
