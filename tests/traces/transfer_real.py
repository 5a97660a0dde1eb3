"""A real host whose clients and ranks do, of transfer tasks, all that they may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fdcomm import EngineCacheQueue
from fdcomm.transfer_tasks import TransferTasks
from tests.conformance.waiting import Background, until

__all__ = ("use",)

LONG_S = 60.0


class _Rank:
    """The calls of a rank's loop, one by one."""

    def __init__(self, address: Any, rank: int) -> None:
        self.queue = EngineCacheQueue(address, num_client=2, client_id=rank)

    def call(self, action: str, *args: Any) -> Any:
        """Act in the host."""
        return self.queue._act("transfer", action, *args, timeout=LONG_S, name=action)

    def ready(self) -> Background:
        """Be ready for the next task."""
        return Background(lambda: self.call("accept", LONG_S))

    def end(self, *, goodbye: bool) -> None:
        """Close, or be gone."""
        if goodbye:
            self.queue.close()
        else:
            self.queue._release(goodbye=False)


def use(trace: Path) -> None:
    """Run a host until every event has occurred."""
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=trace) as server:
        tasks = TransferTasks(server)
        ranks = [_Rank(server.address, 0), _Rank(server.address, 1)]
        try:
            _work(server, tasks, *ranks)
            _leave(server, tasks, ranks)
        finally:
            for rank in ranks:
                rank.queue.close()


def _both(tasks: TransferTasks, *ranks: _Rank, kind: str = "swap") -> int:
    """One task starts in both ranks."""
    number = tasks.issue("payload", kind)
    for rank in ranks:
        rank.call("next_task", 0.0)  # Join, the first time
    for taken in [rank.ready() for rank in ranks]:
        assert taken.value()[0] == number
    return number


def _work(server: EngineCacheQueue, tasks: TransferTasks, first: _Rank, second: _Rank) -> None:
    value = server._pickle("value", "test")
    number = _both(tasks, first, second)
    for rank in (first, second):
        assert rank.call("report", number, True, value)
    result = tasks.result(LONG_S)
    assert result is not None
    assert (result.outcome, result.value) == ("ok", ["value", "value"])
    tasks.acknowledge()
    number = _both(tasks, first, second, kind="store")
    first.call("report", number, False, b"ValueError: no")
    second.call("report", number, True, value)
    failed = tasks.result(LONG_S)
    assert failed is not None
    assert (failed.outcome, failed.ranks, failed.error) == ("failed", (0,), "rank 0: ValueError: no")
    # A rank that is pausing: the other does not wait for it.
    number = tasks.issue("late", "swap")
    waiting = first.ready()
    until(lambda: tasks.statistics().votes == ("yes", "none"))
    second.call("refuse")
    assert waiting.value() is None
    assert tasks.withdraw() == (number,)
    assert second.call("accept", LONG_S) is None  # Return
    tasks.issue("cleared", "swap")
    tasks.clear()
    number = _both(tasks, first, second)
    first.call("report", number, True, value)
    assert tasks.abandon(number)
    assert second.call("report", number, True, value) is False


def _leave(server: EngineCacheQueue, tasks: TransferTasks, ranks: list[_Rank]) -> None:
    client = EngineCacheQueue(server.address, num_client=2, client_id=0, role="producer")
    TransferTasks(client).issue("of one that goes", "swap")
    client.close()  # Gone
    number = _both(tasks, *ranks)
    ranks[1].end(goodbye=True)  # Leave, in the middle of a task
    ranks[0].call("report", number, True, b"")
    ranks[1] = _Rank(server.address, 1)
    ranks[1].call("next_task", 0.0)
    tasks.issue("fails", "swap")
    ranks[1].end(goodbye=False)  # Fence
    until(lambda: tasks.statistics().lost == (1,))
    ranks[1] = _Rank(server.address, 1)  # Reappear
    ranks[1].queue.get_transfer_task()
    ranks[1].end(goodbye=False)  # Vanish
    until(lambda: tasks.statistics().lost == (1,))
    ended = [tasks.result(LONG_S) for _ in range(5)]
    assert [result.outcome for result in ended if result is not None] == [
        *("cancelled", "cancelled"),
        *("failed", "failed", "failed"),
    ]
    tasks.acknowledge()
