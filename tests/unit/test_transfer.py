"""Transfer tasks over a real host: handlers that fail, hang and disagree, pauses, progress, statistics, endings."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    EngineCacheQueue,
    JobCancelledError,
    PauseControl,
    PeerLostError,
    RankError,
    TransferLoop,
    TransferPort,
    TransferTask,
    TransferTasks,
)
from fdcomm.errors import PayloadError, PayloadTooLargeError
from fdcomm.transfer_port import TransferResult
from tests.conformance.waiting import Background, until
from tests.unit.transfer_group import LONG_S, Group, group

__all__ = ("group",)

pytestmark = pytest.mark.multiproc


class _Unreadable:
    """It can be pickled, and not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def test_the_client_is_a_port(group: Group) -> None:
    port: TransferPort = group.tasks
    assert (port.outstanding(), port.withdraw(), port.news(0.0)) == (0, (), None)
    port.acknowledge()


def test_what_handlers_return_and_raise_is_the_result(group: Group) -> None:
    def handler(rank: int, task: TransferTask) -> Any:
        if task.payload == "unpicklable" and rank == 1:
            return lambda: None
        if task.payload == "too large" and rank == 0:
            return b"x" * (1 << 17)
        if task.payload == "unreadable" and rank == 0:
            return _Unreadable()
        if task.payload == "interrupted":
            raise JobCancelledError("by itself")
        return rank, task.kind, task.number

    group.run(handler)
    payloads = ["good", "unpicklable", "too large", "unreadable", "interrupted", _Unreadable(), None]
    for payload in payloads:
        group.tasks.issue(payload, "a")
    assert group.tasks.issue("x", "c") == 8
    results = {result.number: result for result in (group.result() for _ in range(8))}
    assert results[1] == TransferResult(1, "ok", [(0, "a", 1), (1, "a", 1)], None, ())
    assert [(results[number].outcome, results[number].ranks) for number in range(2, 9)] == [
        *(("failed", (1,)), ("failed", (0,)), ("failed", (0,)), ("failed", (0, 1)), ("failed", (0, 1))),
        *(("ok", ()), ("failed", (0, 1))),
    ]
    errors = [str(results[number].error) for number in (2, 3, 4, 5, 6, 8)]
    words = ("PayloadError", "PayloadTooLargeError", "PayloadError", "JobCancelledError: by itself", "PayloadError")
    for error, word in zip(errors, (*words, "no handler of kind 'c'; it has a, b"), strict=True):
        assert word in error
    for rank in (0, 1):
        assert [stage for r, number, _, stage in group.told if (r, number) == (rank, 1)] == ["taken", "started", "done"]


def test_a_handler_that_hangs_is_named_and_other_kinds_go_on(group: Group) -> None:
    free = threading.Event()

    def handler(rank: int, task: TransferTask) -> Any:
        if task.payload == "hang" and rank == 1:
            free.wait(LONG_S)
        return rank

    group.run(handler, limit_s=1.0)
    for payload, kind in (("hang", "a"), ("behind", "a"), ("other", "b")):
        group.tasks.issue(payload, kind)
    found = {result.number: result for result in (group.result() for _ in range(3))}
    assert found[3].outcome == "ok"
    assert [(found[number].outcome, found[number].ranks) for number in (1, 2)] == [("failed", (1,))] * 2
    assert "HandlerTimeoutError: the handler of kind 'a' has run for more than 1 s" in str(found[1].error)
    assert "with task 1; this one waited behind it" in str(found[2].error)
    assert (found[1].running, found[2].running) == ((1,), ())  # what waited was not begun
    group.tasks.issue("while it hangs", "a")
    assert group.result().ranks == (1,)
    with pytest.raises(CommTimeoutError) as late:
        group.pause.pause(timeout=0.1)
    assert late.value.missing == (1,)  # its job counts
    assert [run.number for run in group.loops[1].statistics().running] == [1]
    free.set()
    group.pause.pause(timeout=LONG_S)
    group.pause.resume(timeout=LONG_S)
    group.tasks.issue("after", "a")
    assert group.result().outcome == "ok"
    until(lambda: group.loops[1].statistics().jobs == (), "the job's end, which comes after its report")


def test_a_pause_comes_between_tasks(group: Group) -> None:
    begun, free = threading.Semaphore(0), threading.Event()

    def handler(rank: int, task: TransferTask) -> Any:
        begun.release()
        free.wait(LONG_S)
        return rank

    group.run(handler)
    group.tasks.issue("runs", "a")
    for _ in range(2):
        assert begun.acquire(timeout=LONG_S)
    pausing = Background(lambda: group.pause.pause(timeout=LONG_S))
    until(lambda: group.pause.statistics().phase == "pause", "the order")
    until(lambda: group.pause.statistics().behind == (), "both ranks have it, and shut their gates")
    waits = group.tasks.issue("waits", "b")
    free.set()
    pausing.value()
    view = group.tasks.statistics()
    assert (view.started, view.queued, view.results) == ((), (waits,), 1)
    assert group.result().outcome == "ok"
    assert group.tasks.withdraw() == (waits,)
    assert group.result() == TransferResult(
        waits, "cancelled", None, "withdrawn before it started; no rank does it", ()
    )
    again = group.tasks.issue("again", "b")
    group.pause.resume(timeout=LONG_S)
    assert (group.result().number, group.tasks.outstanding()) == (again, 1)
    group.tasks.acknowledge()
    assert group.tasks.outstanding() == 0


def test_an_abort_ends_what_can_end(group: Group) -> None:
    begun = threading.Semaphore(0)

    def handler(rank: int, task: TransferTask) -> Any:
        begun.release()
        until(lambda: task.cancelled, "the abort")
        task.checkpoint()

    group.run(handler)
    group.tasks.issue("runs", "a")
    for _ in range(2):
        assert begun.acquire(timeout=LONG_S)
    group.tasks.issue("behind", "a")
    until(lambda: len(group.tasks.statistics().started) == 2, "the second start")
    group.pause.pause("abort", timeout=LONG_S)
    results = [group.result(), group.result()]
    assert [(result.outcome, result.ranks) for result in results] == [("failed", (0, 1))] * 2
    assert all("JobCancelledError" in str(result.error) for result in results)
    group.pause.resume(timeout=LONG_S)


def test_a_rank_that_leaves_is_waited_for(group: Group) -> None:
    group.run(lambda rank, task: rank)
    group.loops[1].close(timeout=LONG_S)
    with pytest.raises(ClosedError):
        group.loops[1].step(timeout=0)
    number = group.tasks.issue("waits", "a")
    until(lambda: group.tasks.statistics().away == (1,), "the leave")
    assert group.tasks.result(0.0) is None
    queue = group.queue(1)
    with PauseControl(queue, rank=True) as control, TransferLoop(queue, control, {"a": lambda task: "back"}) as loop:
        assert loop.step(timeout=LONG_S) == number
        assert group.result().value == [0, "back"]


def test_a_rank_that_is_gone_before_its_first_step_is_missed(group: Group) -> None:
    silent = EngineCacheQueue(group.server.address, num_client=2, client_id=1)
    silent.get_transfer_task()
    number = group.tasks.issue("a", "a")
    silent._release(goodbye=False)
    result = group.result()
    assert (result.number, result.outcome, result.ranks) == (number, "failed", (1,))
    with pytest.raises(PeerLostError) as refused:
        group.tasks.issue("b", "a")
    assert refused.value.missing == (1,)
    group.queue(1)  # Reappear
    group.tasks.issue("c", "a")
    assert group.tasks.statistics().away == (0, 1)


def test_a_full_queue_is_waited_for_and_other_clients_are_not_concerned(group: Group) -> None:
    other = TransferTasks(group.queue(0, "producer"))
    for payload in "ab":
        other.issue(payload, "a")
    mine = group.tasks.issue("mine", "a")
    assert group.tasks.withdraw() == (mine,)
    assert other.result(0.0) is None
    assert group.tasks.abandon(1) is False
    assert group.tasks.clear() == (1, 2)
    first = other.result(0.0)
    assert first is not None
    assert (first.number, first.outcome) == (1, "cancelled")
    with pytest.raises(PayloadError):
        group.tasks.issue(lambda: None, "a")
    with pytest.raises(PayloadTooLargeError):
        group.tasks.issue(b"x" * (1 << 17), "a")


def test_progress_that_raises_ends_the_loop_and_the_task_is_done(group: Group) -> None:
    queue = group.queue(0)
    other = group.queue(1)

    def progress(number: int, kind: str, stage: str) -> None:
        raise LookupError(stage)

    with PauseControl(queue, rank=True) as control, PauseControl(other, rank=True) as second:
        loop = TransferLoop(queue, control, {"a": lambda task: 0}, progress=progress)
        with TransferLoop(other, second, {"a": lambda task: 1}) as rank1:
            loop.step(timeout=0)
            rank1.step(timeout=0)
            group.tasks.issue("x", "a")
            running = Background(lambda: rank1.step(timeout=LONG_S))
            loop.step(timeout=LONG_S)
            assert running.value() == 1
            assert group.result().value == [0, 1]
            with pytest.raises(LookupError, match="taken"):
                loop.run()
            loop.close(timeout=LONG_S)


def test_bad_arguments_are_refused(group: Group) -> None:
    queue, producer = group.queue(0), group.queue(0, "producer")
    with pytest.raises(RankError):
        TransferLoop(group.server, group.pause, {})
    with pytest.raises(RankError):
        TransferLoop(producer, group.pause, {"a": str}).step(timeout=0)
    with PauseControl(queue, rank=True) as control:
        with pytest.raises(ConfigError):
            TransferLoop(queue, control, {}, limit_s=0)
        with pytest.raises(ConfigError):
            TransferLoop(queue, control, {}).step(timeout=-1)
        TransferLoop(queue, control, {}).step(timeout=0)
        with pytest.raises(DuplicateRankError):
            TransferLoop(group.queue(0), control, {}).step(timeout=0)
    with pytest.raises(ConfigError):
        group.tasks.issue("x", "a", timeout=-1)
