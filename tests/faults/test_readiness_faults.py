"""SIGKILL, SIGSTOP and fork around readiness: a typed error or progress, and clean afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fdcomm import (
    CommTimeoutError,
    EngineWorkerQueue,
    HostLostError,
    PeerLostError,
    Readiness,
)
from tests.conformance.waiting import Background
from tests.faults.forked import refused_in_a_child
from tests.faults.readiness_parts import health, parts, server
from tests.faults.remote import LIMIT_S, host_pid, stopped, until
from tests.races.pipes import ROOT, read_line

__all__ = ("parts", "server")

pytestmark = pytest.mark.multiproc


@contextmanager
def _process(server: EngineWorkerQueue, rank: int, limit: float = LIMIT_S) -> Iterator[subprocess.Popen[bytes]]:
    port = str(server.get_server_port())
    command = [sys.executable, "-m", "tests.races.readiness_child", port, "cache", str(rank), str(limit)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as child:
        try:
            assert read_line(child) == "ready"
            yield child
        finally:
            child.kill()


def test_a_part_that_is_killed_is_lost_and_its_successor_is_ready(
    server: EngineWorkerQueue, parts: list[Readiness]
) -> None:
    engine = Readiness(server)
    parts[0].ready("cache")
    with _process(server, 1) as child:
        engine.wait("cache", timeout=LIMIT_S)
        seen = engine.statistics()
        child.kill()
        until(lambda: health(server, 1) == "lost", "the loss")
        assert engine.watch(seen, timeout=LIMIT_S)["changes"] > seen["changes"]
    with pytest.raises(PeerLostError) as caught:
        engine.check("cache")
    assert (caught.value.missing, caught.value.request) == ((1,), (("cache", 1, "lost"),))
    patient = Background(lambda: engine.wait("cache", timeout=LIMIT_S, restarts=True))
    with _process(server, 1):
        assert patient.error() is None
        assert [part.incarnation for part in engine.health()[:2]] == [1, 2]


def test_a_part_that_is_stopped_is_stuck_and_recovers(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    engine = Readiness(server)
    parts[0].ready("cache")
    with _process(server, 1, limit=0.4) as child:
        engine.wait("cache", timeout=LIMIT_S)
        with stopped(child.pid):
            until(lambda: health(server, 1) == "stuck", "the stall")
            with pytest.raises(CommTimeoutError, match="cache 1 is stuck") as caught:
                engine.check("cache")
            assert caught.value.request == (("cache", 1, "stuck"),)
            waiting = Background(lambda: engine.wait("cache", timeout=LIMIT_S))
            seen = engine.statistics()
            assert waiting.is_running()
        assert waiting.error() is None
        assert engine.watch(seen, timeout=LIMIT_S)["changes"] > seen["changes"]
        assert health(server, 1) == "ready"


KILLED_AT = ["Begin.enter", "Fail.enter", "Leave.enter", "Ready.enter", "Wait.enter"]
KILLED_AT += ["Fail.done", "Join.done", "Leave.done", "Ready.done", "Wait.done", "Withdraw.done"]


@pytest.mark.parametrize("point", KILLED_AT)
def test_the_host_is_killed_at_a_point(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDCOMM_FAULTS", f"{point}=kill")
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
        engine = Readiness(server)
        engine.declare([("cache", 1), ("other", 1)])
        with EngineWorkerQueue(server.address, num_client=1, client_id=0) as queue:
            part = Readiness(queue, limit=None)
            waiting = Background(lambda: engine.wait("other", timeout=LIMIT_S, restarts=True))

            def come() -> None:
                part.starting("cache")
                if point.startswith("Fail"):
                    part.failed("on purpose")
                part.ready()
                part.withdraw("on purpose")
                part.leave()

            coming = Background(come)
            assert isinstance(waiting.error(), HostLostError)
            assert isinstance(coming.error(), (HostLostError, type(None)))


def test_the_host_dies_while_all_wait(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    engine = Readiness(server)
    beating = Readiness(parts[0]._queue)
    beating.ready("cache")
    calls = [
        Background(lambda: engine.wait("cache", timeout=LIMIT_S)),
        Background(lambda: engine.wait("worker", timeout=LIMIT_S, progress=lambda parts: None)),
        Background(lambda: engine.watch(engine.statistics(), timeout=LIMIT_S)),
    ]
    until(lambda: engine.statistics()["waits"] == 2, "the waits")
    os.kill(host_pid(server), signal.SIGKILL)
    for call in calls:
        assert isinstance(call.error(), HostLostError)

    def lost() -> bool:
        try:
            beating.beat()
        except HostLostError:
            return True
        return False

    until(lost, "the loop notices that the host is gone")


def test_a_forked_child_is_no_part(server: EngineWorkerQueue, parts: list[Readiness]) -> None:
    parts[0].ready("cache")
    assert refused_in_a_child(parts[0].beat, parts[0].ready, parts[0].health) == 3
    assert health(server, 0) == "ready"
