"""What users see of queues whose items go through rings: items, and which way they go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    CommTimeoutError,
    ConfigError,
)
from fdcomm.signals.files import default_directory
from tests.conformance.waiting import until
from tests.unit.queue_ring import LONG_S, Group, Hosts, group, hosts, take, used

__all__ = ("group", "hosts")

pytestmark = pytest.mark.multiproc

_PRODUCER = """
import os, sys
import numpy as np
from fdcomm import EngineWorkerQueue
queue = EngineWorkerQueue(("0.0.0.0", int(sys.argv[1])), num_client=2, client_id=0,
                          local_data_parallel_size=int(sys.argv[2]), local_data_parallel_id=int(sys.argv[3]),
                          role="producer")
for number in range(2):
    queue.put_tasks([np.full(200_000, number)], timeout=60)
if sys.argv[4] == "killed":
    os.kill(os.getpid(), 9)
queue.close()
"""


@pytest.fixture
def deep(hosts: Hosts) -> Iterator[Group]:
    with used(hosts.group(depth=4)) as found:
        yield found


# -- items ---------------------------------------------------------------------------------------------------------


def test_large_arrays_reach_both_ranks_and_are_their_own(group: Group) -> None:
    sent: list[Any] = [np.arange(300_000, dtype=np.float32), {"ids": np.arange(70_000)}]
    for turn in range(3):
        sent[0][0] = turn
        group.engine.put_tasks(sent, timeout=LONG_S)
        answers = []
        for rank in group.ranks:
            item, all_read = take(rank)
            answers.append(all_read)
            assert np.array_equal(item[0], sent[0])
            assert np.array_equal(item[1]["ids"], sent[1]["ids"])
            item[0][:] = -1  # nobody else's
        assert answers == [False, True]


def test_4_mib_of_bytes(group: Group) -> None:
    sent = bytes(range(256)) * (1 << 14)
    for _ in range(2):  # the second one is pickled straight into its place
        group.engine.put_tasks(sent, timeout=LONG_S)
        assert [take(rank)[0] == sent for rank in group.ranks] == [True, True]


def test_batches_come_in_order_and_wait_in_the_ring(deep: Group) -> None:
    for number in range(4):
        deep.engine.put_tasks(number, timeout=0)
    with pytest.raises(CommTimeoutError) as caught:
        deep.engine.put_tasks(4, timeout=0)
    assert caught.value.missing == (0, 1)
    assert deep.engine.num_tasks() == 4
    assert [take(deep.ranks[0]) for _ in range(4)] == [(number, False) for number in range(4)]
    assert deep.ranks[0].get_tasks() == ([], False)
    assert [take(deep.ranks[1]) for _ in range(4)] == [(number, True) for number in range(4)]
    assert deep.ranks[1].get_tasks() == ([], True)
    assert not deep.engine.exist_tasks()


def test_a_ticket_is_void_after_a_clear(deep: Group) -> None:
    first, second = deep.ranks
    deep.engine.put_tasks("A", timeout=0)
    ticket = first.task_ticket()
    assert ticket == second.task_ticket() != 0
    first.clear_data()
    second.clear_data()
    deep.engine.put_tasks("B", timeout=0)
    assert first.get_tasks(ticket=ticket) == ([], False)
    assert second.get_tasks(ticket=ticket) == ([], False)
    ticket = first.task_ticket()
    assert first.get_tasks(ticket=ticket) == (["B"], False)
    assert second.get_tasks(ticket=ticket) == (["B"], True)


def test_the_view_of_items_shows_what_is_there(deep: Group) -> None:
    array = np.arange(200_000)
    deep.engine.put_tasks("small", timeout=0)
    deep.engine.put_tasks([array], timeout=0)
    small, large = deep.engine.tasks[:]
    assert small == "small"
    assert np.array_equal(large[0], array)
    for rank in deep.ranks:
        take(rank)
    assert len(deep.engine.tasks) == 1
    deep.engine.clear_data()
    assert deep.engine.tasks[:] == []


@pytest.mark.parametrize("end", ["leaves", "killed"])
def test_what_a_producer_has_left_is_read(deep: Group, end: str) -> None:
    before = deep.engine.statistics().sessions
    arguments = (deep.server.get_server_port(), deep.server.local_data_parallel_size, deep.replica, end)
    done = subprocess.run([sys.executable, "-c", _PRODUCER, *map(str, arguments)], timeout=LONG_S, check=False)
    assert done.returncode == (0 if end == "leaves" else -signal.SIGKILL)
    until(lambda: deep.engine.statistics().sessions == before, "the host has noticed it")
    for number in range(2):
        for rank in deep.ranks:
            item, all_read = take(rank)
            assert (item[0] == number).all()
            assert all_read == (rank is deep.ranks[1])


# -- which way -----------------------------------------------------------------------------------------------------


def test_nothing_is_recorded_of_a_ring(hosts: Hosts, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="data_path='ring'"):
        hosts.start(trace=tmp_path / "trace.ndjson")


def test_a_host_without_rings(hosts: Hosts) -> None:
    server = hosts.start(data_path="host")
    with used(Group(server)) as group:
        assert not group.engine._paths
        array = np.arange(100_000)
        group.engine.put_tasks([array], timeout=0)
        for rank in group.ranks:
            assert np.array_equal(take(rank)[0][0], array)
        with pytest.raises(ConfigError, match="without rings"):
            group.client(0, data_path="ring")


def test_a_handle_that_takes_part_through_the_host(group: Group) -> None:
    other = group.client(0, data_path="host", role="producer")
    array = np.arange(200_000)
    other.put_tasks([array], timeout=LONG_S)
    for rank in group.ranks:
        assert np.array_equal(take(rank)[0][0], array)


def test_nothing_is_left(hosts: Hosts) -> None:
    server = hosts.start(depth=2)
    names = tuple(server._welcome["rings"].values())
    group = Group(server)
    for _ in range(2):
        group.engine.put_tasks([np.arange(200_000)], timeout=0)
    take(group.ranks[0])

    def there() -> list[str]:
        return [found for found in os.listdir(default_directory()) if any(name in found for name in names)]

    assert len(there()) > len(names)  # rings, and segments
    group.close()
    server.close()
    assert there() == []
