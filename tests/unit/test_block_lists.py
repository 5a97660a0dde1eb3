"""Free lists of blocks: every block is in one place, and a lease is good once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fdcomm.blocks import BlockLists, Lease
from fdcomm.errors import ConfigError, NoBlocksError, ProtocolViolationError, StaleLeaseError
from fdcomm.transfer_port import TransferResult, TransferSettled
from tests.conformance.memory_port import MemoryPort
from tests.conformance.waiting import Background, until


def test_the_lowest_blocks_of_a_kind_are_handed_out() -> None:
    lists = BlockLists(4, 3)
    first = lists.allocate(2)
    host = lists.allocate(3, "host")
    assert (first.ids, host.ids, first.generation) == ((0, 1), (4, 5, 6), 0)
    lists.free(first)
    assert lists.allocate(3).ids == (0, 1, 2)
    assert lists.can_allocate(1)
    assert not lists.can_allocate(1, "host")
    lists.check()
    found = lists.statistics()
    assert (found.phase, found.device_free, found.host_free, found.leased, found.in_flight) == ("open", 1, 0, 6, 0)


def test_too_few_blocks_are_told_and_none_is_taken() -> None:
    lists = BlockLists(2, 0)
    with pytest.raises(NoBlocksError, match="3 device blocks were asked for, and 2 are free"):
        lists.allocate(3)
    with pytest.raises(NoBlocksError):
        lists.allocate(1, "host")
    assert lists.statistics().device_free == 2


def test_a_lease_is_good_once() -> None:
    lists = BlockLists(2, 0)
    lease = lists.allocate()
    assert lists.is_current(lease)
    lists.free(lease)
    assert not lists.is_current(lease)
    for wrong in (lease, Lease((0,), 0), BlockLists(2, 0).allocate()):
        with pytest.raises(ProtocolViolationError):
            lists.free(wrong)
    lists.check()
    assert lists.statistics().device_free == 2


def test_who_waits_for_blocks_gets_them() -> None:
    lists = BlockLists(1, 0)
    lease = lists.allocate()
    waiting = Background(lambda: lists.allocate(timeout=30.0))
    lists.free(lease)
    assert waiting.value().ids == (0,)


def test_a_wait_for_blocks_ends() -> None:
    lists = BlockLists(1, 0)
    lists.allocate()
    with pytest.raises(NoBlocksError) as found:
        lists.allocate(timeout=0.01)
    assert found.value.waited_s >= 0.01


@pytest.mark.parametrize("n", [0, -1, True, 1.0, "1"])
def test_no_number_of_blocks(n: Any) -> None:
    with pytest.raises(ConfigError):
        BlockLists(2, 2).allocate(n)


def test_no_kind_of_blocks() -> None:
    with pytest.raises(ConfigError, match="neither device nor host"):
        BlockLists(2, 2).allocate(1, "disk")  # type: ignore[arg-type]


def test_threads_share_the_lists() -> None:
    lists = BlockLists(8, 0)

    def use() -> None:
        for _ in range(200):
            lists.free(lists.allocate(2, timeout=30.0))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    lists.check()
    assert lists.statistics().device_free == 8


def test_a_stale_lease_is_told_or_harmless() -> None:
    lists = BlockLists(2, 0)
    old = lists.allocate()
    lists._core.begin_reset()
    assert lists._core.rebuild()
    new = lists.allocate()
    assert new.ids == old.ids
    with pytest.raises(StaleLeaseError):
        lists.free(old)
    assert not lists.recycle(old)
    assert lists.is_current(new)
    assert lists.statistics().stale_frees == 2
    lists.check()


# -- the port in memory, on which the client's tests stand -----------------------------------------------------------


def test_the_port_in_memory_keeps_its_promises() -> None:
    port = MemoryPort(capacity=2)
    numbers = [port.issue("a", "swap", 0.0), port.issue("b", "swap", 0.0)]
    assert numbers == [1, 2]
    with pytest.raises(TimeoutError):
        port.issue("c", "swap", 0.0)
    assert port.pull() == 1
    assert port.withdraw() == (2,)
    port.finish(1, "failed", ranks=(1,))
    assert port.outstanding() == 2
    results = [port.news(0.0), port.news(0.0), port.news(0.0)]
    assert [(r.number, r.outcome, r.ranks) if isinstance(r, TransferResult) else r for r in results] == [
        (2, "cancelled", ()),
        (1, "failed", (1,)),
        None,
    ]
    assert port.outstanding() == 0
    port.check()
    waiting = Background(lambda: port.news(30.0))
    port.issue("d", "swap", 0.0)
    port.serve(1)
    assert waiting.value().number == 3
    assert port.outstanding() == 1
    port.acknowledge()
    until(lambda: port.outstanding() == 0)


def test_the_port_in_memory_says_once_that_a_task_has_settled() -> None:
    port = MemoryPort()
    for _ in range(2):
        port.issue("a", "swap", 0.0)
        port.pull()
    port.overrun(1)
    port.overrun(2, (0, 1))
    port.quiet(1)  # before its result is handed out: that says nothing of it then
    first, second = port.news(0.0), port.news(0.0)
    assert isinstance(first, TransferResult)
    assert isinstance(second, TransferResult)
    assert (first.running, second.running, port.news(0.0)) == ((), (0, 1), None)
    port.check()
    port.quiet(2)
    port.check()
    assert (port.news(0.0), port.news(0.0)) == (TransferSettled(2), None)
    port.check()


def test_a_second_result_of_a_task_is_noticed() -> None:
    port = MemoryPort()
    port.issue("a", "swap", 0.0)
    number = port.pull()
    assert number is not None
    port.finish(number)
    first = port.news(0.0)
    port.post(first)
    with pytest.raises(AssertionError, match="two results"):
        port.news(0.0)
