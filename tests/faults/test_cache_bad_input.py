"""Arguments of the two queues' methods that cannot work: refused at once, by type, and nothing is lost.

The answers of ranks have a file of their own, ``test_gate_calls``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    ConfigError,
    EngineCacheQueue,
    EngineWorkerQueue,
    FdcommError,
    PayloadError,
    PayloadTooLargeError,
    ProtocolViolationError,
)
from fdcomm.host.layout import BARRIER_GROUPS, GATES
from tests.conformance.waiting import Background, until
from tests.faults.cache_calls import BAD_TIMEOUTS, PUTS, TIMED, at_once, call, word
from tests.faults.cache_world import BARRIERS, QUEUES, World, opened
from tests.faults.remote import LIMIT_S


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[str, World]]:
    """One host of each kind; what is refused leaves it as it was."""
    with opened("worker", max_batch_bytes=1 << 20) as worker, opened("cache", max_batch_bytes=1 << 20) as cache:
        yield {"worker": worker, "cache": cache}
        worker.check()
        cache.check()


@pytest.mark.parametrize("timeout", BAD_TIMEOUTS)
@pytest.mark.parametrize(("kind", "method", "args"), TIMED, ids=word)
def test_a_time_limit(worlds: dict[str, World], kind: str, method: str, args: tuple[Any, ...], timeout: Any) -> None:
    error = at_once(ConfigError, lambda: call(worlds[kind].one, method, *args, timeout=timeout), "timeout=")
    assert method in error.operation


@pytest.mark.parametrize(("kind", "method", "wrap"), PUTS, ids=word)
def test_an_item_that_cannot_travel(
    worlds: dict[str, World], kind: str, method: str, wrap: Callable[[Any], Any]
) -> None:
    handle = worlds[kind].one
    at_once(PayloadError, lambda: call(handle, method, wrap(lambda: 0)), "cannot be pickled")
    at_once(PayloadTooLargeError, lambda: call(handle, method, wrap(bytes(1 << 20))), "larger max_batch_bytes")


@pytest.mark.parametrize(
    ("kind", "method", "item"),
    [
        ("worker", "put_cache_info", None),
        ("worker", "put_cache_info", "text"),
        ("worker", "put_cache_info", 3),
        ("worker", "put_connect_rdma_task", None),
        ("cache", "put_transfer_task", None),
        ("cache", "put_transfer_done_signal", None),
    ],
)
def test_an_item_that_means_nothing(worlds: dict[str, World], kind: str, method: str, item: Any) -> None:
    at_once(ConfigError, lambda: call(worlds[kind].engine, method, item), method)


def test_an_empty_list_of_cache_infos_is_no_item(worlds: dict[str, World]) -> None:
    world = worlds["worker"]
    world.engine.put_cache_info([])
    assert world.engine.num_cache_infos() == 0
    assert world.one.get_cache_info() == []


def test_an_unknown_barrier(worlds: dict[str, World]) -> None:
    """Neither the handle nor the host knows it."""
    for kind, world in worlds.items():
        with pytest.raises(AttributeError, match="barrier9"):
            _ = world.engine.barrier9
        channel = f"barriers.{next(iter(BARRIER_GROUPS[kind]))}"
        for action, args in (("wait", ("barrier9", "", None, 0.0)), ("reset", ("barrier9",)), ("view", ("barrier9",))):
            at_once(FdcommError, lambda a=action, x=args, c=channel, w=world: w.one._act(c, a, *x))  # type: ignore[misc]


@pytest.mark.parametrize("kind", BARRIERS)
def test_what_the_host_does_not_have(worlds: dict[str, World], kind: str) -> None:
    """A client of another version, or of bad will, is refused by the host too."""
    world = worlds[kind]
    other = "bitmask" if kind == "worker" else "dispatch"
    for channel, action in (
        (other, "put_tasks"),
        ("no such channel", "view"),
        (GATES["worker"][0], "open") if kind == "worker" else ("done", "shut_down"),
        ("done" if kind == "cache" else "disaggregate", "_post"),
    ):
        at_once(ProtocolViolationError, lambda c=channel, a=action: world.one._act(c, a))  # type: ignore[misc]


@pytest.mark.parametrize("label", [1, None, b"text", ("a",)])
def test_a_label(worlds: dict[str, World], label: Any) -> None:
    at_once(ConfigError, lambda: worlds["cache"].one.barrier.wait(1, label=label), "label=")


@pytest.mark.parametrize("generation", [-1, "0", 1.0, True])
def test_a_generation(worlds: dict[str, World], generation: Any) -> None:
    at_once(ConfigError, lambda: worlds["cache"].one.barrier.wait(1, generation=generation), "generation=")


def test_a_rank_cannot_wait_twice(worlds: dict[str, World]) -> None:
    world = worlds["cache"]
    waiting = Background(lambda: world.one.barrier.wait(LIMIT_S))
    until(lambda: world.engine.barrier.n_waiting == 1, "the first thread waits")
    at_once(ProtocolViolationError, lambda: world.one.barrier.wait(LIMIT_S), "another thread")
    with world.rank(0) as zero:
        zero.barrier.wait(LIMIT_S)
    assert waiting.error() is None


def test_no_time_at_all(worlds: dict[str, World]) -> None:
    """A limit of 0 is a look: nothing waits, and nothing is left behind."""
    worker, cache = worlds["worker"], worlds["cache"]
    assert at_once(CommTimeoutError, lambda: worker.one.finish_request_barrier.wait(0)).missing == (0,)
    assert worker.engine.finish_request_barrier.n_waiting == 0
    worker.engine.put_cache_info(["info"], timeout=0)
    assert at_once(CommTimeoutError, lambda: worker.engine.put_cache_info(["more"], timeout=0)).missing == (0, 1)
    assert cache.one.get_transfer_task(timeout=0) == (None, False)
    worker.check()


@pytest.mark.parametrize("kind", QUEUES)
def test_a_full_transfer_queue(kind: str) -> None:
    """A put waits for room and no longer than it is told to."""
    put = "put_transfer_task" if kind == "cache" else "put_tasks"
    with QUEUES[kind](("0.0.0.0", 0), is_server=True, depth=3) as server:
        for number in range(3):
            getattr(server, put)(number, timeout=0)
        assert at_once(CommTimeoutError, lambda: getattr(server, put)(3, timeout=0.05)).missing == (0,)


@pytest.mark.parametrize("kind", QUEUES)
def test_a_client_of_the_other_queue(worlds: dict[str, World], kind: str) -> None:
    other = EngineWorkerQueue if kind == "cache" else EngineCacheQueue
    at_once(ConfigError, lambda: other(worlds[kind].engine.address, num_client=2, client_id=0), f"serves a {kind}")
