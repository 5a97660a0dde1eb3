"""Level V2: the models of the ring are their specifications."""

from __future__ import annotations

from typing import Any

import pytest

from tests.refine.ring_graphs import FIXED, LAST, OVERFLOW, PLACE, SMALL, WAITING, compared

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", SMALL)
def test_the_graphs_are_equal(name: str) -> None:
    wanted: Any
    difference: Any
    tables: dict[str, Any] = {**FIXED, **WAITING, **OVERFLOW, **PLACE, **LAST}
    wanted, difference = compared(tables[name])
    assert not difference, difference.text()
    assert len(wanted.states) > 100
