"""SIGKILL, SIGSTOP, fork and the host's death during transfers: one result for each task, and the others go on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from fdcomm import EngineCacheQueue, HostLostError, PauseControl, PeerLostError
from fdcomm.transfer import TransferLoop
from fdcomm.transfer_port import TransferResult, TransferSettled
from fdcomm.transfer_tasks import TransferTasks
from tests.conformance.waiting import Background
from tests.faults.forked import refused_in_a_child
from tests.faults.json_child import child_of, heard, tell
from tests.faults.remote import LIMIT_S, NIGHTLY, host_pid, stopped, until

_child = partial(child_of, "tests.faults.transfer_child")


@pytest.fixture
def server() -> Iterator[EngineCacheQueue]:
    """A host for two ranks."""
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        yield queue


@pytest.fixture
def zero(server: EngineCacheQueue) -> Iterator[TransferLoop]:
    """The loop of rank 0, in a thread of this process."""
    made: list[TransferLoop] = []
    over = threading.Event()

    def body() -> None:
        with (
            EngineCacheQueue(server.address, num_client=2, client_id=0) as queue,
            PauseControl(queue, rank=True) as control,
            TransferLoop(queue, control, dict.fromkeys(("swap", "store"), lambda task: task.payload)) as loop,
        ):
            made.append(loop)
            loop.run(over.is_set)

    running = Background(body)
    until(lambda: made, "the loop")
    yield made[0]
    over.set()
    assert isinstance(running.error(), (HostLostError, type(None)))


def _ended(tasks: TransferTasks) -> tuple[str, tuple[int, ...]]:
    result = tasks.result(LIMIT_S)
    assert result is not None
    tasks.acknowledge()
    assert tasks.outstanding() == 0
    return result.outcome, result.ranks


def _failed(tasks: TransferTasks) -> TransferResult:
    result = tasks.result(LIMIT_S)
    assert result is not None
    assert result.outcome == "failed"
    tasks.acknowledge()
    return result


@pytest.mark.parametrize("stage", ["taken", "started", "done", "never"] if NIGHTLY else ["taken", "done", "never"])
def test_a_rank_is_killed_in_the_middle_of_a_task(server: EngineCacheQueue, zero: TransferLoop, stage: str) -> None:
    tasks = TransferTasks(server)
    with _child(server, rank=1, die=stage) as child:
        tasks.issue("never" if stage == "never" else "a", "swap")
        if stage == "never":
            assert heard(child) == "doing"
            queued = tasks.issue("b", "store")  # another kind: it starts, and the rank may have done it
            child.kill()
            assert queued == 2
            ended = [tasks.result(LIMIT_S), tasks.result(LIMIT_S)]
            found = {result.number: result for result in ended if result is not None}
            assert (found[1].outcome, found[1].ranks) == ("failed", (1,))
            assert "rank 1" in str(found[1].error)
            tasks.acknowledge()
        else:
            assert _ended(tasks) == (("ok", ()) if stage == "done" else ("failed", (1,)))
        until(lambda: tasks.statistics().lost == (1,), "the loss")
    with pytest.raises(PeerLostError) as refused:
        tasks.issue("nobody can start it", "swap")
    assert refused.value.missing == (1,)
    with _child(server, rank=1):
        tasks.issue("again", "swap")
        assert _ended(tasks) == ("ok", ())


def test_tasks_that_wait_fail_when_a_rank_is_killed(server: EngineCacheQueue) -> None:
    tasks = TransferTasks(server)
    with _child(server, rank=1) as child:  # rank 0 is not there, so nothing starts
        for payload in "ab":
            tasks.issue(payload, "swap")
        child.kill()
        results = [tasks.result(LIMIT_S), tasks.result(LIMIT_S)]
    assert [(result.number, result.outcome, result.ranks) for result in results if result is not None] == [
        (1, "failed", (1,)),
        (2, "failed", (1,)),
    ]


def test_a_rank_that_is_stopped_is_not_waited_for_any_longer(server: EngineCacheQueue, zero: TransferLoop) -> None:
    tasks, control = TransferTasks(server), PauseControl(server)
    with _child(server, rank=1) as child:
        number = tasks.issue("long", "swap")
        assert heard(child) == "doing"
        with stopped(child.pid):
            assert tasks.result(0.1) is None
            assert tasks.statistics().started == ((number, "swap", (1,)),)
            assert tasks.abandon(number)
            assert _failed(tasks).running == (1,)
            assert tasks.settled(0.1) is None
        waiting = Background(lambda: control.pause(timeout=LIMIT_S))
        until(lambda: control.statistics().missing == (1,), "the job counts until it ends")
        tell(child, "end")  # the report is late, and tells that the task has settled
        assert tasks.settled(LIMIT_S) == number
        control.resume(waiting.value(), timeout=LIMIT_S)
        tasks.issue("next", "swap")
        assert _ended(tasks) == ("ok", ())


@pytest.mark.parametrize("ends", ["returns", "is killed"])
def test_a_handler_over_its_limit_has_settled_when_it(server: EngineCacheQueue, zero: TransferLoop, ends: str) -> None:
    tasks = TransferTasks(server)
    with _child(server, rank=1, limit_s=0.3) as child:
        number = tasks.issue("long" if ends == "returns" else "never", "swap")
        assert heard(child) == "doing"
        result = _failed(tasks)
        assert (result.number, result.ranks, result.running) == (number, (1,), (1,))
        assert "HandlerTimeoutError" in str(result.error)
        assert tasks.settled(0.1) is None
        assert tasks.statistics().unsettled == ((number, (1,)),)
        if ends == "returns":
            tell(child, "end")
        else:
            child.kill()
        assert tasks.news(LIMIT_S) == TransferSettled(number)
        assert tasks.statistics().unsettled == ()
        assert tasks.statistics().lost == (() if ends == "returns" else (1,))


def test_a_task_that_is_not_waited_for_has_settled_when_its_last_rank_is_killed(
    server: EngineCacheQueue, zero: TransferLoop
) -> None:
    tasks = TransferTasks(server)
    with _child(server, rank=1) as child:
        number = tasks.issue("never", "swap")
        assert heard(child) == "doing"
        until(lambda: tasks.statistics().started == ((number, "swap", (1,)),), "the report of rank 0")
        assert tasks.abandon(number)
        assert _failed(tasks).running == (1,)
        child.kill()
        assert tasks.settled(LIMIT_S) == number


def test_what_a_killed_client_has_issued_is_cancelled(server: EngineCacheQueue) -> None:
    watcher = TransferTasks(server)
    with _child(server, issue=["a", "b"]) as child:
        assert watcher.statistics().waiting == 2
        child.kill()
        until(lambda: watcher.statistics().waiting == 0, "the end of its tasks")
    assert watcher.result(0.0) is None


def test_the_host_dies_while_tasks_run(server: EngineCacheQueue, zero: TransferLoop) -> None:
    tasks, pid = TransferTasks(server), host_pid(server)  # type: ignore[arg-type]
    with _child(server, rank=1) as child:
        tasks.issue("long", "swap")
        assert heard(child) == "doing"
        waiting = Background(lambda: tasks.result(None))
        os.kill(pid, signal.SIGKILL)
        assert isinstance(waiting.error(), HostLostError)
        with pytest.raises(HostLostError):
            tasks.issue("b", "swap")
        tell(child, "end")
        assert child.wait(LIMIT_S) != 0  # its loop has raised


def test_a_forked_child_is_told(server: EngineCacheQueue, zero: TransferLoop) -> None:
    assert refused_in_a_child(lambda: zero.step(timeout=0)) == 1
