"""The published prefix cache's side of swaps beside ours, for the same scenarios. Nothing is corrected here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from fdcomm.transfer_port import TransferResult
from tests.schedules.blocks_programs import Bed

__all__ = ("RACES", "ShippedCache", "race")


class ShippedCache:
    """One host block, and tasks that bring it back to the device; the ranks have done them, or will.

    Results are in a list under a lock, the free list is under another, and the events of who waits are under none.
    """

    def __init__(self, runtime: ControlledRuntime, tasks: int = 1) -> None:
        self._runtime = runtime
        self._queue = runtime.condition()
        self._lists = runtime.condition()
        self._results: list[int] = []
        self.free: list[int] = []
        self.events = dict.fromkeys(range(1, tasks + 1), False)
        self.normal = True

    def post(self, number: int) -> None:
        """The ranks have done a task."""
        with self._queue:
            self._results.append(number)
            self._queue.notify_all()

    def receive(self, results: int, bad: int = 0) -> None:
        """Pop results and handle them; a bad one raises, and that ends the thread unless something is being reset."""
        for _ in range(results):
            with self._queue:
                while not self._results:
                    self._queue.wait()
                number = self._results.pop(0)
            with self._lists:
                if number == bad:
                    if self.normal:
                        return
                    continue
                self.free.append(0)
                self._runtime.access("events", change=True)
                if number in self.events:
                    self.events[number] = True
                self._lists.notify_all()

    def wait(self, number: int) -> None:
        """Look again and again at the event of a task."""
        while True:
            self._runtime.access("events", change=False)
            if self.events[number] or not self.normal:
                break
            with self._lists:
                if not self.events[number]:
                    self._lists.wait()
        self._runtime.access("events", change=True)
        del self.events[number]

    def reset(self) -> None:
        """Wait until no result is in the list; then make everything anew."""
        self.normal = False
        while True:
            with self._queue:
                if not self._results:
                    break
                self._queue.wait(0.001)
        self._runtime.access("events", change=True)
        self.events.clear()
        with self._lists:
            self.free = [0]
            self._lists.notify_all()
        self.normal = True


def _handled_late(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """P8.1: a result is taken and not handled while a reset looks."""
    if shipped:
        cache = ShippedCache(runtime)
        cache.post(1)

        def final() -> None:
            assert cache.free == [0], f"the free list is {cache.free}"

        return Scenario({"receiver": lambda: cache.receive(1), "reset": cache.reset}, final=final)
    bed = Bed(runtime)
    bed.client.issue("task", "swap", bed.lists.allocate(1, "host"), bed.lists.allocate())
    bed.port.serve(1)

    def ours() -> None:
        assert bed.lists.statistics().host_free == 1

    return bed.scenario({"reset": bed.reset}, ours)


def _dropped_record(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """P8.2: a reset drops the records of those who wait."""
    if shipped:
        cache = ShippedCache(runtime)

        def ranks() -> None:
            cache.post(1)
            cache.receive(1)

        return Scenario({"waiter": lambda: cache.wait(1), "ranks": ranks, "reset": cache.reset})
    bed = Bed(runtime)
    swap = bed.client.issue("task", "swap", bed.lists.allocate(1, "host"), bed.lists.allocate())

    def wait() -> None:
        try:
            swap.wait(None)
        except FdcommError as error:
            bed.told.append(type(error).__name__)

    def final() -> None:
        assert bed.told in ([], ["TransferCancelledError"]), f"the waiter was told {bed.told}"

    return bed.scenario({"waiter": wait, "ranks": bed.ranks, "reset": bed.reset}, final)


def _bad_result(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """P8.3: a result that cannot be handled, and then a good one."""
    if shipped:
        cache = ShippedCache(runtime, tasks=2)

        def ranks() -> None:
            cache.post(1)
            cache.post(2)

        tasks: dict[str, Callable[[], None]] = {
            "waiter": lambda: cache.wait(2),
            "ranks": ranks,
            "receiver": lambda: cache.receive(2, bad=1),
        }
        return Scenario(tasks)
    bed = Bed(runtime, 1, 2)
    bad = bed.client.issue("task", "swap", bed.lists.allocate(1, "host"))
    good = bed.client.issue("task", "swap", bed.lists.allocate(1, "host"), bed.lists.allocate())

    def post() -> None:
        for _ in range(2):
            bed.port.pull()
        wrong: Any = "done"
        bed.port.post(TransferResult(1, wrong, None, None, ()))
        bed.port.finish(2)

    def final() -> None:
        assert type(bad.exception()).__name__ == "TransferFailedError"

    def wait() -> None:
        good.wait(None)

    return bed.scenario({"waiter": wait, "ranks": post}, final)


RACES: dict[str, tuple[Callable[..., Scenario], str, Bound]] = {
    "P8.1": (_handled_late, "invariant", Bound(preemptions=1)),
    "P8.2": (_dropped_record, "error", Bound(preemptions=0)),
    "P8.3": (_bad_result, "deadlock", Bound(preemptions=1)),
}
"""Race -> its program, what it comes to on the published steps, and the bound."""


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    build = RACES[name][0]
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", lambda runtime: build(runtime, shipped=shipped), {})
