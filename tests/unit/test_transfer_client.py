"""The prefix cache's side of transfers, over a port in memory: blocks go where they should, and everybody is told."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fdcomm.errors import (
    CommTimeoutError,
    HostLostError,
    PeerLostError,
    ProtocolViolationError,
    TransferCancelledError,
    TransferFailedError,
)
from fdcomm.transfer_client import Swap
from fdcomm.transfer_port import TransferResult
from tests.conformance.waiting import until
from tests.unit.transfer_world import LIMIT_S, World, world

__all__ = ("world",)


# -- what becomes of a task ------------------------------------------------------------------------------------------


def test_a_task_that_is_done_moves_its_blocks(world: World) -> None:
    source, target = world.lists.allocate(), world.lists.allocate(1, "host")
    swap = world.client.issue({"what": 1}, "swap", source, target)
    assert (swap.number, swap.done(), swap.lease, world.port.tasks[1]) == (1, False, None, ({"what": 1}, "swap"))
    with pytest.raises(ProtocolViolationError):
        world.lists.free(source)
    world.port.finish(world.pull(), value=["a", "b"])
    result = swap.wait(LIMIT_S)
    assert (result.lease, result.value, swap.lease) == (target, ["a", "b"], target)
    assert not world.lists.is_current(source)
    assert world.free() == (2, 1)
    world.lists.free(target)


def test_a_task_without_a_target_leaves_the_source(world: World) -> None:
    source = world.lists.allocate(2)
    swap = world.client.issue("write", "storage", source)
    world.port.finish(world.pull())
    assert swap.wait(LIMIT_S).lease is source
    world.lists.free(source)


def test_a_task_that_has_failed_gives_the_source_back(world: World) -> None:
    swap = world.issue()
    world.port.finish(world.pull(), "failed", ranks=(1,))
    with pytest.raises(TransferFailedError, match="a rank has failed") as found:
        swap.wait(LIMIT_S)
    assert (found.value.missing, found.value.request) == ((1,), 1)
    assert swap.lease is not None
    assert swap.lease.ids == (0,)
    assert world.free() == (1, 2)


def test_a_task_that_was_withdrawn_gives_the_source_back(world: World) -> None:
    swap = world.issue()
    world.port.withdraw()
    with pytest.raises(TransferCancelledError, match="it was withdrawn"):
        swap.wait(LIMIT_S)
    assert swap.lease is not None
    assert world.free() == (1, 2)


def test_who_gives_up_frees_nothing_before_the_end(world: World) -> None:
    swap = world.issue()
    number = world.pull()
    assert swap.cancel()
    assert not swap.cancel()
    with pytest.raises(TransferCancelledError, match="by its issuer"):
        swap.wait(LIMIT_S)
    assert (world.free(), swap.lease) == ((1, 1), None)
    world.port.finish(number)
    until(lambda: world.free() == (2, 2))
    assert world.client.statistics().given_up == 1


def test_a_wait_ends_and_the_task_goes_on(world: World) -> None:
    swap = world.issue()
    with pytest.raises(CommTimeoutError, match="goes on") as found:
        swap.wait(0.01)
    assert found.value.request == 1
    assert swap.exception() is None
    world.port.serve(1)
    swap.wait(LIMIT_S)


def test_what_the_port_refuses_was_never_issued(world: World) -> None:
    world.port.capacity = 0
    source = world.lists.allocate()
    with pytest.raises(CommTimeoutError):
        world.client.issue("task", "swap", source)
    assert world.lists.is_current(source)
    world.port.capacity = 1
    world.client.issue("task", "swap", source)
    found = world.client.statistics()
    assert (found.refused, found.issued, found.outstanding, found.issuing) == (1, 1, (1,), 0)


def test_a_lost_rank_refuses_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def issue(*args: object) -> int:
        raise PeerLostError("rank 1 is gone", missing=(1,))

    monkeypatch.setattr(world.port, "issue", issue)
    with pytest.raises(PeerLostError):
        world.issue()
    assert world.lists.statistics().leased == 2


def test_a_result_may_come_before_its_number() -> None:
    seen = threading.Event()

    def between() -> None:
        made.port.serve(1)
        assert seen.wait(LIMIT_S)

    made = World(between=between)
    original = made.client._receiver.await_number

    def looked(number: int | None) -> Any:
        seen.set()
        return original(number)

    made.client._receiver.await_number = looked  # type: ignore[method-assign]
    assert made.issue().wait(LIMIT_S).lease.ids == (2,)
    made.client.close(timeout=LIMIT_S)


# -- callbacks -------------------------------------------------------------------------------------------------------


def test_callbacks_are_called_once_and_may_raise(world: World) -> None:
    swap = world.issue()
    called: list[Swap] = []

    def bad(_: Swap) -> None:
        raise ValueError("bad")

    swap.add_done_callback(bad)
    swap.add_done_callback(called.append)
    world.port.serve(1)
    swap.wait(LIMIT_S)
    until(lambda: called == [swap])
    swap.add_done_callback(called.append)
    assert called == [swap, swap]
    found = world.client.statistics()
    assert (found.callback_errors, found.last_error) == (1, "ValueError: bad")


def test_a_callback_may_not_wait(world: World) -> None:
    first, second = world.issue(), world.issue()
    errors: list[BaseException] = []

    def waits(_: Swap) -> None:
        for call in (second.wait, world.client.reset):
            try:
                call()
            except ProtocolViolationError as error:
                errors.append(error)

    first.add_done_callback(waits)
    world.port.serve(1)
    until(lambda: len(errors) == 2)
    world.client.reset(timeout=LIMIT_S)


# -- results that nobody understands ---------------------------------------------------------------------------------


def test_bad_results_do_not_end_the_receiver(world: World) -> None:
    bad = world.issue()
    number = world.pull()
    world.port.post("nonsense")
    world.port.post(TransferResult(77, "ok", None, None, ()))
    world.port.post(TransferResult(number, "done", None, None, ()))  # type: ignore[arg-type]
    with pytest.raises(TransferFailedError, match="cannot be read"):
        bad.wait(LIMIT_S)
    good = world.issue()
    world.port.serve(1)
    good.wait(LIMIT_S)
    found = world.client.statistics()
    assert (found.unreadable, found.unknown, found.ok, found.failed) == (2, 1, 1, 1)


def test_a_bug_of_the_receiver_tells_everybody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*args: object) -> None:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr(world.client._core, "handle", bug)
    swap = world.issue()
    world.port.serve(1)
    with pytest.raises(HostLostError, match="ZeroDivisionError"):
        swap.wait(LIMIT_S)
