"""Races of front ends, and of ranks that step together: the published steps, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.pause import PauseControl
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.pause_race_engines import Engine
from tests.schedules.pause_testbed import PauseBed

__all__ = ("GROUPS",)

_Build = Callable[[ControlledRuntime], Scenario]


# -- a second resume (B35) -----------------------------------------------------------------------------------------


def _twice_shipped(runtime: ControlledRuntime) -> Scenario:
    """Work and a second resume reach two ranks, each in its own order; a rank without work takes part in a resume."""
    turn = runtime.condition()
    inbox: list[list[str]] = [[], []]
    there = {"step": 0, "resume": 0}

    def send(message: str) -> None:
        for rank in (0, 1):
            with turn:
                inbox[rank].append(message)
                turn.notify_all()

    def meet(name: str) -> None:
        with turn:
            there[name] += 1
            turn.notify_all()
            while there[name] < 2:
                turn.wait(None)

    def rank(number: int) -> None:
        steps = 0
        for position in (0, 1):
            with turn:
                while len(inbox[number]) <= position:
                    turn.wait(None)
                message = inbox[number][position]
            if message == "work":
                steps = 1
                meet("step")
            elif not steps:
                meet("resume")

    ranks = {f"rank {number}": partial(rank, number) for number in (0, 1)}
    return Scenario({"work": partial(send, "work"), "resumes": partial(send, "resume"), **ranks})


def _twice_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime, 2)

    def client() -> None:
        bed.api.resume(bed.api.pause(timeout=None), timeout=None)
        bed.api.resume(timeout=None)

    def again() -> None:
        bed.api.resume(timeout=None)
        bed.api.resume(timeout=None)

    return bed.scenario({"client": client, "again": again, "rank 0": bed.job, "rank 1": partial(bed.job, 1)})


# -- a task that needs all ranks (B30, B33) ------------------------------------------------------------------------


def _split_shipped(runtime: ControlledRuntime) -> Scenario:
    """Each rank stops by itself, between two tasks; one that has stopped takes no task any more."""
    turn = runtime.condition()
    inside: set[int] = set()
    entered: set[int] = set()
    stopped: set[int] = set()

    def client() -> None:
        for number in (0, 1):
            with turn:
                while number in inside:
                    turn.wait(None)
                stopped.add(number)

    def rank(number: int) -> None:
        with turn:
            if number in stopped:
                return
            inside.add(number)
            entered.add(number)
            turn.notify_all()
            while len(entered) < 2:
                turn.wait(None)
            inside.remove(number)
            turn.notify_all()

    return Scenario({"client": client, "rank 0": partial(rank, 0), "rank 1": partial(rank, 1)})


def _split_ours(runtime: ControlledRuntime) -> Scenario:
    """Rank 0 admits a task for both, before either begins, and ends it when both are done."""
    bed = PauseBed(runtime, 2)
    turn = runtime.condition()
    called: list[int] = []
    done: list[int] = []

    def works(number: int) -> None:
        with turn:
            called.append(number)
            turn.notify_all()
            while len(called) < 2:
                turn.wait(None)
        bed.world.work()
        with turn:
            done.append(number)
            turn.notify_all()

    def leader() -> None:
        with bed.controls[0].admit(timeout=None):
            works(0)
            with turn:
                while len(done) < 2:
                    turn.wait(None)

    def follower() -> None:
        with turn:
            while not called:
                turn.wait(None)
        works(1)

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    return bed.scenario({"client": client, "rank 0": leader, "rank 1": follower})


# -- locks of front ends (B37) -------------------------------------------------------------------------------------


def _request(engine: Engine) -> None:
    """A request holds the lock of readers, and freezes with it."""
    engine.when(lambda: not engine.paused, live=1)
    engine.when(lambda: not engine.paused, live=0)


def _after_shipped(runtime: ControlledRuntime) -> Scenario:
    """The step after the update wants the writer's lock; the resume comes after it."""
    engine = Engine(runtime)

    def client() -> None:
        engine.set(paused=True)
        engine.when(lambda: engine.live == 0)
        engine.set(paused=False)

    return Scenario({"client": client, "request": partial(_request, engine)})


def _parks(bed: PauseBed) -> None:
    with bed.controls[0].admit(timeout=None) as job:
        job.checkpoint(timeout=None)
        bed.world.work()


def _after_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def client() -> None:
        with bed.api.paused("keep", timeout=None):
            bed.world.rely()
            bed.world.rely()  # the step after the update

    return bed.scenario({"client": client, "request": partial(_parks, bed)})


# -- a flush that waits for what waits (B38) -----------------------------------------------------------------------


def _flush_shipped(runtime: ControlledRuntime) -> Scenario:
    """A request that comes in a pause waits for its end; the flush after the update wants that no request waits."""
    engine = Engine(runtime)

    def request() -> None:
        engine.set(waiting=1)
        engine.when(lambda: not engine.paused, waiting=0)

    def client() -> None:
        engine.set(paused=True)
        engine.when(lambda: engine.waiting == 0)
        engine.set(paused=False)

    return Scenario({"client": client, "request": request})


def _flush_ours(runtime: ControlledRuntime) -> Scenario:
    """The same with a job that waits for its admission: the host answers, and a clear is done, all the same."""
    bed = PauseBed(runtime)

    def request() -> None:
        with bed.controls[0].admit(timeout=None):
            bed.world.work()

    def client() -> None:
        number = bed.api.pause(timeout=None)
        assert bed.api.statistics().paused
        bed.api.clear(bed.world.rely, timeout=None)
        bed.api.resume(number, timeout=None)

    return bed.scenario({"client": client, "request": request})


# -- an update through another front end (B39) ---------------------------------------------------------------------


def _fronts_shipped(runtime: ControlledRuntime) -> Scenario:
    """A pause through one front end, and an update through another, which hears of it later."""
    engine = Engine(runtime)

    def client() -> None:
        engine.set(paused=True)
        if not engine.get("known"):
            engine.when(lambda: engine.live == 0)
        engine.set(paused=False)

    news = partial(engine.set, known=True)
    return Scenario({"client": client, "request": partial(_request, engine), "news": news})


def _fronts_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)
    other = PauseControl(bed._queue(0, "producer"))

    def client() -> None:
        number = bed.api.pause("keep", timeout=None)
        with other.held(number):
            bed.world.rely()
        other.resume(number, timeout=None)

    scenario = bed.scenario({"client": client, "request": partial(_parks, bed)})
    close = scenario.close

    def both() -> None:
        other._queue._transport = None  # as those of the bed
        if close is not None:
            close()

    scenario.close = both
    return scenario


# Race -> published steps, ours, and what the published ones come to (words of the message, or the verdict).
GROUPS: dict[str, tuple[_Build, _Build, str]] = {
    "B33 split": (_split_shipped, _split_ours, "deadlock"),
    "B35": (_twice_shipped, _twice_ours, "deadlock"),
    "B37": (_after_shipped, _after_ours, "deadlock"),
    "B38": (_flush_shipped, _flush_ours, "deadlock"),
    "B39": (_fronts_shipped, _fronts_ours, "deadlock"),
}
