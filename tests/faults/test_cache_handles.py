"""Every method of the two queues on a handle that cannot work: closed, without its rank, forked, without its host."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fdcomm import ClosedError, CommTimeoutError, DuplicateRankError, HostLostError, RankError
from tests.conformance.waiting import Background, until
from tests.faults.cache_calls import CALLS, NEEDS_RANK, at_once, call, word
from tests.faults.cache_world import QUEUES, World, opened
from tests.faults.remote import LIMIT_S, stopped


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[str, World]]:
    """One host of each kind; what is refused leaves it as it was."""
    with opened("worker") as worker, opened("cache") as cache:
        yield {"worker": worker, "cache": cache}
        worker.check()
        cache.check()


@pytest.mark.parametrize(("kind", "method", "args"), CALLS, ids=word)
def test_a_closed_handle(worlds: dict[str, World], kind: str, method: str, args: tuple[Any, ...]) -> None:
    handle = worlds[kind].rank(0)
    handle.close()
    error = at_once(ClosedError, lambda: call(handle, method, *args), "the handle is closed")
    assert error.operation


@pytest.mark.parametrize(("kind", "method"), [(kind, method) for kind, method, _ in CALLS if method in NEEDS_RANK])
def test_a_handle_without_a_rank(worlds: dict[str, World], kind: str, method: str) -> None:
    args = next(args for _, name, args in CALLS if name == method)
    at_once(RankError, lambda: call(worlds[kind].engine, method, *args))
    with QUEUES[kind](worlds[kind].engine.address, num_client=2, client_id=0, role="producer") as producer:
        at_once(RankError, lambda: call(producer, method, *args))


def test_every_call_is_listed_for_its_rank() -> None:
    assert [method for method in NEEDS_RANK if method not in {name for _, name, _ in CALLS}] == []


@pytest.mark.parametrize(("kind", "method", "args"), [row for row in CALLS if row[1] in NEEDS_RANK], ids=word)
def test_a_rank_that_another_handle_has(
    worlds: dict[str, World], kind: str, method: str, args: tuple[Any, ...]
) -> None:
    """The second one is told who has it, and the first one keeps it."""
    world = worlds[kind]
    with world.rank(0) as first, world.rank(0) as second:
        if method.endswith(".wait"):
            name = method.partition(".")[0]
            waiting = Background(lambda: call(first, method, LIMIT_S))
            until(lambda: getattr(world.engine, name).n_waiting == 1, "the first one waits")
            at_once(DuplicateRankError, lambda: call(second, method, *args), "rank 0 is held by")
            call(world.one, method, LIMIT_S)
            waiting.value()
        else:
            call(first, method, *args)
            at_once(DuplicateRankError, lambda: call(second, method, *args), "rank 0 is held by")
    world.check()


@pytest.mark.parametrize("kind", QUEUES)
def test_a_forked_handle(worlds: dict[str, World], kind: str) -> None:
    """Every method is refused in the child, and the parent's handle is as it was."""
    world = worlds[kind]
    with world.victim() as victim:
        for _, method, args in [row for row in CALLS if row[0] == kind]:
            text = victim.ask("use_in_fork", method, *args)
            assert text.startswith("ForkedHandleError: "), (method, text)
        victim.call("statistics")


@pytest.mark.parametrize("kind", QUEUES)
def test_the_host_is_killed(kind: str) -> None:
    """Calls that wait end at once; later ones, of whatever method, are refused at once."""
    waits = {
        "worker": ["get_cache_info", "get_connect_rdma_task", "get_finished_req", "cache_info_barrier.wait"],
        "cache": ["get_transfer_task", "pause_barrier.wait", "swap_to_gpu_barrier1.wait", "barrier.wait"],
    }[kind]
    with opened(kind) as world, ThreadPoolExecutor(len(waits)) as pool:
        # Each wait on a channel of its own; they begin before the kill or find the host gone: the same error.
        calls = [pool.submit(call, world.one, method, timeout=None) for method in waits]
        until(lambda: getattr(world.engine, waits[-1].partition(".")[0]).n_waiting == 1, "one of them waits")
        world.kill_host()
        assert [type(wait.exception(LIMIT_S)) for wait in calls] == [HostLostError] * len(waits)
        for _, method, args in [row for row in CALLS if row[0] == kind]:
            if not (method in NEEDS_RANK or method in ("exist_tasks", "empty")):
                at_once(HostLostError, lambda m=method, a=args: call(world.engine, m, *a))  # type: ignore[misc]
        world.one.close()


@pytest.mark.parametrize("kind", QUEUES)
def test_a_stopped_rank_is_late_and_not_lost(worlds: dict[str, World], kind: str) -> None:
    """Who waits for it is told its name when the time is up; when it goes on, it is there as before."""
    world = worlds[kind]
    barrier = "finish_send_cache_barrier" if kind == "worker" else "swap_to_storage_barrier"
    with world.victim() as victim:
        victim.send("call", f"{barrier}.wait", LIMIT_S)
        until(lambda: getattr(world.engine, barrier).n_waiting == 1, "rank 0 waits")
        getattr(world.one, barrier).wait(LIMIT_S)
        victim.answer()
        with stopped(victim.process.pid):
            error = at_once(CommTimeoutError, lambda: getattr(world.one, barrier).wait(0.1))
            assert error.missing == (0,)
            if kind == "worker":
                world.one.put_finished_req([["late", "finished"]])
                error = at_once(CommTimeoutError, lambda: world.engine.get_finished_req(timeout=0.05))
                assert error.missing == (0,)
        victim.send("call", f"{barrier}.wait", LIMIT_S)
        assert getattr(world.one, barrier).wait(LIMIT_S) in (0, 1)
        victim.answer()
    world.check()
