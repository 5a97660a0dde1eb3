"""Fixtures of the behaviour suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.backends import NAMES, Queue, opened


@pytest.fixture(params=NAMES)
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pair(transport: str) -> Iterator[Queue]:
    with opened(transport, ranks=2) as queue:
        yield queue
