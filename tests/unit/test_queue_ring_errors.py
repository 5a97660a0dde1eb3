"""What users see of queues whose items go through rings, when something is wrong."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import (
    ClosedError,
    DuplicateRankError,
    EngineWorkerQueue,
    ForkedHandleError,
    HostLostError,
    PayloadError,
    PayloadTooLargeError,
)
from fdcomm.ring.layout import WANT
from tests.conformance.waiting import Background, until
from tests.unit.queue_ring import LONG_S, MOST, Group, Hosts, group, hosts, take, used

__all__ = ("group", "hosts")

pytestmark = pytest.mark.multiproc


def _sleeps(handle: EngineWorkerQueue) -> Callable[[], bool]:
    """Say whether the handle's get sleeps in the ring."""
    path = handle._paths["dispatch"]
    flags, line = path.memory.board.flags, handle.client_id
    return lambda: flags[line] == 1


def _put_sleeps(handle: EngineWorkerQueue) -> Callable[[], bool]:
    words = handle._paths["dispatch"].memory.board.words
    return lambda: words[WANT] != 0


# -- errors --------------------------------------------------------------------------------------------------------


def test_what_cannot_be_put_leaves_nothing(group: Group) -> None:
    with pytest.raises(PayloadTooLargeError, match="max_batch_bytes"):
        group.engine.put_tasks(bytes(MOST), timeout=0)
    with pytest.raises(PayloadError, match="cannot be pickled"):
        group.engine.put_tasks(lambda: None, timeout=0)
    group.engine.put_tasks(bytes(1 << 20), timeout=0)  # from now on pickled straight
    for rank in group.ranks:
        take(rank)
    with pytest.raises(PayloadTooLargeError):
        group.engine.put_tasks(bytes(MOST), timeout=0)
    with pytest.raises(PayloadError):
        group.engine.put_tasks([bytes(1 << 20), lambda: None], timeout=0)
    assert group.engine.num_tasks() == 0
    group.engine.put_tasks("next", timeout=0)
    assert [take(rank) for rank in group.ranks] == [("next", False), ("next", True)]


class _Unreadable:
    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def test_what_cannot_be_unpickled_was_taken(group: Group) -> None:
    group.engine.put_tasks(_Unreadable(), timeout=0)
    for rank in group.ranks:
        with pytest.raises(PayloadError, match="was taken but cannot be unpickled"):
            rank.get_tasks()
    group.engine.put_tasks("next", timeout=0)
    assert [take(rank)[0] for rank in group.ranks] == ["next", "next"]


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
    assert [take(rank)[0] for rank in group.ranks] == ["A", "A"]


def test_a_waiting_get_ends_when_its_handle_is_closed(group: Group) -> None:
    wait = Background(lambda: group.ranks[0].get_tasks(timeout=LONG_S))
    until(_sleeps(group.ranks[0]), "the get sleeps")
    group.ranks[0].close()
    assert isinstance(wait.error(), ClosedError)
    again = group.client(0)
    group.engine.put_tasks("A", timeout=0)
    assert take(again)[0] == "A"


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt. A shell that starts the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
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
        group.ranks[0].get_tasks(timeout=LONG_S)
    thread.join()
    group.engine.put_tasks("A", timeout=0)
    assert [take(rank) for rank in group.ranks] == [("A", False), ("A", True)]


def test_the_host_is_killed_under_a_put_and_a_get(hosts: Hosts) -> None:
    server = hosts.start()
    with used(Group(server)) as group:
        group.engine.put_tasks("A", timeout=0)
        take(group.ranks[0])
        get = Background(lambda: group.ranks[0].get_tasks(timeout=LONG_S))
        put = Background(lambda: group.engine.put_tasks("B", timeout=LONG_S))
        until(_sleeps(group.ranks[0]), "the get sleeps")
        until(_put_sleeps(group.engine), "the put sleeps")
        assert server._host is not None
        os.kill(server._host.pid, signal.SIGKILL)
        assert isinstance(get.error(), HostLostError)
        assert isinstance(put.error(), HostLostError)
