"""What cannot work is refused at once, by a typed error that says what to do; nothing is lost, the queue goes on."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fdcomm import (
    AuthError,
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineWorkerQueue,
    FdcommError,
    PayloadError,
    PayloadTooLargeError,
    ProtocolViolationError,
    RankError,
)
from tests.faults.remote import LIMIT_S, Failed, Remote

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineWorkerQueue]:
    """An engine for two ranks, which reads and writes as ever when all tests have had it."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, max_batch_bytes=1 << 20) as server:
        server.num_tasks()  # now this thread has its connection
        yield server
        with _client(server, 0) as zero, _client(server, 1) as one:
            server.put_tasks("still works", timeout=LIMIT_S)
            assert [rank.get_tasks(timeout=LIMIT_S)[0] for rank in (zero, one)] == [["still works"], ["still works"]]


@pytest.fixture(autouse=True)
def usable(engine: EngineWorkerQueue) -> Iterator[None]:
    """After the test, a batch can be put and cleared, and no session, call, batch or lost rank is left."""
    yield
    engine.put_tasks("still works", timeout=LIMIT_S)
    assert engine.exist_tasks()
    engine.clear_data()
    state = engine.statistics()
    assert (state.sessions, state.waiting_puts, state.num_tasks, state.lost) == (1, 0, 0, ())


def _client(engine: EngineWorkerQueue, rank: int = 0, **more: Any) -> EngineWorkerQueue:
    return EngineWorkerQueue(engine.address, num_client=more.pop("num_client", 2), client_id=rank, **more)


@pytest.mark.parametrize("rank", [-1, 2, 10**30, "0", 0.0, None])
def test_client_id(engine: EngineWorkerQueue, rank: Any) -> None:
    with pytest.raises(RankError, match=r"0 <= client_id < 2"):
        _client(engine, rank)


@pytest.mark.parametrize("count", [1, 3, 0, -1, "2", True, None])
def test_num_client(engine: EngineWorkerQueue, count: Any) -> None:
    with pytest.raises(ConfigError, match="num_client"):
        _client(engine, 0, num_client=count)


def test_duplicate_reader(engine: EngineWorkerQueue) -> None:
    with _client(engine, 0, role="reader") as first, _client(engine, 0) as second:
        with pytest.raises(DuplicateRankError, match=f"pid {os.getpid()}.*close that handle"):
            _client(engine, 0, role="reader")
        with pytest.raises(DuplicateRankError):
            second.get_tasks()
        engine.put_tasks(1, timeout=LIMIT_S)
        assert first.get_tasks()[0] == [1]
        with _client(engine, 1) as one:
            assert one.get_tasks()[0] == [1]
        first.close()
        assert second.get_tasks() == ([], True)  # the rank is free now


def test_two_first_readers_at_once(engine: EngineWorkerQueue) -> None:
    """One of them gets the rank and keeps it."""
    with ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            start = threading.Barrier(2)
            claims = [pool.submit(_claim, engine, start) for _ in range(2)]
            first, second = (claim.result(LIMIT_S) for claim in claims)
            winner, loser = (first, second) if isinstance(first, EngineWorkerQueue) else (second, first)
            assert isinstance(loser, DuplicateRankError)
            assert isinstance(winner, EngineWorkerQueue)
            assert winner.get_tasks() == ([], True)
            winner.close()


def _claim(engine: EngineWorkerQueue, start: threading.Barrier) -> EngineWorkerQueue | FdcommError:
    start.wait(LIMIT_S)
    try:
        return _client(engine, 0, role="reader")
    except FdcommError as error:
        return error


def test_wrong_key(engine: EngineWorkerQueue) -> None:
    with pytest.raises(AuthError, match="does not accept the key"):
        _client(engine, 0, authkey=b"not the key of this host")
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, authkey=KEY) as other:
        for key in (b"secret_key", b""):
            with pytest.raises(AuthError, match="explicit authkey; pass the same"):
                _client(other, 0, authkey=key)
        with pytest.raises(AuthError, match="does not accept the key"):
            _client(other, 0, authkey=KEY[::-1])
        with _client(other, 0, authkey=KEY) as good:
            assert good.num_tasks() == 0


class _Refuses:
    def __reduce__(self) -> str:
        raise RuntimeError("I do not travel")


def _recursive() -> list[Any]:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize("make", [lambda: threading.Lock(), lambda: _Refuses(), lambda: iter(lambda: 0, 1), _recursive])
def test_unpicklable(engine: EngineWorkerQueue, make: Callable[[], Any]) -> None:
    with pytest.raises(PayloadError, match="cannot be pickled"):
        engine.put_tasks(make())


def test_too_large(engine: EngineWorkerQueue) -> None:
    with pytest.raises(PayloadTooLargeError, match="larger max_batch_bytes"):
        engine.put_tasks(bytes(1 << 20))
    engine.put_tasks(bytes((1 << 20) - 100), timeout=LIMIT_S)
    engine.clear_data()


@pytest.mark.parametrize("timeout", [-1, -0.001, math.nan, math.inf, -math.inf, "1", True, [], 1e9, 10**400])
def test_timeout(engine: EngineWorkerQueue, timeout: Any) -> None:
    with pytest.raises(ConfigError, match="write None to wait for ever"):
        engine.put_tasks(1, timeout=timeout)
    with _client(engine) as client, pytest.raises(ConfigError, match="get_tasks: timeout="):
        client.get_tasks(timeout=timeout)
    assert engine.num_tasks() == 0


def test_longest_timeout(engine: EngineWorkerQueue) -> None:
    with _client(engine) as zero, _client(engine, 1) as one:
        engine.put_tasks(1, timeout=2_000_000)
        assert [client.get_tasks(timeout=2_000_000)[0] for client in (zero, one)] == [[1], [1]]


@pytest.mark.parametrize("ticket", [-1, "1", 1.0, True, None])
def test_ticket(engine: EngineWorkerQueue, ticket: Any) -> None:
    with _client(engine) as client, pytest.raises(ConfigError, match=r"task_ticket\(\)"):
        client.get_tasks(ticket=ticket)


def test_a_ticket_that_is_not_there_takes_nothing(engine: EngineWorkerQueue) -> None:
    with _client(engine) as zero, _client(engine, 1) as one:
        engine.put_tasks(1, timeout=LIMIT_S)
        ticket = zero.task_ticket()
        assert zero.get_tasks(ticket=ticket + 1) == ([], False)
        assert zero.get_tasks(ticket=1 << 62) == ([], False)
        assert zero.get_tasks(ticket=ticket) == ([1], False)
        assert zero.get_tasks(ticket=ticket) == ([], False)
        assert one.get_tasks(ticket=ticket) == ([1], True)


def test_reading_without_a_rank(engine: EngineWorkerQueue) -> None:
    with pytest.raises(RankError, match="acts for no rank"):
        engine.get_tasks()
    with pytest.raises(RankError, match="no client_id"):
        engine.task_ticket()
    with _client(engine, 0, role="producer") as producer, pytest.raises(RankError, match="role='producer'"):
        producer.get_tasks()


def test_exist_flag_that_is_not_so(engine: EngineWorkerQueue) -> None:
    engine.set_exist_tasks(False)
    with pytest.raises(ProtocolViolationError, match="put_tasks"):
        engine.set_exist_tasks(True)


def test_port_is_the_servers(engine: EngineWorkerQueue) -> None:
    with _client(engine) as client, pytest.raises(RuntimeError, match="only a server"):
        client.get_server_port()


def test_use_after_close(engine: EngineWorkerQueue) -> None:
    client = _client(engine)
    client.close()
    client.close()
    for name in ("get_tasks", "clear_data", "exist_tasks", "task_ticket", "num_tasks", "statistics"):
        with pytest.raises(ClosedError, match=f"{name}: the handle is closed"):
            getattr(client, name)()
    with pytest.raises(ClosedError):
        client.put_tasks(1)


def test_closed_by_another_thread(engine: EngineWorkerQueue) -> None:
    """A thread whose call waits is told; threads that look at the shared words never see anything but ClosedError."""
    client = _client(engine)
    errors: list[BaseException] = []

    def endless(call: Callable[[], object]) -> None:
        try:
            while True:
                call()
        except Exception as error:  # noqa: BLE001 - looked at below
            errors.append(error)

    calls = [client.exist_tasks, client.exist_tasks, client.task_ticket, lambda: client.get_tasks(timeout=None)]
    threads = [threading.Thread(target=endless, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    client.close()
    for thread in threads:
        thread.join(LIMIT_S)
    assert [type(error) for error in errors] == [ClosedError] * 4


def test_class_that_the_reader_does_not_have(engine: EngineWorkerQueue) -> None:
    """The batch counts as taken: a second try would fail alike, and the other ranks have it."""
    with Remote() as worker:
        worker.open(engine.get_server_port(), num_client=2, client_id=0)
        engine.put_tasks(_only_here(), timeout=LIMIT_S)
        with pytest.raises(Failed, match=r"PayloadError: .*cannot be unpickled in this process: .*module") as caught:
            worker.call("get_tasks", timeout=LIMIT_S)
        assert caught.value.operation == "get_tasks"
        assert worker.call("get_tasks") == [[], False]
        with _client(engine, 1) as one:
            assert one.get_tasks()[0] == [_only_here()]


def _only_here() -> Any:
    import sys
    import types

    module = types.ModuleType("only_in_this_process")
    exec("class Thing:\n    def __eq__(self, other): return type(other).__name__ == 'Thing'", module.__dict__)
    sys.modules["only_in_this_process"] = module
    return module.Thing()


def test_zero_timeout_of_a_full_queue(engine: EngineWorkerQueue) -> None:
    engine.put_tasks(1, timeout=0)
    with pytest.raises(CommTimeoutError, match="ranks 0, 1 are not connected") as caught:
        engine.put_tasks(2, timeout=0)
    assert caught.value.missing == (0, 1)
    engine.clear_data()
