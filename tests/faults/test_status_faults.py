"""SIGKILL, SIGSTOP, fork and bad input around clears and updates: a typed error or progress, and clean afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineWorkerQueue,
    FdcommError,
    HostLostError,
    ProtocolViolationError,
    StatusBusyError,
    StatusCoordinator,
    StatusPart,
    http_code,
)
from fdcomm.errors import SignalNotFoundError
from tests.conformance.waiting import Background
from tests.faults.forked import refused_in_a_child
from tests.faults.remote import LIMIT_S, host_pid, stopped, until
from tests.faults.status_parts import done, parts, server

__all__ = ("parts", "server")

pytestmark = pytest.mark.multiproc


@contextmanager
def _process(module: str, server: EngineWorkerQueue, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", module, str(server.get_server_port()), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline()
            yield child
        finally:
            child.kill()


def _view(server: EngineWorkerQueue) -> dict[str, Any]:
    return StatusCoordinator(server).statistics()


def test_a_part_that_is_killed_fails_the_request_and_its_successor_makes_it_good(
    server: EngineWorkerQueue, parts: list[StatusPart]
) -> None:
    coordinator = StatusCoordinator(server)
    parts[0].take()
    with _process("tests.traces.status_part", server, "kv_cache", "1") as child:
        with stopped(child.pid):
            asking = Background(lambda: coordinator.clear(timeout=LIMIT_S))
            order = parts[0].take(timeout=LIMIT_S)
            assert order is not None
            order.done()
            child.kill()
        result = asking.value()
    assert [(report.part, report.reason) for report in result.failed] == [(1, "its process is gone")]
    assert done(Background(lambda: coordinator.clear(timeout=LIMIT_S)), parts).ok
    assert done(Background(lambda: coordinator.update(timeout=LIMIT_S)), parts).ok


def test_a_part_that_is_stopped_is_waited_for_and_named(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator = StatusCoordinator(server)
    parts[0].take()
    with _process("tests.traces.status_part", server, "kv_cache", "1") as child:
        with stopped(child.pid):
            asking = Background(lambda: coordinator.clear(timeout=0.5))
            order = parts[0].take(timeout=LIMIT_S)
            assert order is not None
            order.done()
            error = asking.error()
            assert isinstance(error, CommTimeoutError)
            assert "kv_cache: part 1" in str(error)
        assert done(Background(lambda: coordinator.clear(timeout=LIMIT_S)), parts[:1]).ok


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_who_asks_is_gone(server: EngineWorkerQueue, parts: list[StatusPart], end: str) -> None:
    coordinator = StatusCoordinator(server)
    for part in parts:
        part.take()
    with _process("tests.faults.status_asker", server) as asker:
        until(lambda: _view(server)["open"] == "clear", "the request")
        if end == "killed":
            asker.kill()
            until(lambda: _view(server)["open"] is None, "the end of the request")
        else:
            with stopped(asker.pid):
                with pytest.raises(StatusBusyError) as caught:
                    coordinator.update(timeout=LIMIT_S)
                assert http_code(caught.value, "update") == 403
                for part in parts:
                    order = part.take(timeout=LIMIT_S)
                    assert order is not None
                    order.done()
            assert asker.stdout is not None
            assert asker.stdout.readline() == "done\n"
    assert done(Background(lambda: coordinator.update(timeout=LIMIT_S)), parts).ok


@pytest.mark.parametrize("point", ["Ask.done", "Take.done", "Report.done", "Settle.done", "Finish.done"])
def test_the_host_is_killed_at_a_point(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDCOMM_FAULTS", f"{point}=kill")
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
        coordinator = StatusCoordinator(server)
        coordinator.declare([("kv_cache", 0, 1)])
        with EngineWorkerQueue(server.address, num_client=1, client_id=0) as queue:
            asking = Background(lambda: coordinator.clear(timeout=LIMIT_S))
            part = Background(lambda: _serve_once(StatusPart(queue, "kv_cache")))
            assert isinstance(asking.error(), HostLostError)
            assert isinstance(part.error(), (HostLostError, type(None)))


def _serve_once(part: StatusPart) -> None:
    order = part.take(timeout=LIMIT_S)
    assert order is not None
    order.done()
    part.take(timeout=LIMIT_S)


def test_the_host_dies_while_all_wait(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator = StatusCoordinator(server)
    taken = Background(lambda: parts[1].take(timeout=LIMIT_S))
    asking = Background(lambda: coordinator.clear(timeout=LIMIT_S))
    assert taken.value() is not None
    watching = Background(lambda: coordinator.watch(_view(server), timeout=LIMIT_S))
    waiting = Background(lambda: coordinator.word("kv_cache").wait_for(0, timeout=LIMIT_S))
    os.kill(host_pid(server), signal.SIGKILL)
    for call in (asking, watching, waiting):
        assert isinstance(call.error(), HostLostError)
    with pytest.raises(HostLostError):
        parts[0].take()


def test_a_forked_child_has_no_part(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    parts[0].take()
    assert refused_in_a_child(parts[0].take) == 1
    assert _view(server)["components"]["kv_cache"]["live"] == [0]


def test_bad_input_changes_nothing(server: EngineWorkerQueue, parts: list[StatusPart]) -> None:
    coordinator = StatusCoordinator(server)
    before = coordinator.statistics()
    wrong: list[tuple[type[FdcommError], Callable[[], object]]] = [
        (ConfigError, lambda: coordinator.declare([("kv_cache", 0, 3)])),
        (ConfigError, lambda: coordinator.declare([("kv_cache", -1, 2)])),
        (ConfigError, lambda: coordinator.declare("kv_cache")),  # type: ignore[arg-type]
        (ConfigError, lambda: coordinator.clear(timeout=-1)),
        (ConfigError, lambda: coordinator.word("nothing").value),
        (ConfigError, lambda: coordinator.mirror("nothing", "kv_cache_status")),
        (SignalNotFoundError, lambda: coordinator.mirror("kv_cache", "no_such_signal", suffix="status-faults")),
        (ConfigError, lambda: StatusPart(server, "nothing", 0).take()),
        (ConfigError, lambda: StatusPart(server, "kv_cache", 2).take()),
        (ProtocolViolationError, lambda: parts[0]._report(1, True, "")),
        (ProtocolViolationError, lambda: server._act("status", "report_all")),
        (CommTimeoutError, lambda: coordinator.word("kv_cache").wait_for(-2, timeout=0.01)),
    ]
    for kind, call in wrong:
        with pytest.raises(kind):
            call()
    assert coordinator.statistics() == before
    parts[0].take()
    with pytest.raises(DuplicateRankError):
        StatusPart(server, "kv_cache", 0).take()
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as other:
        for call in (StatusCoordinator(other).clear, StatusCoordinator(other).statistics):
            with pytest.raises(ConfigError, match="declare"):
                call()


def test_a_mirror_shows_the_word_and_its_loss_hurts_nobody(
    server: EngineWorkerQueue, parts: list[StatusPart], tmp_path: Any
) -> None:
    np = pytest.importorskip("numpy")
    from fdcomm import IPCSignal

    coordinator, folder = StatusCoordinator(server), str(tmp_path)
    signal_ = IPCSignal("kv_cache_status", np.zeros(1, np.int32), np.int32, suffix=7, directory=folder)
    coordinator.mirror("kv_cache", "kv_cache_status", 7, directory=folder)
    assert done(Background(lambda: coordinator.clear(timeout=LIMIT_S)), parts).ok
    assert signal_.value is not None
    assert signal_.value[0] == -2
    assert coordinator.statistics()["mirrors"]["kv_cache"]["problem"] == ""
    signal_.clear()
    assert done(Background(lambda: coordinator.update(timeout=LIMIT_S)), parts).ok
    assert "mirror it again" in coordinator.statistics()["mirrors"]["kv_cache"]["problem"]
    with IPCSignal("kv_cache_status", np.full(1, 9, np.int32), np.int32, suffix=7, directory=folder) as again:
        coordinator.mirror("kv_cache", "kv_cache_status", 7, directory=folder)
        assert again.value is not None
        assert again.value[0] == 0
