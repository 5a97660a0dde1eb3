"""Programs over transfer tasks: the shipping classes, service and threads, on a controlled runtime."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import FencedError, HostLostError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from fdcomm.transfer import TransferTask
from fdcomm.transfer_port import TransferResult, TransferSettled
from tests.schedules.transfer_testbed import LoopBed, TransferBed

__all__ = ("LARGER", "PROGRAMS", "THOROUGH", "looping")

Tasks = dict[str, Callable[[], None]]


def one_task(runtime: ControlledRuntime) -> Scenario:
    """Two ranks do a task; everything waits for as long as it takes."""
    bed = TransferBed(runtime, 2)

    def client() -> None:
        bed.tasks.issue("task", "a")
        bed.result()

    def final() -> None:
        assert bed.told == [(1, "ok", ())], f"told {bed.told}"
        assert sorted(bed.did) == [(0, 1, True), (1, 1, True)], f"{bed.did}"

    return bed.scenario({"client": client, **{f"rank {r}": partial(bed.serve, r) for r in range(2)}}, final)


def refused(runtime: ControlledRuntime) -> Scenario:
    """Rank 1 refuses at any moment, and is ready again: rank 0 never waits for it in vain."""
    bed = TransferBed(runtime, 2)
    bed.join()
    bed.tasks.issue("task", "a")
    waited: list[Any] = []

    def rank0() -> None:
        waited.append(bed.act(0, "accept", None))

    def rank1() -> None:
        bed.act(1, "refuse")

    def final() -> None:
        assert waited == [None], f"rank 0 got {waited}"
        assert bed.core.votes == ["none", "no"]

    return bed.scenario({"rank 0": rank0, "rank 1": rank1}, final)


def withdrawn(runtime: ControlledRuntime) -> Scenario:
    """A task is withdrawn while it starts: both ranks do it, or none, and it has one result."""
    bed = TransferBed(runtime, 2)
    bed.join()
    bed.tasks.issue("task", "a")
    numbers: list[int] = []

    def client() -> None:
        numbers.extend(bed.tasks.withdraw())
        bed.result()

    def final() -> None:
        cancelled = numbers == [1]
        assert bed.told == [(1, "cancelled" if cancelled else "ok", ())], f"told {bed.told}, withdrew {numbers}"
        assert sorted(bed.did) == ([] if cancelled else [(0, 1, True), (1, 1, True)]), f"{bed.did}"

    return bed.scenario({"client": client, **{f"rank {r}": partial(bed.serve, r) for r in range(2)}}, final)


def lost(runtime: ControlledRuntime) -> Scenario:
    """Rank 1 is lost at any moment: the task is done by both, or fails and the error names it."""
    bed = TransferBed(runtime, 2)
    bed.join()
    bed.tasks.issue("task", "a")

    def rank1() -> None:
        try:
            bed.serve(1)
        except FencedError:
            bed.did.append("fenced")

    def final() -> None:
        done = (1, 1, True) in bed.did
        assert bed.told == [(1, "ok", ()) if done else (1, "failed", (1,))], f"told {bed.told}, {bed.did}"

    tasks: Tasks = {"client": bed.told_or_lost, "rank 0": partial(bed.serve, 0), "rank 1": rank1}
    return bed.scenario({**tasks, "network": lambda: bed.lose(bed.queues[1])}, final)


def abandoned(runtime: ControlledRuntime) -> Scenario:
    """A client stops waiting while a rank reports: one result, and a report that counts for it or settles the task."""
    bed = TransferBed(runtime, 1)
    bed.join()
    bed.tasks.issue("task", "a")
    gave_up: list[bool] = []
    settled: list[int] = []

    def client() -> None:
        gave_up.append(bed.tasks.abandon(1))
        if bed.result().running:
            news = bed.tasks.news(None)
            assert isinstance(news, TransferSettled), f"{news}"
            settled.append(news.number)

    def final() -> None:
        ended = [(1, "failed", (0,)) if gave_up == [True] else (1, "ok", ())]
        assert bed.told == ended, f"told {bed.told}, abandoned {gave_up}"
        assert bed.did == [(0, 1, gave_up == [False])], f"{bed.did}"
        assert settled in ([], [1] * gave_up[0]), f"settled {settled}, abandoned {gave_up}"
        assert not bed.core.busy

    return bed.scenario({"client": client, "rank 0": partial(bed.serve, 0)}, final)


def timed(runtime: ControlledRuntime) -> Scenario:
    """The wait for the other rank may end at any moment: the task starts in both, later."""
    bed = TransferBed(runtime, 2)
    bed.join()
    bed.tasks.issue("task", "a")

    def final() -> None:
        assert bed.told == [(1, "ok", ())], f"told {bed.told}"

    tasks: Tasks = {f"rank {r}": partial(bed.serve, r, limit=1.0) for r in range(2)}
    return bed.scenario({"client": bed.told_or_lost, **tasks}, final)


def end_of_the_host(runtime: ControlledRuntime) -> Scenario:
    """The host ends while a rank and a client wait: both are told."""
    bed = TransferBed(runtime, 2)
    bed.join()
    bed.tasks.issue("task", "a")

    def rank() -> None:
        try:
            bed.act(0, "accept", None)
        except HostLostError:
            bed.did.append("host lost")

    def final() -> None:
        assert (bed.told, bed.did) == ([HostLostError], ["host lost"]), f"told {bed.told}, {bed.did}"

    return bed.scenario({"client": bed.told_or_lost, "rank 0": rank, "end": bed.service.shut_down}, final)


def looping(runtime: ControlledRuntime, ranks: int, count: int, *, pauses: bool, fails: int = -1) -> Scenario:
    """The loops of all ranks; a client issues tasks of two kinds, and another pauses and relies on it."""

    def handler(rank: int, task: TransferTask) -> Any:
        if rank == fails and task.number == 1:
            raise ValueError("no block")
        return rank

    bed = LoopBed(runtime, ranks, handler)

    def client() -> None:
        for number in range(count):
            bed.tasks.issue(number, "ab"[number % 2])
        for _ in range(count):
            bed.result()

    def pauser() -> None:
        with bed.api.paused(timeout=None):
            assert not bed.core.started, f"a pause was reached in the middle of {bed.core.started}"
            bed.world.rely()

    def final() -> None:
        ended = {number: ("failed", (fails,)) if number == 1 and fails >= 0 else ("ok", ()) for number, *_ in bed.told}
        assert {number: tuple(rest) for number, *rest in bed.told} == ended, f"told {bed.told}"
        assert sorted(ended) == list(range(1, count + 1))
        assert bed.world.worked == ranks * count
        assert all(not loop.statistics().jobs for loop in bed.loops)

    tasks: Tasks = {f"rank {r}": partial(bed.run, r, count) for r in range(ranks)}
    return bed.scenario({"client": client, **({"pauser": pauser} if pauses else {}), **tasks}, final)


def limited(runtime: ControlledRuntime) -> Scenario:
    """A handler runs until the client knows that it failed; its limit may be over at any moment, or it ends in time.

    When the port says that nobody is at the task, the handler has ended.
    """
    changed = runtime.condition()
    bed: LoopBed
    at_it: set[int] = set()

    def at(number: int, *, leaves: bool) -> None:
        runtime.access("at it", change=True)
        (at_it.discard if leaves else at_it.add)(number)

    def handler(rank: int, task: TransferTask) -> Any:
        at(task.number, leaves=False)
        if task.payload == "hang":
            with changed:
                changed.wait(4.0)
        at(task.number, leaves=True)
        return rank

    bed = LoopBed(runtime, 1, handler, limit_s=3.0)

    def client() -> None:
        for payload in ("hang", "behind"):
            bed.tasks.issue(payload, "a")
        held = {1, 2}
        while held:
            news = bed.tasks.news(None)
            if isinstance(news, TransferResult):
                bed.tell((news.number, news.outcome, news.ranks))
            if isinstance(news, TransferSettled) or (news is not None and not news.running):
                held.discard(news.number)
                runtime.access("at it", change=False)
                assert news.number not in at_it, f"task {news.number} is said to be over, and its handler runs"
            with changed:
                changed.notify_all()

    def final() -> None:
        first, second = sorted(bed.told)
        assert first == (1, "failed", (0,)), f"told {bed.told}"
        assert second in ((2, "failed", (0,)), (2, "ok", ())), f"told {bed.told}"
        assert bed.loops[0].statistics().jobs == ()
        assert not bed.core.busy

    return bed.scenario({"client": client, "rank 0": partial(bed.run, 0, 2)}, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "1 task, 2 ranks": (Program("one task", one_task), Bound(preemptions=0)),
    "a rank refuses": (Program("refused", refused), Bound(spurious=1)),
    "a withdrawal meets the start": (Program("withdrawn", withdrawn), Bound(preemptions=1)),
    "a rank is lost": (Program("lost", lost), Bound(preemptions=0)),
    "a client stops waiting": (Program("abandoned", abandoned), Bound(spurious=1)),
    "the others are late": (Program("timed", timed), Bound(preemptions=0, ticks=1)),
    "end of the host": (Program("end of the host", end_of_the_host), Bound(spurious=1)),
    "a handler hangs": (Program("limited", limited), Bound(preemptions=0)),
    "a loop": (Program("a loop", partial(looping, ranks=1, count=1, pauses=False)), Bound(preemptions=0)),
}

# For the nightly verification.
THOROUGH: dict[str, tuple[Program, Bound]] = {
    "1 task, 2 ranks, a preemption": (Program("one task", one_task), Bound(preemptions=1)),
    "a withdrawal meets the start, every schedule": (Program("withdrawn", withdrawn), Bound()),
    "a rank is lost, a preemption": (Program("lost", lost), Bound(preemptions=1)),
    "a loop meets a pause": (Program("a pause", partial(looping, ranks=1, count=1, pauses=True)), Bound(preemptions=0)),
}

LARGER: dict[str, Program] = {
    "the loops of 2 ranks, 3 tasks, a pause": Program("loops", partial(looping, ranks=2, count=3, pauses=True)),
    "the loops of 2 ranks, a handler raises": Program(
        "raising", partial(looping, ranks=2, count=2, pauses=False, fails=1)
    ),
}
