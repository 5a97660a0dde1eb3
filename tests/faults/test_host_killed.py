"""SIGKILL and SIGSTOP of the host: every call ends with HostLostError, and what the host left is removed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

import fdcomm.transports.manager
import fdcomm.wire
from fdcomm import EngineWorkerQueue, FdcommError, HostLostError, HostNotFoundError, PeerLostError
from tests.faults.remote import (
    LIMIT_S,
    NIGHTLY,
    Remote,
    fds_of,
    host_pid,
    is_gone,
    page_of,
    see_host_lost,
    stopped,
    until,
)

CYCLES = 30 if NIGHTLY else 9


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    """An engine for one rank."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
        yield server


@pytest.fixture
def grace(monkeypatch: pytest.MonkeyPatch) -> float:
    """Shorten the time in which a host has to answer, so that the tests need not wait for the real one."""
    monkeypatch.setattr(fdcomm.transports.manager, "REPLY_GRACE_S", 0.3)
    monkeypatch.setattr(fdcomm.wire, "STALL_S", 0.3)
    return 0.3


def _kill(server: EngineWorkerQueue) -> None:
    os.kill(host_pid(server), signal.SIGKILL)


def _reader(server: EngineWorkerQueue) -> EngineWorkerQueue:
    return EngineWorkerQueue(server.address, client_id=0, role="reader")


class Call(threading.Thread):
    """A call in a thread of its own; ``error`` is what it raised."""

    def __init__(self, function: str, handle: EngineWorkerQueue, *args: object, **kwargs: object) -> None:
        super().__init__(daemon=True)
        self.error: BaseException | None = None
        self._call = (getattr(handle, function), args, kwargs)
        self.start()

    def run(self) -> None:
        function, args, kwargs = self._call
        try:
            function(*args, **kwargs)
        except FdcommError as error:
            self.error = error

    def raised(self) -> BaseException | None:
        self.join(LIMIT_S)
        assert not self.is_alive()
        return self.error


def test_killed_while_calls_wait(engine: EngineWorkerQueue) -> None:
    page = page_of(engine)
    with _reader(engine) as reader:
        engine.put_tasks("unread", timeout=LIMIT_S)
        put = Call("put_tasks", engine, "more", timeout=None)
        until(lambda: reader.statistics().waiting_puts == 1, "the put waits")
        assert reader.get_tasks()[0] == ["unread"]
        until(lambda: not put.is_alive(), "the put is answered")
        assert reader.get_tasks()[0] == ["more"]
        get = Call("get_tasks", reader, timeout=None)
        again = Call("get_tasks", reader, timeout=None)
        until(lambda: fds_of(host_pid(engine)) >= 12, "each waiting thread has its connection")
        _kill(engine)
        for call in (get, again):
            assert isinstance(call.raised(), HostLostError)
        with pytest.raises(HostLostError):
            engine.put_tasks("never")
        see_host_lost(engine.exist_tasks)
        until(lambda: is_gone(host_pid(engine)), "its listening socket is closed too")
        with pytest.raises(HostNotFoundError):
            _reader(engine)
        engine.cleanup()
        assert not page.exists()


def test_a_killed_host_is_replaced_at_the_same_port(engine: EngineWorkerQueue) -> None:
    """The owner has not cleaned up yet; the new host removes what the killed one left, and is found at once."""
    port, page = engine.get_server_port(), page_of(engine)
    _kill(engine)
    until(lambda: is_gone(host_pid(engine)), "the host ends")
    assert page.exists()
    with EngineWorkerQueue(("0.0.0.0", port), is_server=True) as new, _reader(new) as reader:
        assert not page.exists()
        new.put_tasks(1, timeout=LIMIT_S)
        assert reader.get_tasks(timeout=LIMIT_S)[0] == [1]
        engine.cleanup()  # must not remove the new host's record
        with EngineWorkerQueue(("0.0.0.0", port), client_id=0) as late:
            assert late.num_tasks() == 0


def test_stopped_host(engine: EngineWorkerQueue, grace: float) -> None:
    """Calls end within their limit and the grace. Nothing is handed to a call that has ended: see the last lines."""
    with _reader(engine) as reader:
        engine.put_tasks("kept", timeout=LIMIT_S)
        reader.num_tasks()  # the thread's connection is there: what follows is the call itself
        with stopped(host_pid(engine)):
            with pytest.raises(HostLostError, match="whether the call took effect is not known"):
                reader.get_tasks()
            with pytest.raises(HostLostError, match="given up"):
                reader.get_tasks()
            with pytest.raises(HostLostError):
                reader.exist_tasks()
            with pytest.raises(HostLostError):
                engine.put_tasks(bytes(1 << 20), timeout=0.1)  # larger than the socket's buffer
            with pytest.raises(HostLostError):
                EngineWorkerQueue(engine.address, client_id=0)
        # It goes on, and may now carry out the get that nobody waits for. It must know that the rank is lost.
        with EngineWorkerQueue(engine.address, client_id=0) as observer:
            until(lambda: observer.statistics().lost == (0,), "the host fences the reader")
            with pytest.raises(PeerLostError):
                observer.put_tasks("more", timeout=LIMIT_S)


def test_a_blocked_get_of_a_stopped_host_takes_no_later_batch(engine: EngineWorkerQueue, grace: float) -> None:
    with _reader(engine) as reader:
        reader.num_tasks()
        with stopped(host_pid(engine)), pytest.raises(HostLostError):
            reader.get_tasks(timeout=0.05)
        with EngineWorkerQueue(engine.address, client_id=0) as observer:
            until(lambda: observer.statistics().lost == (0,), "the host fences the reader")
            with _reader(engine) as again:
                observer.put_tasks("for the new reader", timeout=LIMIT_S)
                assert again.get_tasks(timeout=LIMIT_S)[0] == ["for the new reader"]


def test_cycles_of_one_port() -> None:
    """Hosts in a row at one port, ended in peace, by the owner's end with clients connected, or by SIGKILL."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as first:
        port = first.get_server_port()
    before = fds_of()
    for turn in range(CYCLES):
        with EngineWorkerQueue(("0.0.0.0", port), is_server=True) as server:
            with _reader(server) as reader:
                server.put_tasks(turn, timeout=LIMIT_S)
                assert reader.get_tasks(timeout=LIMIT_S) == ([turn], True)
                if turn % 3 == 1:
                    server.cleanup()
                elif turn % 3 == 2:
                    _kill(server)
                    with pytest.raises(HostLostError):
                        reader.get_tasks(timeout=LIMIT_S)
        assert os.listdir(os.environ["FDCOMM_RUNTIME_DIR"]) == []
    assert fds_of() <= before


def test_cycles_of_one_tcp_port() -> None:
    """Connections of the last host that wind down do not keep the port."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, transport="tcp") as first:
        port = first.get_server_port()
    for turn in range(4):
        with EngineWorkerQueue(("0.0.0.0", port), is_server=True, transport="tcp") as server:
            reader = EngineWorkerQueue(server.address, client_id=0, transport="tcp")
            server.put_tasks(turn, timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S)[0] == [turn]
            server.cleanup()  # the host closes first: its end of the connection lingers
            reader.close()


def test_clients_that_wait_find_the_host_that_comes(engine: EngineWorkerQueue) -> None:
    """A killed host's files are there, clients look all the time, and a new host starts meanwhile."""
    port = engine.get_server_port()
    _kill(engine)
    with Remote() as one, Remote() as two:
        for remote in (one, two):
            remote.ask("version")
            remote.send("open", address=["0.0.0.0", port], client_id=0, connect_timeout=LIMIT_S)
        with EngineWorkerQueue(("0.0.0.0", port), is_server=True):
            for remote in (one, two):
                assert remote.answer() == port
