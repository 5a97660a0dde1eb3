"""Transfers that have failed while ranks are at them: what they may write to is nobody's until they have ended."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fdcomm.blocks import BlockLists
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    HostLostError,
    NoBlocksError,
    TransferCancelledError,
    TransferFailedError,
)
from fdcomm.transfer_port import TransferResult, TransferSettled
from tests.conformance.waiting import Background, until
from tests.unit.transfer_world import LIMIT_S, World, world

__all__ = ("world",)


def _late(lists: BlockLists) -> int:
    return lists.statistics().late


def test_the_target_is_nobodys_until_the_ranks_have_ended(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    world.port.overrun(number, (0, 1))
    with pytest.raises(TransferFailedError, match=r"rank 0, 1 may still write: the target is nobody's") as found:
        swap.wait(LIMIT_S)
    assert found.value.missing == (0, 1)
    assert swap.lease is not None
    assert (swap.lease.ids, world.free(), _late(world.lists)) == ((0,), (1, 1), 1)
    with pytest.raises(NoBlocksError):
        world.lists.allocate(2, "host")
    found_now = world.client.statistics()
    assert (found_now.failed, found_now.outstanding, found_now.late, found_now.settled) == (1, (), (1,), 0)
    waiting = Background(lambda: world.lists.allocate(2, "host", timeout=LIMIT_S))
    world.lists.free(swap.lease)  # it is its issuer's, to be used again at once
    world.port.quiet(number)
    assert waiting.value().ids == (2, 3)
    assert (world.free(), _late(world.lists)) == ((2, 0), 0)
    found_now = world.client.statistics()
    assert (found_now.late, found_now.settled, found_now.unknown) == ((), 1, 0)
    world.port.check()


def test_without_a_target_the_source_may_be_written_to(world: World) -> None:
    source = world.lists.allocate(2)
    swap = world.client.issue("read", "storage", source)
    number = world.pull()
    world.port.overrun(number)
    with pytest.raises(TransferFailedError, match="rank 1 may still write: the source is nobody's"):
        swap.wait(LIMIT_S)
    assert (swap.lease, world.lists.is_current(source), world.free(), _late(world.lists)) == (None, False, (0, 2), 2)
    world.port.quiet(number)
    until(lambda: world.free() == (2, 2))


def test_ranks_that_end_before_the_result_is_taken_hold_nothing(world: World) -> None:
    first, swap = world.issue(), world.issue()
    go_on = threading.Event()
    first.add_done_callback(lambda _: go_on.wait(LIMIT_S))  # the receiver takes nothing meanwhile
    world.port.serve(1)
    number = world.pull()
    world.port.overrun(number)
    world.port.quiet(number)
    go_on.set()
    with pytest.raises(TransferFailedError) as found:
        swap.wait(LIMIT_S)
    assert "may still write" not in str(found.value)
    assert (world.free(), _late(world.lists)) == ((1, 1), 0)
    assert world.client.statistics().settled == 0


def test_of_a_late_task_that_was_given_up_only_the_source_is_free(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    assert swap.cancel()
    world.port.overrun(number)
    until(lambda: world.free() == (2, 1))
    assert (swap.lease, _late(world.lists)) == (None, 1)
    assert isinstance(swap.exception(), TransferCancelledError)
    world.port.quiet(number)
    until(lambda: world.free() == (2, 2))


def test_what_has_settled_before_or_was_never_late_changes_nothing(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    world.port.post(TransferSettled(number))  # it runs
    world.port.finish(number)
    mine = swap.wait(LIMIT_S).lease
    world.port.post(TransferSettled(number))  # it was never late
    until(lambda: world.client.statistics().unknown == 2)
    assert world.lists.is_current(mine)
    assert world.free() == (2, 1)


def test_a_late_task_cannot_be_done(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    world.port.post(TransferResult(number, "ok", ["a", "b"], None, (), (1,)))
    with pytest.raises(TransferFailedError, match="the result cannot be read: 'ok'"):
        swap.wait(LIMIT_S)
    assert (world.client.statistics().unreadable, _late(world.lists)) == (1, 1)


# -- resets, and the ends --------------------------------------------------------------------------------------------


def test_a_reset_waits_until_no_rank_is_at_a_late_task(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    world.port.overrun(number)
    until(swap.done)
    with pytest.raises(CommTimeoutError, match=r"outstanding: none; ranks are still at tasks that have failed: 1;"):
        world.client.reset(timeout=0.02)
    left: list[int] = []
    resetting = Background(lambda: world.client.reset(timeout=LIMIT_S, progress=left.append))
    until(lambda: left == [1])
    assert (resetting.is_running(), world.lists.generation) == (True, 0)
    world.port.quiet(number)
    assert (resetting.value(), left, world.free()) == (1, [1, 0], (2, 2))


def test_a_task_that_is_late_during_a_reset_is_waited_for(world: World) -> None:
    world.issue()
    number = world.pull()
    resetting = Background(lambda: world.client.reset(timeout=LIMIT_S))
    until(lambda: world.lists.statistics().phase == "resetting")
    world.port.overrun(number)
    until(lambda: world.client.statistics().late == (1,))
    assert (resetting.is_running(), _late(world.lists), world.free()) == (True, 1, (2, 1))
    world.port.quiet(number)
    assert resetting.value() == 1


@pytest.mark.parametrize("lost", [True, False])
def test_after_an_end_what_was_late_stays_held(world: World, lost: bool) -> None:
    swap = world.issue()
    number = world.pull()
    world.port.overrun(number)
    until(swap.done)
    if lost:
        world.port.lose(HostLostError("the host has ended"))
        until(lambda: world.lists.statistics().phase == "lost")
    world.client.close(timeout=LIMIT_S)
    ended: Any = HostLostError if lost else ClosedError
    world.client._receiver.settle(number)  # as if it had been under way
    assert (_late(world.lists), world.client.statistics().settled) == (1, 0)
    with pytest.raises(ended):
        world.lists.allocate(1, "host")
