"""Worlds for the parity tests. Each host serves all tests of one module at one place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from tests.parity.worlds import PLACES, World, opened

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts processes."""
    for item in items:
        if item.path.is_relative_to(_HERE) and item.path.name != "test_table.py":
            item.add_marker(pytest.mark.multiproc)


@pytest.fixture(scope="module", params=PLACES, ids=str)
def _worker_world(request: pytest.FixtureRequest) -> Iterator[World[EngineWorkerQueue]]:
    with opened(EngineWorkerQueue, request.param) as world:
        yield world


@pytest.fixture(scope="module", params=PLACES, ids=str)
def _cache_world(request: pytest.FixtureRequest) -> Iterator[World[EngineCacheQueue]]:
    with opened(EngineCacheQueue, request.param) as world:
        yield world


@pytest.fixture
def worker(_worker_world: World[EngineWorkerQueue]) -> Iterator[World[EngineWorkerQueue]]:
    """A worker queue, empty; after the test both replicas have to be empty again."""
    yield _worker_world
    for queue in (_worker_world.engine, _worker_world.other):
        assert not queue.exist_tasks()
        assert queue.num_tasks() == queue.num_cache_infos() == 0
        assert queue.disaggregate_queue_empty()
        for view in (
            queue.connect_rdma_tasks,
            queue.connect_rdma_task_responses,
            queue.finished_send_cache_list,
            queue.finished_add_cache_task_list,
        ):
            assert view == []


@pytest.fixture
def cache(_cache_world: World[EngineCacheQueue]) -> Iterator[World[EngineCacheQueue]]:
    """A cache queue, empty; after the test both replicas have to be empty again."""
    yield _cache_world
    for queue in (_cache_world.engine, _cache_world.other):
        assert queue.empty()
        assert queue.transfer_task_queue == queue.tansfer_done_queue == []
