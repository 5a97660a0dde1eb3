"""A real host whose clients and ranks do, of transfer tasks, all that they may do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdcomm import EngineCacheQueue
from fdcomm.transfer_port import TransferResult, TransferSettled
from fdcomm.transfer_tasks import TransferTasks
from tests.conformance.waiting import Background, until

__all__ = ("Everything", "use")

LONG_S = 60.0


class _Rank:
    """The calls of a rank's loop, one by one."""

    def __init__(self, queue: EngineCacheQueue) -> None:
        self.queue = queue

    def call(self, action: str, *args: Any) -> Any:
        """Act in the host."""
        return self.queue._act("transfer", action, *args, timeout=LONG_S, name=action)

    def ready(self) -> Background:
        """Be ready for the next task."""
        return Background(lambda: self.call("accept", LONG_S))


class Everything:
    """What two ranks and their client do until every event has occurred; the caller opens and ends their handles."""

    def __init__(
        self,
        server: EngineCacheQueue,
        open_: Callable[[int, Any], EngineCacheQueue],
        close: Callable[[EngineCacheQueue], None],
        lose: Callable[[EngineCacheQueue], None],
    ) -> None:
        self.server = server
        self.tasks = TransferTasks(server)
        self.open, self.close, self.lose = open_, close, lose

    def do(self) -> None:
        """Do it."""
        ranks = _Rank(self.open(0, None)), _Rank(self.open(1, None))
        self._work(*ranks)
        self._go(*ranks)

    def _both(self, *ranks: _Rank, kind: str = "swap") -> int:
        """One task starts in both ranks."""
        number = self.tasks.issue("payload", kind)
        for rank in ranks:
            rank.call("next_task", 0.0)  # Join, the first time
        for taken in [rank.ready() for rank in ranks]:
            assert taken.value()[0] == number
        return number

    def _work(self, first: _Rank, second: _Rank) -> None:
        tasks, value = self.tasks, self.server._pickle("value", "test")
        number = self._both(first, second)
        for rank in (first, second):
            assert rank.call("report", number, True, value)
        result = tasks.result(LONG_S)
        assert result is not None
        assert (result.outcome, result.value) == ("ok", ["value", "value"])
        tasks.acknowledge()
        number = self._both(first, second, kind="store")
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
        number = self._both(first, second)
        first.call("report", number, True, value)
        assert tasks.abandon(number)
        assert second.call("report", number, True, value) is False  # Settle
        # A handler over its limit: the result names its rank, and the end of it is told.
        late = self._both(first, second, kind="store")
        assert first.call("overdue", late, b"HandlerTimeoutError: too long")
        second.call("report", late, True, value)
        for _ in range(3):
            tasks.result(LONG_S)
        overdue = tasks.news(LONG_S)
        assert isinstance(overdue, TransferResult)
        assert (overdue.number, overdue.ranks, overdue.running) == (late, (0,), (0,))
        assert tasks.settled(0.0) is None
        first.call("settle", late)
        assert tasks.news(LONG_S) == TransferSettled(late)

    def _go(self, first: _Rank, second: _Rank) -> None:
        tasks = self.tasks
        client = self.open(0, "producer")
        TransferTasks(client).issue("of one that goes", "swap")
        self.close(client)  # Gone
        number = self._both(first, second)
        self.close(second.queue)  # Leave, in the middle of a task
        first.call("report", number, True, b"")
        second = _Rank(self.open(1, None))
        second.call("next_task", 0.0)
        tasks.issue("fails", "swap")
        self.lose(second.queue)  # Fence
        until(lambda: tasks.statistics().lost == (1,))
        silent = self.open(1, None)  # Reappear
        silent.get_transfer_task()
        self.lose(silent)  # Vanish
        until(lambda: tasks.statistics().lost == (1,))
        ended = [tasks.result(LONG_S) for _ in range(2)]
        assert [(result.outcome, result.running) for result in ended if result is not None] == [("failed", ())] * 2
        tasks.acknowledge()


def use(trace: Path) -> None:
    """Run a host until every event has occurred."""
    opened: list[EngineCacheQueue] = []
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=trace) as server:

        def open_(rank: int, role: Any) -> EngineCacheQueue:
            opened.append(EngineCacheQueue(server.address, num_client=2, client_id=rank, role=role))
            return opened[-1]

        try:
            Everything(server, open_, lambda queue: queue.close(), lambda queue: queue._release(goodbye=False)).do()
        finally:
            for queue in opened:
                queue.close()
