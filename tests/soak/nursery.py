"""Processes that have imported what a soak needs, for the tests that start its ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.races import nursery

__all__ = ("soak_nursery",)


@pytest.fixture(scope="module", autouse=True)
def soak_nursery() -> Iterator[None]:
    """What forks the processes outlives a test, and not its file."""
    first = nursery.born("tests.soak")
    with first.stdin, first.stdout:
        first.wait()
    yield
    nursery.end()
