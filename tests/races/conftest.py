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
