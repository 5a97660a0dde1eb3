"""Every test of this folder starts processes and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.clean import nothing_is_left

__all__ = ("nothing_is_left",)

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what this folder has."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.multiproc)
