"""Level V2: the models of typed access are their specifications."""

from __future__ import annotations

import pytest

from tests.refine.word_graphs import FIXED, SMALL, compared

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", [*SMALL, "write and read as one", "lock"])
def test_the_graphs_are_equal(name: str) -> None:
    wanted, difference = compared(*FIXED[name])
    assert not difference, difference.text()
    assert len(wanted.states) > 100
