"""What a failed task writes to is its client's again when no rank is at it: news, order, statistics, waits."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fdcomm import ConfigError, TransferTask
from fdcomm.transfer_port import TransferResult, TransferSettled
from fdcomm.transfer_tasks import TransferStatistics
from tests.conformance.waiting import Background, until
from tests.unit.transfer_group import LONG_S, Group, group

__all__ = ("group",)

pytestmark = pytest.mark.multiproc


class _Slow:
    """A handler that, for the payload "hang", is at its target until it is let go, on the given ranks."""

    def __init__(self, *ranks: int) -> None:
        self.ranks = ranks
        self.free = threading.Event()
        self.begun = threading.Semaphore(0)
        self.writing: set[tuple[int, int]] = set()

    def __call__(self, rank: int, task: TransferTask) -> Any:
        self.writing.add((rank, task.number))
        self.begun.release()
        if task.payload == "hang" and rank in self.ranks:
            self.free.wait(LONG_S)
        self.writing.discard((rank, task.number))
        return rank


def test_a_handler_that_returns_after_its_limit_settles(group: Group) -> None:
    slow = _Slow(1)
    group.run(slow, limit_s=1.0)
    number = group.tasks.issue("hang", "a")
    result = group.tasks.news(LONG_S)
    assert isinstance(result, TransferResult)
    assert (result.outcome, result.ranks, result.running) == ("failed", (1,), (1,))
    assert (1, number) in slow.writing
    view = group.tasks.statistics()
    assert (view.started, view.unsettled) == ((), ((number, (1,)),))
    assert (group.tasks.settled(0.0), group.tasks.news(0.0)) == (None, None)
    slow.free.set()
    assert group.tasks.news(LONG_S) == TransferSettled(number)
    assert slow.writing == set()
    assert group.tasks.statistics().unsettled == ()
    assert (group.tasks.settled(0.0), group.tasks.news(0.0)) == (None, None)  # once
    until(lambda: (1, number, "a", "settled") in group.told, "the last word of progress")
    stages = [stage for rank, task, _, stage in group.told if (rank, task) == (1, number)]
    assert stages == ["taken", "started", "failed", "settled"]


def test_a_task_that_is_not_waited_for_settles_when_all_ranks_have_ended(group: Group) -> None:
    slow = _Slow(0, 1)
    group.run(slow)
    number = group.tasks.issue("hang", "a")
    for _ in range(2):
        assert slow.begun.acquire(timeout=LONG_S)
    assert group.tasks.abandon(number)
    assert group.result().running == (0, 1)
    waiting = Background(lambda: group.tasks.settled(LONG_S))
    slow.free.set()
    assert waiting.value() == number
    assert slow.writing == set()


def test_a_result_that_is_taken_after_the_end_names_nobody(group: Group) -> None:
    slow = _Slow(1)
    group.run(slow, limit_s=1.0)
    number = group.tasks.issue("hang", "a")
    until(lambda: group.tasks.statistics().unsettled == ((number, (1,)),), "the overdue report")
    slow.free.set()
    until(lambda: group.tasks.statistics().unsettled == (), "the end of the handler")
    result = group.tasks.news(LONG_S)
    assert isinstance(result, TransferResult)
    assert (result.outcome, result.ranks, result.running) == ("failed", (1,), ())
    assert (group.tasks.settled(0.0), group.tasks.news(0.0)) == (None, None)


def test_what_has_settled_comes_before_results_that_wait_and_acknowledges(group: Group) -> None:
    slow = _Slow(0)
    group.run(slow, limit_s=1.0)
    late = group.tasks.issue("hang", "a")
    assert group.result().running == (0,)
    good = group.tasks.issue("good", "b")
    until(lambda: group.tasks.statistics().results == 1, "the second result")
    slow.free.set()
    until(lambda: group.tasks.statistics().unsettled == (), "the end of the handler")
    assert group.tasks.outstanding() == 2
    assert group.tasks.news(LONG_S) == TransferSettled(late)
    assert group.tasks.outstanding() == 1
    assert group.result().number == good


def test_a_pause_that_is_reached_has_nothing_unsettled(group: Group) -> None:
    slow = _Slow(0, 1)
    group.run(slow, limit_s=1.0)
    group.tasks.issue("hang", "a")
    assert group.result().running in ((0, 1), (0,), (1,))
    pausing = Background(lambda: group.pause.pause(timeout=LONG_S))
    until(lambda: group.pause.statistics().missing != (), "the order")
    assert group.tasks.statistics().unsettled != ()
    slow.free.set()
    pausing.value()
    assert group.tasks.statistics().unsettled == ()
    assert group.tasks.settled(0.0) == 1


def test_a_client_that_closes_is_told_nothing_and_others_are_not_concerned(group: Group) -> None:
    slow = _Slow(1)
    group.run(slow, limit_s=1.0)
    other = type(group.tasks)(group.queue(0, "producer"))
    number = other.issue("hang", "a")
    result = other.result(LONG_S)
    assert result is not None
    assert result.running == (1,)
    assert group.tasks.settled(0.0) is None
    other._queue.close()
    assert group.tasks.statistics().unsettled == ((number, (1,)),)  # who watches sees it
    slow.free.set()
    until(lambda: group.tasks.statistics().unsettled == (), "the end of the handler")
    assert group.tasks.settled(0.0) is None


@pytest.mark.parametrize("wait", ["result", "settled", "news"])
def test_who_waits_is_told_how_it_goes(group: Group, wait: str) -> None:
    seen: list[tuple[int, ...]] = []
    group.tasks.issue("waits for ranks", "a")

    def look(view: TransferStatistics) -> None:
        seen.append(view.queued)
        if len(seen) == 3:
            raise LookupError

    assert getattr(group.tasks, wait)(0.0, progress=look) is None
    assert seen == []
    with pytest.raises(LookupError):
        getattr(group.tasks, wait)(LONG_S, progress=look, every=0.01)
    assert seen == [(1,)] * 3
    group.tasks.withdraw()
    if wait != "settled":
        assert getattr(group.tasks, wait)(LONG_S, progress=look).outcome == "cancelled"
    for wrong in ({"every": 0}, {"progress": "no function"}):
        with pytest.raises(ConfigError):
            getattr(group.tasks, wait)(0.0, **{"progress": look, **wrong})
