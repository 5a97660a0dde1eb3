"""What a transfer that timed out writes to is used again (overdue-target): the published steps, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.testing import ControlledRuntime, Scenario
from fdcomm.transfer import TransferTask
from fdcomm.transfer_port import TransferResult, TransferSettled
from tests.schedules.transfer_testbed import LoopBed

__all__ = ("overdue_ours", "overdue_shipped")


class _Target:
    """A block: who writes to it, and whose it is."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.runtime = runtime
        self.written = runtime.condition()
        self.writers = 0

    def write(self, seconds: float) -> None:
        """A copy to it, which takes so long."""
        self._change(1)
        with self.written:
            self.written.wait(seconds)
        self._change(-1)

    def _change(self, by: int) -> None:
        self.runtime.access("target", change=True)
        self.writers += by

    def give(self) -> None:
        """Another request gets it."""
        self.runtime.access("target", change=False)
        assert not self.writers, "a block was given out while a copy writes to it"


def overdue_shipped(runtime: ControlledRuntime) -> Scenario:
    """A transfer takes longer than the wait for it, which then counts as failed."""
    changed, target = runtime.condition(), _Target(runtime)
    done: list[str] = []

    def pool() -> None:
        target.write(4.0)
        with changed:
            done.append("task")
            changed.notify_all()

    def client() -> None:
        with changed:
            if not done:
                changed.wait(3.0)
        target.give()  # done, or recorded as failed: either way it is free

    return Scenario({"pool": pool, "client": client})


def overdue_ours(
    runtime: ControlledRuntime, told: Callable[[TransferResult | TransferSettled], None] | None = None
) -> Scenario:
    """Task 1 may run over its limit, task 2 is abandoned; each target is given out when the port says so."""
    targets = {number: _Target(runtime) for number in (1, 2)}
    held: set[int] = set()

    def handler(rank: int, task: TransferTask) -> Any:
        targets[task.number].write(4.0 if task.kind == "a" else 2.0)

    bed = LoopBed(runtime, 1, handler, limit_s=3.0)

    def client() -> None:
        for kind in "ab":
            bed.tasks.issue("task", kind)
        while targets:
            bed.tasks.abandon(2)
            news = bed.tasks.news(1.0)
            if news is None:
                continue
            if told is not None:
                told(news)
            if isinstance(news, TransferResult) and news.running:
                held.add(news.number)
                continue
            assert isinstance(news, TransferResult) is (news.number not in held)
            targets.pop(news.number).give()
        bed.tell("all")

    def final() -> None:
        assert bed.told == ["all"]
        assert not bed.core.busy
        assert not any(box.held for box in bed.core.clients.values())

    return bed.scenario({"client": client, "rank": partial(bed.run, 0, 1)}, final)
