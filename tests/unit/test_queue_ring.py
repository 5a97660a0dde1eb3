"""What users see of queues whose items go through rings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineWorkerQueue,
    ForkedHandleError,
    HostLostError,
    PayloadError,
    PayloadTooLargeError,
)
from fdcomm.ring.layout import WANT
from fdcomm.signals.files import default_directory
from tests.conformance.waiting import Background, until

pytestmark = pytest.mark.multiproc

_LONG_S = 60.0
_MOST = 16 << 20
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


class Hosts:
    """Two hosts with replicas, one for each test; and hosts of a test's own."""

    def __init__(self) -> None:
        self._undo = ExitStack()
        self._next = count()
        self.replicas = 12
        self._shared: dict[int, EngineWorkerQueue] = {}

    def start(self, depth: int = 1, replicas: int = 1, **options: Any) -> EngineWorkerQueue:
        """Start a host."""
        options = {"data_path": "ring", "max_batch_bytes": _MOST, "num_client": 2, **options}
        server = EngineWorkerQueue(
            ("0.0.0.0", 0), is_server=True, depth=depth, local_data_parallel_size=replicas, **options
        )
        self._undo.callback(server.close)
        return server

    def group(self, depth: int = 1) -> Group:
        """Return an engine and two ranks at a replica of their own."""
        server = self._shared.get(depth) or self._shared.setdefault(depth, self.start(depth, self.replicas))
        return Group(server, next(self._next) % self.replicas)

    def close(self) -> None:
        """End them."""
        self._undo.close()


class Group:
    """Handles to one replica."""

    def __init__(self, server: EngineWorkerQueue, replica: int = 0) -> None:
        self.server, self.replica = server, replica
        self._undo = ExitStack()
        self.engine = self.client(0, role="producer")
        self.ranks = [self.client(rank, role="reader") for rank in range(2)]

    def client(self, client_id: int, **options: Any) -> EngineWorkerQueue:
        """Open a handle."""
        handle = EngineWorkerQueue(
            ("0.0.0.0", self.server.get_server_port()),
            num_client=2,
            client_id=client_id,
            local_data_parallel_size=self.server.local_data_parallel_size,
            local_data_parallel_id=self.replica,
            **options,
        )
        self._undo.callback(handle.close)
        return handle

    def close(self) -> None:
        """Close them."""
        self._undo.close()


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    found = Hosts()
    yield found
    found.close()


@pytest.fixture
def group(hosts: Hosts) -> Iterator[Group]:
    found = hosts.group()
    yield found
    found.close()


@pytest.fixture
def deep(hosts: Hosts) -> Iterator[Group]:
    found = hosts.group(depth=4)
    yield found
    found.close()


def _take(handle: EngineWorkerQueue) -> tuple[Any, bool]:
    (item,), all_read = handle.get_tasks(timeout=_LONG_S)
    return item, all_read


def _sleeps(handle: EngineWorkerQueue) -> Callable[[], bool]:
    """Say whether the handle's get sleeps in the ring."""
    path = handle._paths["dispatch"]
    flags, line = path.memory.board.flags, handle.client_id
    return lambda: flags[line] == 1


def _put_sleeps(handle: EngineWorkerQueue) -> Callable[[], bool]:
    words = handle._paths["dispatch"].memory.board.words
    return lambda: words[WANT] != 0


# -- items ---------------------------------------------------------------------------------------------------------


def test_large_arrays_reach_both_ranks_and_are_their_own(group: Group) -> None:
    sent: list[Any] = [np.arange(300_000, dtype=np.float32), {"ids": np.arange(70_000)}]
    for turn in range(3):
        sent[0][0] = turn
        group.engine.put_tasks(sent, timeout=_LONG_S)
        answers = []
        for rank in group.ranks:
            item, all_read = _take(rank)
            answers.append(all_read)
            assert np.array_equal(item[0], sent[0])
            assert np.array_equal(item[1]["ids"], sent[1]["ids"])
            item[0][:] = -1  # nobody else's
        assert answers == [False, True]


def test_4_mib_of_bytes(group: Group) -> None:
    sent = bytes(range(256)) * (1 << 14)
    for _ in range(2):  # the second one is pickled straight into its place
        group.engine.put_tasks(sent, timeout=_LONG_S)
        assert [_take(rank)[0] == sent for rank in group.ranks] == [True, True]


def test_batches_come_in_order_and_wait_in_the_ring(deep: Group) -> None:
    for number in range(4):
        deep.engine.put_tasks(number, timeout=0)
    with pytest.raises(CommTimeoutError) as caught:
        deep.engine.put_tasks(4, timeout=0)
    assert caught.value.missing == (0, 1)
    assert deep.engine.num_tasks() == 4
    assert [_take(deep.ranks[0]) for _ in range(4)] == [(number, False) for number in range(4)]
    assert deep.ranks[0].get_tasks() == ([], False)
    assert [_take(deep.ranks[1]) for _ in range(4)] == [(number, True) for number in range(4)]
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
        _take(rank)
    assert len(deep.engine.tasks) == 1
    deep.engine.clear_data()
    assert deep.engine.tasks[:] == []


@pytest.mark.parametrize("end", ["leaves", "killed"])
def test_what_a_producer_has_left_is_read(deep: Group, end: str) -> None:
    arguments = (deep.server.get_server_port(), deep.server.local_data_parallel_size, deep.replica, end)
    done = subprocess.run([sys.executable, "-c", _PRODUCER, *map(str, arguments)], timeout=_LONG_S, check=False)
    assert done.returncode == (0 if end == "leaves" else -signal.SIGKILL)
    until(lambda: deep.engine.statistics().sessions == 3, "the host has noticed it")
    for number in range(2):
        for rank in deep.ranks:
            item, all_read = _take(rank)
            assert (item[0] == number).all()
            assert all_read == (rank is deep.ranks[1])


# -- errors --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_put_leaves_nothing(group: Group) -> None:
    with pytest.raises(PayloadTooLargeError, match="max_batch_bytes"):
        group.engine.put_tasks(bytes(_MOST), timeout=0)
    with pytest.raises(PayloadError, match="cannot be pickled"):
        group.engine.put_tasks(lambda: None, timeout=0)
    group.engine.put_tasks(bytes(1 << 20), timeout=0)  # from now on pickled straight
    for rank in group.ranks:
        _take(rank)
    with pytest.raises(PayloadTooLargeError):
        group.engine.put_tasks(bytes(_MOST), timeout=0)
    with pytest.raises(PayloadError):
        group.engine.put_tasks([bytes(1 << 20), lambda: None], timeout=0)
    assert group.engine.num_tasks() == 0
    group.engine.put_tasks("next", timeout=0)
    assert [_take(rank) for rank in group.ranks] == [("next", False), ("next", True)]


class _Unreadable:
    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def test_what_cannot_be_unpickled_was_taken(group: Group) -> None:
    group.engine.put_tasks(_Unreadable(), timeout=0)
    for rank in group.ranks:
        with pytest.raises(PayloadError, match="was taken but cannot be unpickled"):
            rank.get_tasks()
    group.engine.put_tasks("next", timeout=0)
    assert [_take(rank)[0] for rank in group.ranks] == ["next", "next"]


def test_two_readers_of_a_rank(group: Group) -> None:
    with pytest.raises(DuplicateRankError):
        group.client(1, role="reader")
    late = group.client(1)
    with pytest.raises(DuplicateRankError):
        late.get_tasks()
    group.ranks[1].close()
    group.engine.put_tasks("A", timeout=0)
    assert late.get_tasks() == (["A"], False)


def test_a_handle_after_fork(group: Group) -> None:
    group.engine.put_tasks("A", timeout=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of other tests
        child = os.fork()
    if not child:
        refused = 0
        for call in (
            lambda: group.engine.put_tasks("B", timeout=0),
            group.ranks[0].get_tasks,
            group.engine.exist_tasks,
            group.engine.clear_data,
        ):
            try:
                call()
            except ForkedHandleError:
                refused += 1
            except Exception as error:  # noqa: BLE001, the child must not go on
                print(error, file=sys.stderr)
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    assert [_take(rank)[0] for rank in group.ranks] == ["A", "A"]


def test_a_waiting_get_ends_when_its_handle_is_closed(group: Group) -> None:
    wait = Background(lambda: group.ranks[0].get_tasks(timeout=_LONG_S))
    until(_sleeps(group.ranks[0]), "the get sleeps")
    group.ranks[0].close()
    assert isinstance(wait.error(), ClosedError)
    again = group.client(0)
    group.engine.put_tasks("A", timeout=0)
    assert _take(again)[0] == "A"


def test_an_interrupted_get_loses_nothing(group: Group) -> None:
    main = threading.main_thread().ident
    assert main is not None
    sleeps = _sleeps(group.ranks[0])

    def interrupt() -> None:
        until(sleeps, "the get sleeps")
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        group.ranks[0].get_tasks(timeout=_LONG_S)
    thread.join()
    group.engine.put_tasks("A", timeout=0)
    assert [_take(rank) for rank in group.ranks] == [("A", False), ("A", True)]


def test_the_host_is_killed_under_a_put_and_a_get(hosts: Hosts) -> None:
    server = hosts.start()
    group = Group(server)
    try:
        group.engine.put_tasks("A", timeout=0)
        _take(group.ranks[0])
        get = Background(lambda: group.ranks[0].get_tasks(timeout=_LONG_S))
        put = Background(lambda: group.engine.put_tasks("B", timeout=_LONG_S))
        until(_sleeps(group.ranks[0]), "the get sleeps")
        until(_put_sleeps(group.engine), "the put sleeps")
        assert server._host is not None
        os.kill(server._host.pid, signal.SIGKILL)
        assert isinstance(get.error(), HostLostError)
        assert isinstance(put.error(), HostLostError)
    finally:
        group.close()


# -- which way -----------------------------------------------------------------------------------------------------


def test_nothing_is_recorded_of_a_ring(hosts: Hosts, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="data_path='ring'"):
        hosts.start(trace=tmp_path / "trace.ndjson")


def test_a_host_without_rings(hosts: Hosts) -> None:
    server = hosts.start(data_path="host")
    group = Group(server)
    try:
        assert not group.engine._paths
        array = np.arange(100_000)
        group.engine.put_tasks([array], timeout=0)
        for rank in group.ranks:
            assert np.array_equal(_take(rank)[0][0], array)
        with pytest.raises(ConfigError, match="without rings"):
            group.client(0, data_path="ring")
    finally:
        group.close()


def test_a_handle_that_takes_part_through_the_host(group: Group) -> None:
    other = group.client(0, data_path="host", role="producer")
    array = np.arange(200_000)
    other.put_tasks([array], timeout=_LONG_S)
    for rank in group.ranks:
        assert np.array_equal(_take(rank)[0][0], array)


def test_nothing_is_left(hosts: Hosts) -> None:
    server = hosts.start(depth=2)
    names = tuple(server._welcome["rings"].values())
    group = Group(server)
    for _ in range(2):
        group.engine.put_tasks([np.arange(200_000)], timeout=0)
    _take(group.ranks[0])

    def there() -> list[str]:
        return [found for found in os.listdir(default_directory()) if any(name in found for name in names)]

    assert len(there()) > len(names)  # rings, and segments
    group.close()
    server.close()
    assert there() == []
