"""Level V2: the models of the ring are their specifications."""

from __future__ import annotations

import pytest

from models import ring
from tests.refine.ring_graphs import FIXED, SMALL, WAITING, compared, compared_waiting

pytestmark = pytest.mark.tlc


@pytest.mark.parametrize("name", SMALL)
def test_the_graphs_are_equal(name: str) -> None:
    config = {**FIXED, **WAITING}[name]
    wanted, difference = compared(config) if isinstance(config, ring.Config) else compared_waiting(config)
    assert not difference, difference.text()
    assert len(wanted.states) > 100
