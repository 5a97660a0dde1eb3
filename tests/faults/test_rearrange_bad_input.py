"""Wrong calls of RearrangeControl: a typed error that says what is wrong, and nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fdcomm
from fdcomm import EngineCacheQueue, EngineWorkerQueue, RearrangeControl

pytestmark = pytest.mark.multiproc


@pytest.fixture(scope="module")
def host() -> Iterator[EngineWorkerQueue]:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, max_batch_bytes=1000) as server:
        yield server


@pytest.fixture
def control(host: EngineWorkerQueue) -> Iterator[RearrangeControl]:
    with RearrangeControl(("0.0.0.0", host.get_server_port()), num_client=2, client_id=1) as handle:
        yield handle
        assert handle.status().phase == "FREE"


@pytest.mark.parametrize("addresses", ["10.0.0.1", ["a", "a"], [""], [1], [None], None, 1, b"a"])
def test_wrong_addresses(control: RearrangeControl, addresses: Any) -> None:
    with pytest.raises(fdcomm.ConfigError, match="addresses"):
        control.request(addresses)


@pytest.mark.parametrize("request_", [0, -1, True, None, "1", 1.0])
def test_wrong_numbers(control: RearrangeControl, request_: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        *(control.update, control.wait, control.begin_load, control.gather, control.declare_loaded, control.report),
        *(control.updated, lambda n: control.peer_ready(n, "a"), lambda n: control.call_off(n, "x")),
    ]
    for call in calls:
        with pytest.raises(fdcomm.ConfigError, match="request="):
            call(request_)


def test_a_number_that_was_never_given(control: RearrangeControl) -> None:
    for call in (control.update, control.wait, control.declare_loaded, control.report, control.updated):
        with pytest.raises(fdcomm.ConfigError, match="never made"):
            call(1_000_000)


@pytest.mark.parametrize("timeout", [-1, float("nan"), "1", True])
def test_wrong_limits(control: RearrangeControl, timeout: Any) -> None:
    calls: list[Callable[[], object]] = [
        *(lambda: control.request(limit=timeout), lambda: control.wait(1, timeout), lambda: control.take(timeout)),
        *(lambda: control.take_load(timeout), lambda: control.take_update(timeout)),
    ]
    for call in calls:
        with pytest.raises(fdcomm.ConfigError, match="timeout"):
            call()


def test_calls_at_the_wrong_time(control: RearrangeControl) -> None:
    number = control.request(["a"])
    with pytest.raises(fdcomm.ProtocolViolationError, match="ASKED"):
        control.begin_load(number)
    assert control.take() == (number, ("a",))
    with pytest.raises(fdcomm.ProtocolViolationError, match="no load of it"):
        control.report(number)
    with pytest.raises(fdcomm.ProtocolViolationError, match="exchanges no weights"):
        control.updated(number)
    with pytest.raises(fdcomm.ProtocolViolationError, match="not every rank has loaded"):
        control.update(number)
    control.begin_load(number)
    with pytest.raises(fdcomm.ProtocolViolationError, match="told before"):
        control.begin_load(number)
    with pytest.raises(fdcomm.ProtocolViolationError, match="'b' is no address"):
        control.peer_ready(number, "b")
    with pytest.raises(fdcomm.CommTimeoutError) as caught:
        control.gather(number, 0)
    assert caught.value.missing == (0, 1)
    with pytest.raises(fdcomm.CommTimeoutError, match="DOING"):
        control.wait(number, 0)
    control.call_off(number, "tests")
    assert control.wait(number).reason == "called off: tests"
    with pytest.raises(fdcomm.RearrangeEndedError, match="called off"):
        control.declare_loaded(number)


@pytest.mark.parametrize("ok", ["out of memory", "", None, 0, 1])
def test_a_reason_in_the_place_of_ok_is_no_success(control: RearrangeControl, ok: Any) -> None:
    number = control.request()
    control.take()
    control.begin_load(number)
    assert control.take_load() == (number, None)
    with pytest.raises(fdcomm.ConfigError, match=r"ok=.* reason=") as caught:
        control.report(number, ok)
    assert caught.value.operation == "report"
    assert control.status().load == ("asked", "taken")
    control.report(number, False, "out of memory")
    assert "out of memory" in control.wait(number).reason


@pytest.mark.parametrize("seen", ["1", None, 1.0, True])
def test_a_snapshot_that_was_never_seen(control: RearrangeControl, seen: Any) -> None:
    with pytest.raises(fdcomm.ConfigError, match="seen="):
        control.status(seen=seen)


def test_a_second_party(host: EngineWorkerQueue, control: RearrangeControl) -> None:
    assert (control.take(), control.take_load(), control.take_update()) == (None, None, None)
    with RearrangeControl(("0.0.0.0", host.get_server_port()), num_client=2, client_id=1) as other:
        for call, party in ((other.take, "coordinator"), (other.take_load, "loader"), (other.take_update, "worker")):
            with pytest.raises(fdcomm.DuplicateRankError, match=party):
                call()


def test_payloads(control: RearrangeControl) -> None:
    with pytest.raises(fdcomm.PayloadError):
        control.put_stats(lambda: None)
    with pytest.raises(fdcomm.PayloadTooLargeError):
        control.put_stats(b"x" * 2000)


def test_the_constructor(host: EngineWorkerQueue) -> None:
    address = ("0.0.0.0", host.get_server_port())
    with pytest.raises(fdcomm.RankError):
        RearrangeControl(address, num_client=2, client_id=2)
    with pytest.raises(fdcomm.ConfigError, match="num_client"):
        RearrangeControl(address, num_client=3)
    with pytest.raises(TypeError, match="depth"):
        RearrangeControl(address, num_client=2, depth=2)  # type: ignore[call-arg]
    with pytest.raises(fdcomm.ConfigError, match="local_data_parallel_id"):
        RearrangeControl(address, num_client=2, local_data_parallel_id=1)


def test_a_cache_queue_has_no_rearrangements() -> None:
    with (
        EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server,
        pytest.raises(fdcomm.ConfigError, match="cache queue"),
    ):
        RearrangeControl(("0.0.0.0", server.get_server_port()), num_client=1)


def test_a_closed_handle(host: EngineWorkerQueue) -> None:
    control = RearrangeControl(("0.0.0.0", host.get_server_port()), num_client=2)
    control.close()
    for call in (control.request, control.take, control.take_load, control.take_update, control.status, control.stats):
        with pytest.raises(fdcomm.ClosedError):
            call()
