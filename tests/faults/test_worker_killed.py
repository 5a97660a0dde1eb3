"""SIGKILL of a worker: before, in and after get_tasks. The engine is told who is missing; the others read on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fdcomm import EngineWorkerQueue, PeerLostError
from tests.faults.remote import LIMIT_S, NIGHTLY, Remote, fds_of, host_pid, until

CYCLES = 50 if NIGHTLY else 10


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    """An engine for two ranks."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as server:
        yield server


@pytest.fixture
def other(engine: EngineWorkerQueue) -> Iterator[EngineWorkerQueue]:
    """The reader of rank 1, which lives."""
    with EngineWorkerQueue(engine.address, num_client=2, client_id=1, role="reader") as handle:
        yield handle


def _worker(engine: EngineWorkerQueue, rank: int = 0) -> Remote:
    remote = Remote()
    remote.open(engine.get_server_port(), num_client=2, client_id=rank, role="reader")
    return remote


def _lost(engine: EngineWorkerQueue, *ranks: int) -> None:
    until(lambda: engine.statistics().lost == ranks, f"ranks {ranks} are fenced")


def _read(handle: EngineWorkerQueue) -> object:
    (batch,), _ = handle.get_tasks(timeout=LIMIT_S)
    return batch


def test_killed_before_it_reads(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    with _worker(engine) as worker:
        engine.put_tasks("first", timeout=LIMIT_S)
        worker.kill()
        with pytest.raises(PeerLostError) as caught:
            engine.put_tasks("second", timeout=LIMIT_S)
        assert caught.value.missing == (0,)
        assert caught.value.operation == "put_tasks"
        assert _read(other) == "first"
    with _worker(engine) as again:
        assert again.call("get_tasks") == [[], True]  # the others had all read it without this rank
        engine.put_tasks("third", timeout=LIMIT_S)
        assert again.call("get_tasks", timeout=LIMIT_S) == [["third"], False]
        assert _read(other) == "third"


def test_killed_while_a_batch_that_nobody_has_read_waits(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    with _worker(engine) as worker:
        engine.put_tasks("kept", timeout=LIMIT_S)
        worker.kill()
        _lost(engine, 0)
    with _worker(engine) as again:
        assert again.call("get_tasks", timeout=LIMIT_S) == [["kept"], False]
        assert _read(other) == "kept"


def test_killed_in_a_blocked_get(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    with _worker(engine) as worker:
        worker.start("get_tasks", timeout=None)
        worker.kill()
        _lost(engine, 0)
        with pytest.raises(PeerLostError):
            engine.put_tasks("nobody", timeout=LIMIT_S)
    with _worker(engine) as again:
        engine.put_tasks("somebody", timeout=LIMIT_S)
        # The get of the dead process took nothing.
        assert again.call("get_tasks", timeout=LIMIT_S) == [["somebody"], False]
        assert _read(other) == "somebody"


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_killed_between_send_and_receive(engine: EngineWorkerQueue, other: EngineWorkerQueue, point: str) -> None:
    """The batch was taken for the rank or it was not; the ranks stay in step either way."""
    with _worker(engine) as worker:
        engine.put_tasks("first", timeout=LIMIT_S)
        worker.ask("arm", point, "kill")
        worker.send("call", "get_tasks")
        assert worker.ended() == -9
        _lost(engine, 0)
        unread = engine.statistics().unread
        if point == "call.send":
            assert unread == ((1, (0, 1)),)
        if point == "call.received":
            assert unread == ((1, (1,)),)
        taken = unread == ((1, (1,)),)
    with _worker(engine) as again:
        assert again.call("get_tasks") == ([[], False] if taken else [["first"], False])
        assert _read(other) == "first"
        engine.put_tasks("second", timeout=LIMIT_S)
        assert again.call("get_tasks", timeout=LIMIT_S) == [["second"], False]
        assert _read(other) == "second"


def test_killed_after_it_has_read(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    with _worker(engine) as worker:
        engine.put_tasks("first", timeout=LIMIT_S)
        assert worker.call("get_tasks", timeout=LIMIT_S) == [["first"], False]
        worker.kill()
        assert _read(other) == "first"
        _lost(engine, 0)
        with pytest.raises(PeerLostError):
            engine.put_tasks("second", timeout=LIMIT_S)
    with _worker(engine) as again:
        engine.put_tasks("third", timeout=LIMIT_S)
        assert again.call("get_tasks", timeout=LIMIT_S) == [["third"], False]
        assert _read(other) == "third"


def test_killed_while_a_put_waits_for_it(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    """The put ends at once with the rank's name, not at its time limit."""
    with _worker(engine) as worker, Remote() as producer:
        engine.put_tasks("first", timeout=LIMIT_S)
        assert _read(other) == "first"
        producer.open(engine.get_server_port(), num_client=2, client_id=0, role="producer")
        producer.send("call", "put_tasks", "second", timeout=None)
        until(lambda: engine.statistics().waiting_puts == 1, "the put waits")
        worker.kill()
        with pytest.raises(Exception, match="rank 0 is gone") as caught:
            producer.answer()
        assert getattr(caught.value, "name", "") == "PeerLostError"


def test_a_restart_takes_the_rank_at_once(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    """A supervisor starts the new process right after the end of the old one, perhaps before the host has seen it."""
    for turn in range(4):
        with _worker(engine) as worker:
            engine.put_tasks(turn, timeout=LIMIT_S)
            assert worker.call("get_tasks", timeout=LIMIT_S)[0] == [turn]
            assert _read(other) == turn
            worker.kill()
            with EngineWorkerQueue(engine.address, num_client=2, client_id=0, role="reader"):
                assert engine.statistics().lost == ()


def test_many_kills_leave_nothing(engine: EngineWorkerQueue, other: EngineWorkerQueue) -> None:
    """Kills of a reader, alternately idle and in a blocked get: the host's files do not grow, no batch goes astray."""
    before = 0
    received = []
    for turn in range(CYCLES):
        with _worker(engine) as worker:
            engine.put_tasks(turn, timeout=LIMIT_S)
            received.append(worker.call("get_tasks", timeout=LIMIT_S)[0][0])
            assert _read(other) == turn
            if turn % 2:
                worker.start("get_tasks", timeout=None)
            worker.kill()
        _lost(engine, 0)
        before = before or fds_of(host_pid(engine))
    assert received == list(range(CYCLES))
    until(lambda: fds_of(host_pid(engine)) <= before, "the host closes what the dead had")
    assert engine.statistics().sessions == 2
