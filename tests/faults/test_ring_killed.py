"""A reader and the writer of a ring are killed after any of their memory accesses: the ring goes on, and nothing is
left to repair."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.traces.ring_runs import accept, real_run

pytestmark = pytest.mark.multiproc

# In the nightly run every access of a get and of a put, and of what comes before the first one.
_EVERY = [(access, 20 + access) for access in range(1, 40)]
_SOME = [(9, 31), (13, 27)]


def _points() -> list[tuple[int, int]]:
    return _EVERY if settings().max_examples > 1000 else _SOME


@pytest.mark.parametrize(("reader", "writer"), _points())
def test_killed_after_an_access(reader: int, writer: int) -> None:
    verdict = accept(real_run(0, reader, writer))
    assert verdict.accepted, str(verdict)
    assert verdict.counts["TakeOver"] == 1
