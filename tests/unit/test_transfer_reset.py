"""Resets and ends of the prefix cache's side of transfers, over a port in memory."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from fdcomm.blocks import BlockLists
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    HostLostError,
    NoBlocksError,
    StaleLeaseError,
    TransferCancelledError,
)
from fdcomm.transfer_client import TransferClient
from tests.conformance.memory_port import MemoryPort
from tests.conformance.waiting import Background, until
from tests.races.blocks_race import name_of
from tests.unit.transfer_world import LIMIT_S, World, world

__all__ = ("world",)


# -- resets ----------------------------------------------------------------------------------------------------------


def test_a_reset_takes_every_block_back(world: World) -> None:
    kept = world.lists.allocate()
    queued = world.issue()
    assert world.client.reset(timeout=LIMIT_S) == 1
    assert world.free() == (2, 2)
    with pytest.raises(TransferCancelledError, match="a reset was begun"):
        queued.wait(LIMIT_S)
    assert queued.lease is None
    with pytest.raises(StaleLeaseError):
        world.lists.free(kept)
    with pytest.raises(StaleLeaseError):
        world.client.issue("task", "swap", kept)
    assert world.client.reset(timeout=LIMIT_S) == 2


def test_a_reset_waits_for_what_runs_and_not_for_who_waits(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    waiting = Background(lambda: swap.wait(LIMIT_S))
    left: list[int] = []
    during: list[tuple[int, int]] = []
    resetting = Background(
        lambda: world.client.reset(timeout=LIMIT_S, progress=left.append, during=lambda: during.append(world.free()))
    )
    assert isinstance(waiting.error(), TransferCancelledError)
    for call in (world.issue, lambda: world.lists.allocate(1)):
        with pytest.raises(TransferCancelledError, match="a reset is under way"):
            call()
    until(lambda: left == [1])
    assert (resetting.is_running(), world.free()) == (True, (1, 1))
    world.port.finish(number)
    assert resetting.value() == 1
    assert (left, during, world.free()) == ([1, 0], [(2, 2)], (2, 2))


def test_a_reset_that_is_late_says_what_is_outstanding_and_goes_on(world: World) -> None:
    world.issue()
    number = world.pull()
    with pytest.raises(CommTimeoutError, match="tasks are outstanding: 1;"):
        world.client.reset(timeout=0.02)
    with pytest.raises(TransferCancelledError):
        world.lists.allocate()
    world.port.finish(number)
    assert world.client.reset(timeout=LIMIT_S) == 1
    assert world.free() == (2, 2)


def test_resets_of_several_threads_are_one(world: World) -> None:
    world.issue()
    number = world.pull()
    first = Background(lambda: world.client.reset(timeout=LIMIT_S))
    until(lambda: world.lists.statistics().phase == "resetting")
    others = [Background(lambda: world.client.reset(timeout=LIMIT_S)) for _ in range(2)]
    with pytest.raises(CommTimeoutError):
        world.client.reset(timeout=0.01)
    world.port.finish(number)
    assert [call.value() for call in (first, *others)] == [1, 1, 1]


def test_what_is_raised_during_a_reset_leaves_it_begun(world: World) -> None:
    def bad() -> None:
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        world.client.reset(timeout=LIMIT_S, during=bad)
    assert world.lists.statistics().phase == "resetting"
    assert world.client.reset(timeout=LIMIT_S) == 1


def test_a_reset_within_a_reset_is_refused(world: World) -> None:
    told: list[str] = []
    swap = world.issue()
    swap.add_done_callback(lambda _: told.append(name_of(world.client.reset)))
    world.client.reset(timeout=LIMIT_S, during=lambda: told.append(name_of(world.client.reset)))
    assert told == ["ProtocolViolationError"] * 2


class Pausing:
    """What stops the ranks of a port in memory."""

    def __init__(self) -> None:
        self.port: Any = None
        self.log: list[str] = []

    @contextlib.contextmanager
    def paused(self, *, timeout: Any = None) -> Iterator[int]:
        """Pause for a block."""
        self.port.pause()
        self.log.append(f"paused, {self.port.outstanding()} outstanding")
        try:
            self.port.await_idle(timeout)
            yield 1
        finally:
            self.port.pause(False)
            self.log.append("resumed")


def test_a_reset_pauses_the_ranks() -> None:
    control = Pausing()
    world = World(control)
    control.port = world.port
    world.issue()
    running = world.pull()
    world.issue()
    with pytest.raises(CommTimeoutError) as found:
        world.client.reset(timeout=0.05)
    assert found.value.missing == (0,)
    world.port.finish(running)
    world.client.reset(timeout=LIMIT_S, during=lambda: control.log.append("clear"))
    assert [word.split(",")[0] for word in control.log] == ["paused", "resumed", "paused", "clear", "resumed"]
    assert world.free() == (2, 2)
    world.client.close()


# -- the ends --------------------------------------------------------------------------------------------------------


def test_a_close_tells_everybody_and_withdraws(world: World) -> None:
    running = world.issue()
    number = world.pull()
    queued = world.issue()
    waiting = Background(lambda: running.wait(LIMIT_S))
    world.client.close(timeout=LIMIT_S)
    world.client.close(timeout=LIMIT_S)
    assert isinstance(waiting.error(), ClosedError)
    assert isinstance(queued.exception(), ClosedError)
    assert not world.port.queued
    for call in (world.lists.allocate, world.client.reset, lambda: world.lists.allocate(timeout=LIMIT_S)):
        with pytest.raises(ClosedError):
            call()
    assert world.lists.statistics().in_flight == 4
    world.port.finish(number)


def test_a_lost_port_tells_everybody(world: World) -> None:
    swap = world.issue()
    world.pull()
    blocks = world.lists.allocate(), world.lists.allocate(1, "host")
    waits = [
        Background(lambda: swap.wait(LIMIT_S)),
        Background(lambda: world.client.reset(timeout=LIMIT_S)),
    ]
    until(lambda: world.lists.statistics().phase == "resetting")
    world.port.lose(HostLostError("the host has ended"))
    errors = [call.error() for call in waits]
    assert isinstance(errors[1], HostLostError)
    assert isinstance(errors[0], (TransferCancelledError, HostLostError))
    with pytest.raises(HostLostError, match="the host has ended"):
        world.lists.allocate()
    with pytest.raises(HostLostError):
        world.client.issue("task", "swap", *blocks)
    assert world.lists.statistics().in_flight == 2


def test_an_issue_of_which_nobody_knows_ends_the_client(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = world.issue()

    def issue(*args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(world.port, "issue", issue)
    with pytest.raises(KeyboardInterrupt):
        world.issue()
    assert isinstance(waiting.exception(), HostLostError)
    assert world.lists.statistics().in_flight == 4


def test_no_room_for_who_waits_longer_is_no_wait_under_a_lock() -> None:
    world = World(capacity=1)
    world.issue()
    lock = threading.Lock()
    with lock, pytest.raises(CommTimeoutError):
        world.issue()
    with pytest.raises(NoBlocksError):
        world.lists.allocate(2, "host")
    world.client.close()


def test_the_context_closes() -> None:
    port = MemoryPort()
    with TransferClient(port, BlockLists(1, 1)) as client:
        assert client.statistics().blocks is not None
    with pytest.raises(ClosedError):
        client.reset()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_gives_out_nothing(world: World) -> None:
    swap = world.issue()
    calls = (world.lists.allocate, world.client.reset, lambda: world.lists.allocate(timeout=LIMIT_S))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            told = [name_of(call) for call in (*calls, lambda: swap.wait(LIMIT_S))]
            code = 7 if told == ["ForkedHandleError"] * 3 + ["HostLostError"] else 8
            world.client.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    world.port.serve(1)
    assert swap.wait(LIMIT_S).lease.ids == (2,)
