"""A transfer port in memory, with the ranks' side of it, and a checker that it keeps what the port promises."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, FdcommError
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.transfer_port import Outcome, TransferResult, TransferSettled

__all__ = ("MemoryPort",)


class MemoryPort:
    """Implements :class:`fdcomm.transfer_port.TransferPort`. ``pull``, ``finish``, ``overrun`` and ``quiet`` are
    what the ranks do.

    Args:
        capacity: Most tasks that are queued.
        runtime: Threads and time.
        between: Called in ``issue`` after the task is queued, before the call returns.
    """

    def __init__(
        self, capacity: int = 64, *, runtime: Runtime = SYSTEM, between: Callable[[], None] = lambda: None
    ) -> None:
        self._runtime = runtime
        self._changed = runtime.condition()
        self._between = between
        self.capacity = capacity
        self.issued = 0
        self.queued: deque[int] = deque()
        self.running: list[int] = []
        self.posted: deque[TransferResult | TransferSettled] = deque()
        self.hand: TransferResult | None = None
        self.at: dict[int, tuple[int, ...]] = {}
        """Tasks that ended while ranks were at them, and these ranks."""
        self.settled: list[int] = []
        self.tasks: dict[int, tuple[Any, str]] = {}
        self.paused = False
        self.error: BaseException | None = None
        self.handed: dict[int, TransferResult] = {}

    # -- the port ------------------------------------------------------------------------------------------------

    def issue(self, task: Any, kind: str, timeout: float | None) -> int:
        """See TransferPort."""
        deadline = Deadline(timeout, self._runtime.monotonic)
        with self._changed:
            self._require()
            while len(self.queued) >= self.capacity:
                if deadline.expired():
                    raise CommTimeoutError("issue: there is no room", operation="issue")
                self._changed.wait(deadline.remaining())
                self._require()
            self.issued += 1
            number = self.issued
            self.queued.append(number)
            self.tasks[number] = task, kind
            self._changed.notify_all()
        self._between()
        return number

    def withdraw(self) -> tuple[int, ...]:
        """See TransferPort."""
        with self._changed:
            self._require()
            numbers = tuple(self.queued)
            self.queued.clear()
            self.posted.extend(TransferResult(number, "cancelled", None, "it was withdrawn", ()) for number in numbers)
            self._changed.notify_all()
            return numbers

    def news(self, timeout: float | None) -> TransferResult | TransferSettled | None:
        """See TransferPort."""
        deadline = Deadline(timeout, self._runtime.monotonic)
        with self._changed:
            self.hand = None
            while not self.posted:
                self._require()
                if deadline.expired():
                    return None
                self._changed.wait(deadline.remaining())
            news = self.posted.popleft()
            if isinstance(news, TransferSettled):
                self.settled.append(news.number)
                return news
            if isinstance(news, TransferResult):
                if news.number in self.handed:
                    raise AssertionError(f"task {news.number} has two results")
                self.handed[news.number] = news
            self.hand = news
            return news

    def acknowledge(self) -> None:
        """See TransferPort."""
        with self._changed:
            self.hand = None

    def outstanding(self) -> int:
        """See TransferPort."""
        with self._changed:
            results = sum(not isinstance(news, TransferSettled) for news in self.posted)
            return len(self.queued) + len(self.running) + results + (self.hand is not None)

    # -- the ranks -----------------------------------------------------------------------------------------------

    def pull(self, timeout: float | None = 0.0) -> int | None:
        """Take the next task for all ranks; None when there is none, or they are paused."""
        deadline = Deadline(timeout, self._runtime.monotonic)
        with self._changed:
            while not self.queued or self.paused:
                if self.error is not None or deadline.expired():
                    return None
                self._changed.wait(deadline.remaining())
            number = self.queued.popleft()
            self.running.append(number)
            self._changed.notify_all()
            return number

    def finish(self, number: int, outcome: Outcome = "ok", *, value: Any = None, ranks: tuple[int, ...] = ()) -> None:
        """A task that was pulled has ended on all ranks."""
        error = "a rank has failed" if outcome == "failed" else None
        with self._changed:
            self.running.remove(number)
            self.posted.append(TransferResult(number, outcome, value, error, ranks))
            self._changed.notify_all()

    def overrun(self, number: int, ranks: tuple[int, ...] = (1,)) -> None:
        """A task that was pulled has failed, and ranks are at it still."""
        with self._changed:
            self.at[number] = ranks
            self.running.remove(number)
            self.posted.append(TransferResult(number, "failed", None, "a rank is late", ranks, ranks))
            self._changed.notify_all()

    def quiet(self, number: int) -> None:
        """The last of these ranks has ended. Whoever had the result is told."""
        with self._changed:
            ranks = self.at.pop(number)
            if number in self.handed:
                self.posted.append(TransferSettled(number))
            else:  # its result is still here, and says what is true when it is handed out
                late = next(news for news in self.posted if news.number == number)
                self.posted[self.posted.index(late)] = TransferResult(number, "failed", None, "a rank was late", ranks)
            self._changed.notify_all()

    def post(self, result: Any) -> None:
        """Post whatever."""
        with self._changed:
            number = getattr(result, "number", None)
            if number in self.running and not isinstance(result, TransferSettled):
                self.running.remove(number)
            self.posted.append(result)
            self._changed.notify_all()

    def pause(self, paused: bool = True) -> None:
        """Let the ranks take nothing, or go on."""
        with self._changed:
            self.paused = paused
            self._changed.notify_all()

    def await_idle(self, timeout: float | None) -> None:
        """Wait until no rank is at a task. CommTimeoutError when one is."""
        deadline = Deadline(timeout, self._runtime.monotonic)
        with self._changed:
            while self.running or self.at:
                if deadline.expired():
                    raise CommTimeoutError("pause: tasks run", operation="pause", missing=(0,))
                self._changed.wait(deadline.remaining())

    def lose(self, error: FdcommError) -> None:
        """The host is gone: every call raises."""
        with self._changed:
            self.error = error
            self._changed.notify_all()

    def serve(self, count: int, outcome: Outcome = "ok") -> None:
        """Pull and finish so many tasks."""
        for _ in range(count):
            number = self.pull(None)
            if number is None:
                return
            self.finish(number, outcome)

    # -- the checker ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Every task that was issued is in one place, queued, running, or with its one result, and settles once."""
        with self._changed:
            results = [news.number for news in self.posted if isinstance(news, TransferResult)]
            places = [*self.queued, *self.running, *results, *self.handed]
            if sorted(places) != list(range(1, self.issued + 1)):
                raise AssertionError(f"{self.issued} tasks were issued, and they are {sorted(places)}")
            late = [number for number, result in self.handed.items() if result.running]
            settled = [news.number for news in self.posted if isinstance(news, TransferSettled)]
            if sorted([*settled, *self.settled, *(self.at.keys() & self.handed)]) != sorted(late):
                raise AssertionError(f"tasks {late} were late, and settled are {settled} and {self.settled}")

    def _require(self) -> None:
        if self.error is not None:
            raise self.error
