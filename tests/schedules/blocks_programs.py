"""Programs over the shipping block lists and their client: who issues, who waits, the ranks, resets, and the ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.blocks import BlockLists
from fdcomm.errors import ClosedError, FdcommError, HostLostError, ProtocolViolationError, TransferCancelledError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from fdcomm.transfer_client import TransferClient
from models.dispatch_trace import accept
from tests.conformance.memory_port import MemoryPort
from tests.schedules.hosted import judge
from tests.traces.layerwise_runs import Memory

__all__ = ("LONG", "PROGRAMS", "Bed")

_SOON_S = 0.1
"""The ranks and the receiver look at the same time, and nobody has to wait for a tick."""


class Bed:
    """The shipping client on a controlled runtime; at the end the model judges what it recorded."""

    def __init__(self, runtime: ControlledRuntime, device: int = 1, host: int = 1) -> None:
        self.runtime = runtime
        self.memory = Memory()
        self.port = MemoryPort(runtime=runtime)
        self.lists = BlockLists(device, host, recorder=self.memory, runtime=runtime)
        self.client = TransferClient(self.port, self.lists, runtime=runtime)
        self.told: list[str] = []
        self._left = runtime.condition()
        self._count = 0

    def swap(self) -> None:
        """Issue a swap, and wait for its end."""
        try:
            swap = self.client.issue("task", "swap", self.lists.allocate(), self.lists.allocate(1, "host"))
            swap.wait(None)
            self.told.append("ok")
        except FdcommError as error:
            self.told.append(type(error).__name__)

    def ranks(self, count: int = 1) -> None:
        """Do so many tasks, if they come."""
        for _ in range(count):
            number = self.port.pull(_SOON_S)
            if number is not None:
                self.port.finish(number)

    def reset(self) -> None:
        """Reset."""
        try:
            self.client.reset(timeout=None)
        except FdcommError as error:
            self.told.append(type(error).__name__)

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks; the last one closes the client, whose thread then ends."""
        self._count = len(tasks)

        def last(task: Callable[[], None]) -> None:
            task()
            with self._left:
                self._count -= 1
                is_last = self._count == 0
            if is_last:
                self.client.close(timeout=None)

        def at_the_end() -> None:
            try:
                self.lists.check()
            except ProtocolViolationError as error:
                raise AssertionError(str(error)) from error
            self.port.check()
            final()
            judge(accept, self.memory.events)

        return Scenario({name: partial(last, task) for name, task in tasks.items()}, final=at_the_end)


def resetting(runtime: ControlledRuntime, *, resets: int = 1) -> Scenario:
    """A swap and a reset: the swap is done or cancelled, and every block is free or leased again."""
    bed = Bed(runtime)

    def final() -> None:
        assert bed.told in (["ok"], ["TransferCancelledError"], ["StaleLeaseError"]), f"{bed.told}"
        found = bed.lists.statistics()
        assert 1 <= found.generation <= resets
        assert found.in_flight == 0, f"{found}"

    tasks = {"issuer": bed.swap, "ranks": bed.ranks}
    tasks |= {f"reset {number}": bed.reset for number in range(resets)}
    return bed.scenario(tasks, final)


def paused(runtime: ControlledRuntime) -> Scenario:
    """A swap and a reset while the ranks take nothing: what was issued is withdrawn, whenever its call returns."""
    bed = Bed(runtime)
    bed.port.pause()

    def reset() -> None:
        bed.reset()
        bed.port.pause(False)
        bed.ranks()

    def final() -> None:
        assert bed.told in (["ok"], ["TransferCancelledError"], ["StaleLeaseError"]), f"{bed.told}"
        assert bed.lists.statistics().in_flight == 0

    return bed.scenario({"issuer": bed.swap, "reset": reset}, final)


def early(runtime: ControlledRuntime) -> Scenario:
    """The result of a swap may be there before the call that issues it has returned."""
    bed = Bed(runtime)

    def final() -> None:
        assert bed.told == ["ok"], f"{bed.told}"

    return bed.scenario({"issuer": bed.swap, "ranks": lambda: bed.port.serve(1)}, final)


def running(runtime: ControlledRuntime, *, resets: int) -> Scenario:
    """A task runs when resets begin."""
    bed = Bed(runtime)
    swap = bed.client.issue("task", "swap", bed.lists.allocate(), bed.lists.allocate(1, "host"))
    number = bed.port.pull()
    assert number is not None

    def final() -> None:
        assert isinstance(swap.exception(), TransferCancelledError) == (swap.lease is None)
        assert 1 <= bed.lists.generation <= resets
        assert bed.told == []

    tasks: dict[str, Callable[[], None]] = {"ranks": lambda: bed.port.finish(number)}
    return bed.scenario(tasks | {f"reset {n}": bed.reset for n in range(resets)}, final)


def cancelling(runtime: ControlledRuntime) -> Scenario:
    """Somebody gives a swap up while its result comes: its waiter is told one of both, and so are its blocks."""
    bed = Bed(runtime)
    swap = bed.client.issue("task", "swap", bed.lists.allocate(), bed.lists.allocate(1, "host"))
    bed.port.pull()
    given_up: list[bool] = []

    def wait() -> None:
        try:
            swap.wait(None)
            bed.told.append("ok")
        except TransferCancelledError:
            bed.told.append("cancelled")

    def final() -> None:
        assert bed.told == (["cancelled"] if given_up == [True] else ["ok"]), f"{bed.told}, {given_up}"
        assert (swap.lease is None) == given_up[0]

    tasks: dict[str, Callable[[], None]] = {
        "waiter": wait,
        "ranks": lambda: bed.port.finish(1),
        "canceller": lambda: given_up.append(swap.cancel()),
    }
    return bed.scenario(tasks, final)


def ending(runtime: ControlledRuntime, *, lost: bool) -> Scenario:
    """The port is lost, or the client closed, while somebody waits for a swap, and somebody for a block."""
    bed = Bed(runtime)
    swap = bed.client.issue("task", "swap", bed.lists.allocate(), bed.lists.allocate(1, "host"))
    error: type[Exception] = HostLostError if lost else ClosedError

    def expect(call: Callable[[], Any]) -> None:
        try:
            call()
        except error as told:
            bed.told.append(type(told).__name__)

    def end() -> None:
        if lost:
            bed.port.lose(HostLostError("the host has ended"))
        else:
            bed.client.close(timeout=None)

    def final() -> None:
        assert bed.told == [error.__name__] * 2, f"{bed.told}"

    tasks: dict[str, Callable[[], None]] = {
        "waiter": lambda: expect(lambda: swap.wait(None)),
        "allocator": lambda: expect(lambda: bed.lists.allocate(timeout=None)),
        "end": end,
    }
    return bed.scenario(tasks, final)


def starving(runtime: ControlledRuntime) -> Scenario:
    """Who waits for a block gets the one that a swap sets free."""
    bed = Bed(runtime)
    swap = bed.client.issue("task", "swap", bed.lists.allocate(), bed.lists.allocate(1, "host"))
    got: list[tuple[int, ...]] = []

    def final() -> None:
        assert got == [(0,)], f"{got}"
        assert swap.lease is not None

    tasks: dict[str, Callable[[], None]] = {
        "allocator": lambda: got.append(bed.lists.allocate(timeout=None).ids),
        "ranks": lambda: bed.port.serve(1),
    }
    return bed.scenario(tasks, final)


def overrunning(runtime: ControlledRuntime, *, reset: bool) -> Scenario:
    """A rank is at a task that has failed: whoever gets the target, or a reset, has waited for its end."""
    bed = Bed(runtime)
    source, target = bed.lists.allocate(), bed.lists.allocate(1, "host")
    swap = bed.client.issue("task", "swap", source, target)
    number = bed.port.pull()
    assert number is not None
    written: list[bool] = []

    def ranks() -> None:
        bed.port.overrun(number)
        bed.port.quiet(number)

    def allocate() -> None:
        bed.lists.allocate(1, "host", timeout=None)
        written.append(number in bed.port.at)

    def restart() -> None:
        bed.reset()
        written.append(number in bed.port.at)

    def final() -> None:
        assert written == [False], f"{written}: a rank may write to what somebody has"
        error = swap.exception()
        assert type(error).__name__ == ("TransferFailedError" if swap.lease is source else "TransferCancelledError")
        assert bed.lists.statistics().in_flight == 0

    waits = {"reset": restart} if reset else {"allocator": allocate}
    return bed.scenario({"ranks": ranks, **waits}, final)


def _program(name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound) -> tuple[str, Any]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("a result and its number", early, Bound(preemptions=2)),
        _program("a swap and a reset", resetting, Bound(preemptions=1)),
        _program("a reset of paused ranks", paused, Bound(preemptions=1)),
        _program("a reset while a task runs", partial(running, resets=1), Bound(preemptions=1)),
        _program("2 resets while a task runs", partial(running, resets=2), Bound(preemptions=1)),
        _program("a swap is given up", cancelling, Bound(preemptions=1)),
        _program("the port is lost", partial(ending, lost=True), Bound(preemptions=1)),
        _program("the client is closed", partial(ending, lost=False), Bound(preemptions=1)),
        _program("somebody waits for a block", starving, Bound(preemptions=2)),
        _program("somebody waits for a late target", partial(overrunning, reset=False), Bound(preemptions=1)),
        _program("a reset waits for a late task", partial(overrunning, reset=True), Bound(preemptions=1)),
    )
)

LONG = ("a swap and a reset", "2 resets while a task runs", "the client is closed", "a result and its number")
"""With the preemptions of these bounds they take several seconds each."""
