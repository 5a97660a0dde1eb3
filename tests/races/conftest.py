"""What the tests of races leave running between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.races import nursery


@pytest.fixture(scope="session", autouse=True)
def the_nursery_ends() -> Iterator[None]:
    """After the last test, and before the session looks for processes that are left."""
    yield
    nursery.end()


@pytest.fixture
def through_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Items go through the host, which can be asked who waits."""
    monkeypatch.setenv("FDCOMM_DATA_PATH", "host")
