"""SIGKILL of ranks, of clients and of the host at every point of pauses, and SIGSTOP: nobody else is held up."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest

from fdcomm import (
    CommTimeoutError,
    EngineCacheQueue,
    HostLostError,
    PauseControl,
    PauseEndedError,
)
from fdcomm.testing.faults import VARIABLE
from tests.conformance.waiting import Background, until
from tests.faults.remote import LIMIT_S, NIGHTLY, ROOT, is_gone, stopped
from tests.races import nursery
from tests.soak.nursery import soak_nursery

__all__ = ("soak_nursery",)

CALL = ("call.send", "call.sent", "call.received")
HOST = (
    *("Join.done", "Leave.done", "Fence.done", "Take.done", "Quiet.enter", "Quiet.done", "CallPause.done"),
    *("PauseReturns.done", "PauseEnded.done", "CallResume.done", "CancelPause.done", "ResumeReturns.done"),
    *("GiveUp.done", "Hold.done", "LetGo.done"),
)


@pytest.fixture(autouse=True)
def _threads_end(nothing_is_left: None) -> Iterator[None]:
    """Before files are counted: the thread of a rank ends a moment after its control, and its connection with it."""
    before = set(threading.enumerate())
    yield
    until(lambda: set(threading.enumerate()) <= before, "threads end")


class Group:
    """A host, rank 1 in this process, and a client; rank 0 and another client are processes that die."""

    def __init__(self, undo: ExitStack) -> None:
        self.server = undo.enter_context(EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2))
        self._one = undo.enter_context(EngineCacheQueue(self.server.address, num_client=2, client_id=1))
        self.one = undo.enter_context(PauseControl(self._one, rank=True))
        self.api = PauseControl(self.server)
        for queue in (self.server, self._one):
            queue.statistics()  # opens this thread's connection

    @contextmanager
    def child(self, who: str, point: str, hit: int = 1) -> Iterator[nursery.Born]:
        """A process of ``pause_child``."""
        child = nursery.born("tests.faults.pause_child", str(self.server.get_server_port()), who, point, str(hit))
        with child.stdin, child.stdout:
            try:
                yield child
            finally:
                child.kill()
                child.wait()

    def check(self) -> None:
        """Nobody holds or waits; whoever is a rank now works, pauses and resumes, as if nothing had been."""
        until(lambda: (self.api.statistics().holders, self.api.statistics().waiting) == (0, 0), "the client is fenced")
        with EngineCacheQueue(self.server.address, num_client=2, client_id=0) as queue:
            with PauseControl(queue, rank=True) as zero:
                self.api.pause(timeout=LIMIT_S)
                for rank in (zero, self.one):
                    with pytest.raises(CommTimeoutError):
                        rank.admit(timeout=0)
                self.api.resume(timeout=LIMIT_S)
                for rank in (zero, self.one):
                    rank.admit(timeout=0).done()


@pytest.fixture(scope="module")
def group() -> Iterator[Group]:
    """One host for all kills: each has to leave it as it was."""
    with ExitStack() as undo:
        yield Group(undo)


def _pid(server: EngineCacheQueue) -> int:
    assert server._host is not None
    return server._host.pid


def _word(child: nursery.Born) -> str:
    return str(child.stdout.readline().decode().strip())


# -- ranks -----------------------------------------------------------------------------------------------------------

# Two connections and the session, the join, its thread's connection and its questions, the report, the leave. An answer
# may come after the end.
_HITS = {point: range(1, 10 if point == "call.received" else 11, 1 if NIGHTLY else 2) for point in CALL}


@pytest.mark.parametrize(("point", "hit"), [(point, hit) for point, hits in _HITS.items() for hit in hits])
def test_a_rank_is_killed_at_each_of_its_calls(group: Group, point: str, hit: int) -> None:
    with group.child("rank", point, hit) as child:
        _word(child)
        with group.api.paused("keep", timeout=LIMIT_S):
            seen = group.api.statistics()
            assert (seen.paused, seen.missing) == (True, ())
        assert _word(child) == "", "it was not killed"
        child.wait()
    group.check()


@pytest.mark.parametrize("point", CALL)
def test_a_rank_passes_all_these_points(group: Group, point: str) -> None:
    with group.child("rank", point, 10_000) as child:
        assert _word(child) == "admitted"
        with group.api.paused("keep", timeout=LIMIT_S):
            pass
        said, _, count = _word(child).partition(" ")
        assert said == "passed"
        assert int(count) in (9, 10)
    group.check()


@pytest.mark.parametrize("mode", ["drain", "keep"])
def test_a_rank_is_killed_while_a_pause_waits_for_its_job(group: Group, mode: Any) -> None:
    with group.child("rank", CALL[0], 10_000) as child:
        assert _word(child) == "admitted"
        mine = group.one.admit()
        pausing = Background(lambda: group.api.pause(mode, timeout=LIMIT_S))
        child.kill()
        until(lambda: group.api.statistics().missing == (1,), "only the living rank is missing")
        mine.done()
        group.api.resume(pausing.value(), timeout=LIMIT_S)
        assert group.api.statistics().lost == (0,)
    group.check()


# -- clients ---------------------------------------------------------------------------------------------------------


# What a client does, which of its calls (hold, let go; pause and hold, let go, resume), and the phase after that call.
_CLIENTS = [
    *(("pause", 1, "pause"), ("resume", 1, "run"), ("cancel_pause", 1, "run"), ("statistics", 1, "run")),
    *(("held", 1, "pause"), ("held", 2, "pause"), ("clear", 1, "pause"), ("clear", 2, "pause"), ("clear", 3, "run")),
]


@pytest.mark.parametrize("point", CALL)
@pytest.mark.parametrize(("what", "hit", "phase"), _CLIENTS)
def test_a_client_is_killed_at_a_call(group: Group, what: str, hit: int, phase: str, point: str) -> None:
    job = group.one.admit() if what == "cancel_pause" else None
    if what in ("resume", "held"):
        group.api.pause(timeout=LIMIT_S)
    pausing = Background(lambda: group.api.pause(timeout=LIMIT_S)) if job is not None else None
    until(lambda: (group.api.statistics().phase == "pause") == (what in ("resume", "held", "cancel_pause")), "phase")
    with group.child(what, point, hit) as child:
        assert _word(child) == "ready"
        child.stdin.write(b"\n\n")
        said = list(iter(lambda: _word(child), ""))
        assert "done" not in said, "it was not killed"
        child.wait()
    if point == "call.received":
        assert group.api.statistics().phase == phase
    assert not said or hit > 1
    if job is not None and pausing is not None:
        assert isinstance(pausing.error(), PauseEndedError) if point == "call.received" else True
        job.done()
        pausing.error()
    group.check()


@pytest.mark.parametrize("what", ["pause", "clear"])
def test_a_client_is_killed_while_it_waits(group: Group, what: str) -> None:
    """Its pause stays ordered, and is another's to resume."""
    with group.one.admit(), group.child(what, CALL[2]) as child:
        assert _word(child) == "ready"
        child.stdin.write(b"\n")
        until(lambda: group.api.statistics().waiting == 1, "it waits")
        child.kill()
        until(lambda: group.api.statistics().waiting == 0, "the end of its wait")
        seen = group.api.statistics()
        assert (seen.phase, seen.missing, seen.holders) == ("pause", (1,), 0)
    group.check()


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_client_is_gone_while_it_holds_the_pause(group: Group, end: str) -> None:
    group.api.pause(timeout=LIMIT_S)
    lost = group.api.statistics().lost_holds
    with group.child("held", CALL[0], 10_000) as child:
        assert _word(child) == "ready"
        child.stdin.write(b"\n")
        assert _word(child) == "holds"
        resuming = Background(lambda: group.api.resume(timeout=LIMIT_S))
        with stopped(child.pid):
            with pytest.raises(CommTimeoutError, match="hold"):
                group.api.resume(timeout=0)
            if end == "killed":
                child.kill()
                resuming.value()
        if end == "stopped":
            child.stdin.write(b"\n")
            resuming.value()
            assert _word(child) == "done"
    assert group.api.statistics().lost_holds - lost == (end == "killed")
    group.check()


# -- the host --------------------------------------------------------------------------------------------------------


def _use(server: EngineCacheQueue, undo: ExitStack, jobs: list[Any]) -> None:
    """Pass every point of the host's part, until the host dies under it."""

    def open_(rank: int) -> EngineCacheQueue:
        queue = EngineCacheQueue(server.address, num_client=2, client_id=rank)
        undo.callback(partial(queue._release, goodbye=False))
        return queue

    api = PauseControl(server)
    zero, last = PauseControl(open_(0), rank=True), open_(1)
    one = PauseControl(last, rank=True)
    jobs.append(zero.admit())
    with contextlib.suppress(CommTimeoutError):
        api.pause(timeout=0)
    waiting = Background(lambda: api.pause(timeout=None))
    until(lambda: api.statistics().waiting == 1 or not waiting.is_running(), "the pause waits")
    api.cancel_pause()
    error = waiting.error()
    if not isinstance(error, PauseEndedError):
        raise error or AssertionError("the pause came although it was cancelled")
    jobs.pop().done()
    with api.paused():
        jobs.append(None)
    jobs[:] = [zero.admit()]
    one.close()
    PauseControl(last, rank=True)
    last._release(goodbye=False)
    until(lambda: api.statistics().lost == (1,), "the fence")


@pytest.mark.parametrize("point", HOST)
def test_the_host_is_killed_at(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{point}=kill")
    jobs: list[Any] = []
    with ExitStack() as undo:
        server = EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2)
        undo.callback(server.close)
        monkeypatch.delenv(VARIABLE)
        with pytest.raises(HostLostError):
            _use(server, undo, jobs)
        for job in filter(None, jobs):
            until(lambda job=job: job.cancelled, "the rank sees that nobody can stop it")  # type: ignore[misc]
            with pytest.raises(HostLostError):
                job._jobs.admit(0.0)
            job.done()
            job._jobs.close()
        until(lambda: is_gone(_pid(server)), "the host ends")


def test_every_point_of_the_channel_is_in_the_list() -> None:
    text = (ROOT / "fdcomm" / "host" / "pause_channel.py").read_text(encoding="utf-8")
    named = set(re.findall(r'point\("([\w.]+)"\)', text))
    named |= {f"{name}.done" for name in re.findall(r'_(?:record|answer|call)\((?:client, )?"(\w+)"', text)}
    assert named | {"Join.done", "Fence.done"} == set(HOST)  # these two are in what all channels share


def test_the_host_is_stopped(group: Group) -> None:
    """Jobs need it only to begin or end a pause; what waits for it goes on with it."""
    calls: list[Callable[[], Any]] = [
        lambda: group.api.pause(timeout=LIMIT_S),
        lambda: group.api.clear(lambda: None, timeout=LIMIT_S),
    ]
    for call in calls:
        with stopped(_pid(group.server)):
            group.one.admit(timeout=0).done()
            waiting = Background(call)
            assert waiting.is_running()
        waiting.value()
        group.api.resume()
    group.check()


def test_the_host_is_killed_while_everybody_waits() -> None:
    with ExitStack() as undo:
        group = Group(undo)
        job = group.one.admit()
        waits = [Background(lambda: group.api.pause(timeout=None)), Background(lambda: group.api.clear(lambda: None))]
        until(lambda: group.api.statistics().waiting == 2, "both wait")
        until(lambda: group.api.statistics().behind == (), "the gate shuts")
        waits.append(Background(lambda: group.one.admit(timeout=None)))
        watched = Background(lambda: group.api.pause(timeout=None, progress=lambda seen: None, every=0.01))
        os.kill(_pid(group.server), signal.SIGKILL)
        for wait in (*waits, watched):
            assert isinstance(wait.error(), HostLostError)
        until(lambda: job.cancelled, "the rank sees it")
        job.done()
