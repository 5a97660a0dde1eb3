"""Races of engines that pause, of front ends, and of ranks that step together: the published steps, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.core.pause import Mode
from fdcomm.pause import PauseControl
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.pause_testbed import PauseBed, World

__all__ = ("ENGINES",)

_POLL_S = 0.1
_Build = Callable[[ControlledRuntime], Scenario]


class Engine:
    """What the threads of a published engine share, under one lock: what is wrong is what they wait for."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.world = World(runtime)
        self._turn = runtime.condition()
        self.paused = False
        self.live = 0
        self.marks = 0
        self.launched: bool | None = None
        self.known = False

    def set(self, **values: int | bool) -> None:
        """One step."""
        with self._turn:
            self._change(values)

    def when(self, holds: Callable[[], bool], **values: int | bool) -> None:
        """Wait until it holds; that, and what follows, is one step."""
        with self._turn:
            while not holds():
                self._turn.wait(None)
            self._change(values)

    def get(self, name: str) -> bool:
        """One step: a look."""
        with self._turn:
            return bool(getattr(self, name))

    def admit(self) -> bool:
        """One step: a request comes, and is refused in a pause."""
        with self._turn:
            if not self.paused:
                self._change({"live": 1})
            return not self.paused

    def _change(self, values: dict[str, int | bool]) -> None:
        for name, value in values.items():
            setattr(self, name, value)
        self._turn.notify_all()


# -- a pause that stops the loop it waits for (B31) ----------------------------------------------------------------


def _stops_loop_shipped(runtime: ControlledRuntime) -> Scenario:
    """The loop ends what is marked as aborted, unless the flag of the pause stops it."""
    engine = Engine(runtime)
    engine.live = 1

    def loop() -> None:
        engine.when(lambda: not engine.paused and engine.marks > 0, live=0, marks=0)

    def client() -> None:
        engine.set(marks=1)
        engine.set(paused=True)
        engine.when(lambda: engine.live == 0)
        engine.world.rely()

    return Scenario({"client": client, "loop": loop})


def _stops_loop_ours(runtime: ControlledRuntime) -> Scenario:
    """The job ends only when it is told to, in the pause that waits for it."""
    bed = PauseBed(runtime)
    job = bed.controls[0].admit(timeout=0)

    def rank() -> None:
        while not job.cancelled:
            runtime.sleep(_POLL_S)
        bed.world.work()
        job.done()

    return bed.scenario({"client": partial(_relies, bed, "abort"), "rank": rank})


# -- a pause that waits for marks (B32) ----------------------------------------------------------------------------


def _marks_shipped(runtime: ControlledRuntime) -> Scenario:
    """A request ends, and its user aborts it; the loop looks for marks of live requests only."""
    engine = Engine(runtime)
    engine.live = 1

    def client() -> None:
        engine.set(paused=True)
        engine.when(lambda: engine.live == 0 and engine.marks == 0)

    tasks = {"client": client, "loop": lambda: engine.set(live=0, marks=0), "user": lambda: engine.set(marks=1)}
    return Scenario(tasks)


def _marks_ours(runtime: ControlledRuntime) -> Scenario:
    """A job ends, and its user aborts it; a client drains, before that or after it."""
    bed = PauseBed(runtime)
    job = bed.controls[0].admit(timeout=0)

    def client() -> None:
        bed.api.pause(timeout=None)
        bed.world.rely()

    def user() -> None:
        bed.world.work()
        job.done()
        bed.api.pause("abort", timeout=None)

    return bed.scenario({"client": client, "user": user})


# -- a step on the device (B34) ------------------------------------------------------------------------------------


def _device_shipped(runtime: ControlledRuntime) -> Scenario:
    """The loop launches a step and is done with the request; the pause looks at requests."""
    engine = Engine(runtime)

    def loop() -> None:
        engine.set(launched=engine.admit(), live=0)

    def device() -> None:
        engine.when(lambda: engine.launched is not None)
        if engine.launched:
            engine.world.work()

    def client() -> None:
        engine.set(paused=True)
        engine.when(lambda: engine.live == 0)
        engine.world.rely()

    return Scenario({"client": client, "loop": loop, "device": device})


def _device_ours(runtime: ControlledRuntime) -> Scenario:
    """The loop hands its job on, and the thread that hears of the device's end ends it."""
    bed = PauseBed(runtime)
    turn = runtime.condition()
    launched = []

    def loop() -> None:
        job = bed.controls[0].admit(timeout=None)
        with turn:
            launched.append(job)
            turn.notify_all()

    def device() -> None:
        with turn:
            while not launched:
                turn.wait(None)
        bed.world.work()
        launched[0].done()

    return bed.scenario({"client": partial(_relies, bed), "loop": loop, "device": device})


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


# -- locks of front ends (B37, B39) --------------------------------------------------------------------------------


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


def _relies(bed: PauseBed, mode: Mode = "drain") -> None:
    with bed.api.paused(mode, timeout=None):
        bed.world.rely()


# Race -> published steps, ours, and what the published ones come to (words of the message, or the verdict).
ENGINES: dict[str, tuple[_Build, _Build, str]] = {
    "B31": (_stops_loop_shipped, _stops_loop_ours, "deadlock"),
    "B32": (_marks_shipped, _marks_ours, "deadlock"),
    "B34": (_device_shipped, _device_ours, "a task runs in a pause"),
    "B35": (_twice_shipped, _twice_ours, "deadlock"),
    "B37": (_after_shipped, _after_ours, "deadlock"),
    "B39": (_fronts_shipped, _fronts_ours, "deadlock"),
}
