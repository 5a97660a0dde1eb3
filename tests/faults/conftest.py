"""Every test of this folder starts processes and leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.clean import nothing_is_left

__all__ = ("nothing_is_left",)

_HERE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def _through_the_host() -> Iterator[None]:
    """These tests are about hosts and what goes through them. Items of rings: tests/unit/test_queue_ring_errors.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FDCOMM_DATA_PATH", "host")
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what this folder has."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.multiproc)
