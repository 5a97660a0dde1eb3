"""Level V2: the models of the ring are their specifications."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refine.ring_graphs import FIXED, SMALL, WAITING, compared, compared_waiting

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", SMALL)
def test_the_graphs_are_equal(name: str) -> None:
    wanted: Any
    difference: Any
    wanted, difference = compared(FIXED[name]) if name in FIXED else compared_waiting(WAITING[name])
    assert not difference, difference.text()
    assert len(wanted.states) > 100
