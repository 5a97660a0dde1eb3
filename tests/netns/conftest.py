"""Two machines for all tests of the folder, and a host and a rank on them for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.netns.group import Group
from tests.netns.net import Machine, NotPossible, two_machines

_HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def machines() -> Iterator[tuple[Machine, Machine]]:
    """Two network namespaces; skipped where they are not allowed."""
    made = two_machines()
    try:
        pair = made.__enter__()
    except NotPossible as error:
        pytest.skip(f"no network namespaces here: {error}")
    try:
        yield pair
    finally:
        made.__exit__(None, None, None)


@pytest.fixture
def group(machines: tuple[Machine, Machine], tmp_path: Path) -> Iterator[Group]:
    """A host on one machine, and what it takes to open ranks on the other."""
    with Group(machines, tmp_path / "trace.ndjson") as opened:
        yield opened


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what this folder has."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.multiproc)
