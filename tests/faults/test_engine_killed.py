"""SIGKILL of the engine, which owns the host, and of another producer: no reader hangs, the host ends and cleans."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fdcomm import EngineWorkerQueue, HostNotFoundError
from tests.faults.remote import LIMIT_S, Failed, Remote, is_gone, see_host_lost, stopped, until


@pytest.fixture
def engine() -> Iterator[Remote]:
    """A process that serves two ranks."""
    with Remote() as remote:
        remote.open(0, is_server=True, num_client=2)
        yield remote


def _reader(engine: Remote, rank: int) -> EngineWorkerQueue:
    port = engine.call("get_server_port")
    return EngineWorkerQueue(("0.0.0.0", port), num_client=2, client_id=rank, role="reader")


def _all_gone(host: dict[str, Any]) -> None:
    until(lambda: is_gone(host["pid"]), "the host ends")
    until(lambda: not os.listdir(os.environ["FDCOMM_RUNTIME_DIR"]), "its files go")
    assert not Path(host["words"]).exists()
    assert not Path(host["socket"]).exists()


def test_killed_while_its_put_waits(engine: Remote) -> None:
    host = engine.ask("host")
    with _reader(engine, 0) as reader:
        engine.call("put_tasks", 1, timeout=LIMIT_S)
        engine.start("put_tasks", 2, timeout=None)
        until(lambda: reader.statistics().waiting_puts == 1, "the put waits")
        engine.kill()
        see_host_lost(lambda: reader.get_tasks(timeout=LIMIT_S))
        _all_gone(host)
        see_host_lost(reader.exist_tasks)
    with pytest.raises(HostNotFoundError):
        _reader_of(host["port"])


def _reader_of(port: int) -> EngineWorkerQueue:
    return EngineWorkerQueue(("0.0.0.0", port), num_client=2, client_id=0)


@pytest.mark.parametrize("point", ["call.send", "call.sent", "call.received"])
def test_killed_at_a_point_of_its_put(engine: Remote, point: str) -> None:
    host = engine.ask("host")
    with _reader(engine, 0):
        engine.ask("arm", point, "kill")
        engine.send("call", "put_tasks", 1, timeout=LIMIT_S)
        assert engine.ended() == -9
        _all_gone(host)


def test_killed_while_its_forked_child_lives_on(engine: Remote) -> None:
    """The child has copies of whatever was not closed in it; the host must end with the owner all the same."""
    host = engine.ask("host")
    child = engine.ask("fork")
    try:
        engine.kill()
        _all_gone(host)
        assert not is_gone(child)
    finally:
        os.kill(child, 9)


def test_ends_in_peace_while_its_forked_child_lives_on(engine: Remote) -> None:
    host = engine.ask("host")
    child = engine.ask("fork")
    try:
        engine.call("cleanup")
        assert is_gone(host["pid"])
        assert not is_gone(child)
    finally:
        os.kill(child, 9)


def test_a_stopped_host_is_ended_by_its_owner(engine: Remote) -> None:
    host = engine.ask("host")
    engine.ask("shorten", 0.3)
    with stopped(host["pid"]):
        engine.call("cleanup")
        _all_gone(host)


def test_second_producer_killed_while_its_put_waits(engine: Remote) -> None:
    """Its call is withdrawn and those behind it are served."""
    port = engine.call("get_server_port")
    with _reader(engine, 0) as zero, _reader(engine, 1) as one, Remote() as second:
        second.open(port, num_client=2, client_id=0, role="producer")
        engine.call("put_tasks", "first", timeout=LIMIT_S)
        second.send("call", "put_tasks", "of the dead", timeout=None)
        until(lambda: zero.statistics().waiting_puts == 1, "the second producer waits")
        engine.send("call", "put_tasks", "third", timeout=None)
        until(lambda: zero.statistics().waiting_puts == 2, "the engine waits behind it")
        second.kill()
        until(lambda: zero.statistics().waiting_puts == 1, "the dead producer's call is withdrawn")
        for expected in ("first", "third"):
            assert zero.get_tasks(timeout=LIMIT_S)[0] == [expected]
            assert one.get_tasks(timeout=LIMIT_S)[0] == [expected]
        assert engine.answer() is None
        assert zero.statistics().num_tasks == 0


def test_killed_engine_leaves_the_port_to_the_next(engine: Remote) -> None:
    port = engine.call("get_server_port")
    host = engine.ask("host")
    engine.kill()
    until(lambda: is_gone(host["pid"]), "the host ends")
    with Remote() as again:
        assert again.open(port, is_server=True, num_client=2) == port
        with _reader_of(port) as reader:
            again.call("put_tasks", "new", timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S)[0] == ["new"]
        with pytest.raises(Failed, match="CommTimeoutError"):
            again.call("put_tasks", "more", timeout=0.01)
