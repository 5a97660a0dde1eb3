"""Races of engines that pause: the published steps, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.core.pause import Mode
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.pause_testbed import PauseBed, World

__all__ = ("ENGINES", "Engine")

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
        self.waiting = 0
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


# -- a rank that dies in a pause (P6.3) ----------------------------------------------------------------------------


def _dead_resume_shipped(runtime: ControlledRuntime) -> Scenario:
    """The resume waits until every slot says that its rank is active again."""
    engine = Engine(runtime)
    engine.paused = True

    def rank() -> None:
        runtime.kill("rank")

    def client() -> None:
        engine.set(paused=False)
        engine.when(lambda: engine.live == 1)

    return Scenario({"client": client, "rank": rank})


def _dead_resume_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def network() -> None:
        bed.service.lose_session(bed.queues[0]._welcome["session"])

    def client() -> None:
        bed.api.resume(bed.api.pause(timeout=None), timeout=None)

    return bed.scenario({"client": client, "network": network})


def _relies(bed: PauseBed, mode: Mode = "drain") -> None:
    with bed.api.paused(mode, timeout=None):
        bed.world.rely()


# Race -> published steps, ours, and what the published ones come to (words of the message, or the verdict).
ENGINES: dict[str, tuple[_Build, _Build, str]] = {
    "B31": (_stops_loop_shipped, _stops_loop_ours, "deadlock"),
    "B32": (_marks_shipped, _marks_ours, "deadlock"),
    "B34": (_device_shipped, _device_ours, "a task runs in a pause"),
    "P6.3 resume": (_dead_resume_shipped, _dead_resume_ours, "deadlock"),
}
