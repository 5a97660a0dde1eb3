"""Races of pausing: the published steps, and ours, in one program each. Every schedule within the bound is run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Program, RandomWalk, Report, Scenario, explore
from tests.schedules.pause_race_ends import (
    Loop,
    acts_ours,
    acts_shipped,
    drain_ours,
    drain_shipped,
    late_ours,
    late_shipped,
    parked,
)
from tests.schedules.pause_race_engines import ENGINES
from tests.schedules.pause_race_groups import GROUPS
from tests.schedules.pause_testbed import PauseBed

__all__ = ("OURS", "RACES", "SHIPPED", "explored", "race")

SHIPPED = Bound(preemptions=2, max_steps=400)
OURS = Bound(preemptions=0)
_RANDOM = 60  # executions, where two ranks and their threads have too many schedules
_POLL_S = 0.1
_Build = Callable[[ControlledRuntime], Scenario]


# -- the counter ---------------------------------------------------------------------------------------------------


def _counter_shipped(runtime: ControlledRuntime) -> Scenario:
    loop = Loop(runtime)
    loop.store(2, 1)  # a task runs

    def final() -> None:
        assert loop.load(2) == 1, f"1 task runs, and the counter is {loop.load(2)}"

    tasks = {"loop": lambda: loop.add(2, 1), "pool": lambda: loop.add(2, -1)}
    return Scenario(tasks, final=final)


def _counter_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)
    (control,) = bed.controls
    first = control.admit(timeout=0)
    jobs = [first]

    def loop() -> None:
        jobs.append(control.admit(timeout=0))

    def pool() -> None:
        first.done()

    def check() -> None:
        assert control.inflight == 1, f"1 task runs, and the counter is {control.inflight}"
        jobs[1].done()

    return _then(bed, {"loop": loop, "pool": pool}, check)


def _then(bed: PauseBed, tasks: dict[str, Callable[[], None]], check: Callable[[], None]) -> Scenario:
    """Let the last task check, before the controls are closed."""
    done: list[str] = []
    turn = bed.runtime.condition()

    def wrapped(task: Callable[[], None]) -> None:
        task()
        with turn:
            done.append("")
            last = len(done) == len(tasks)
        if last:
            check()

    return bed.scenario({name: partial(wrapped, task) for name, task in tasks.items()})


# -- a pause that looks before it is seen --------------------------------------------------------------------------


def _looks_shipped(runtime: ControlledRuntime, *, slots: bool, late: bool = False) -> Scenario:
    """The loop looks at the top of its turn. ``slots``: it says that it is active; ``late``: counts in the pool."""
    loop = Loop(runtime)
    word = 1 if slots else 2
    pool = runtime.condition()
    queued: list[str] = []

    def rank() -> None:
        if late:
            with pool:  # looking and submitting are one step here
                if not loop.load(0):
                    queued.append("a task")
        elif not loop.load(0):
            loop.add(word, 1)
            loop.world.work()
            loop.add(word, -1)

    def thread() -> None:
        while True:
            with pool:
                if queued:
                    queued.clear()
                    break
                if loop.load(0):
                    return
            runtime.sleep(_POLL_S)
        loop.add(word, 1)
        loop.world.work()
        loop.add(word, -1)

    def client() -> None:
        with pool:
            loop.store(0, 1)
        while loop.load(word):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    tasks = {"client": client, "rank": rank}
    return Scenario(tasks | {"pool": thread} if late else tasks)


def _looks_ours(runtime: ControlledRuntime, ranks: int = 1) -> Scenario:
    bed = PauseBed(runtime, ranks)

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    # The last rank: where a pause asks one only, it is another.
    return bed.scenario({"client": client, "rank": partial(bed.job, ranks - 1)})


def _local_shipped(runtime: ControlledRuntime) -> Scenario:
    """The pause is that of rank 0; rank 1 goes on."""
    loop = Loop(runtime, 2)

    def client() -> None:
        loop.store(0, 1)
        while loop.load(1):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    return Scenario({"client": client, "rank": loop.world.work})


# -- ranks that take different branches ----------------------------------------------------------------------------


def _branches_shipped(runtime: ControlledRuntime) -> Scenario:
    """Rank 0 publishes once a round; rank 1 reads when it comes to it; each branch has its own barriers."""
    loop = Loop(runtime, 2)
    here = runtime.condition()
    arrived = {"barrier 0": 0, "barrier 1": 0}

    def meet(name: str) -> None:
        with here:
            arrived[name] += 1
            turn = (arrived[name] + 1) // 2 * 2
            here.notify_all()
            while arrived[name] < turn:
                here.wait(None)

    def rank(number: int) -> None:
        paused = 1  # the client has paused, and resumes after this round
        while True:
            if number == 0:
                loop.store(0, paused)
            meet("barrier 0")
            if not loop.load(0):
                meet("barrier 1")
                return
            paused = 0

    return Scenario({"rank 0": partial(rank, 0), "rank 1": partial(rank, 1)})


def _branches_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime, 2)

    def client() -> None:
        bed.api.resume(bed.api.pause(timeout=None), timeout=None)

    return bed.scenario({"client": client, "rank 0": partial(bed.job, 0)})


# -- a task that fails ---------------------------------------------------------------------------------------------


class _Failed(Exception):
    """The queue was cleared."""


def _leak_shipped(runtime: ControlledRuntime) -> Scenario:
    loop = Loop(runtime)

    def rank() -> None:
        try:
            loop.add(2, 1)
            raise _Failed
        except _Failed:
            return

    def client() -> None:
        while loop.load(2):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    return Scenario({"rank": rank, "client": client})


def _leak_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def rank() -> None:
        try:
            with bed.controls[0].admit(timeout=None):
                raise _Failed
        except _Failed:
            return

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    return bed.scenario({"rank": rank, "client": client})


# -- a rank that dies ----------------------------------------------------------------------------------------------


def _dead_shipped(runtime: ControlledRuntime) -> Scenario:
    loop = Loop(runtime)

    def rank() -> None:
        loop.store(1, 1)
        runtime.kill("rank")

    def client() -> None:
        while loop.load(1):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    return Scenario({"rank": rank, "client": client})


def _dead_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)
    job = bed.controls[0].admit(timeout=0)

    def network() -> None:
        bed.service.lose_session(bed.queues[0]._welcome["session"])

    def client() -> None:
        bed.api.pause(timeout=None)
        job.done()  # its process is gone: only this test's own count is put right

    return bed.scenario({"network": network, "client": client})


# Race -> published steps, ours, and what the published ones come to (words of the message, or the verdict).
RACES: dict[str, tuple[_Build, _Build, str]] = {
    "B28": (_counter_shipped, _counter_ours, "1 task runs, and the counter is"),
    "B29": (partial(_looks_shipped, slots=False), _looks_ours, "a task runs in a pause"),
    "P5.9": (partial(_looks_shipped, slots=True), _looks_ours, "a task runs in a pause"),
    "B43": (partial(_looks_shipped, slots=False, late=True), _looks_ours, "a task runs in a pause"),
    "B30": (_local_shipped, partial(_looks_ours, ranks=2), "a task runs in a pause"),
    "P5.1": (_branches_shipped, _branches_ours, "deadlock"),
    "P5.3": (_leak_shipped, _leak_ours, "livelock"),
    "P6.3": (_dead_shipped, _dead_ours, "livelock"),
    "B33": (late_shipped, late_ours, "a task runs in a pause"),
    "B36": (acts_shipped, acts_ours, "a task runs in a pause"),
    "B42": (drain_shipped, drain_ours, "a task runs in a pause"),
    "late-sleeper": (partial(parked, shipped=True), partial(parked, shipped=False), "deadlock"),
    **ENGINES,
    **GROUPS,
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    published, ours, _ = RACES[name]
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", published if shipped else ours, {})


def explored(name: str, *, shipped: bool) -> Report:
    """Run the race's program: every schedule within the bound, or random ones where two ranks of ours take part."""
    program = race(name, shipped=shipped)
    if not shipped and name in ("B30", "P5.1", "B33 split", "B35"):
        return explore(program, RandomWalk(20_307, _RANDOM), Bound(ticks=1))
    return explore(program, Exhaustive(), SHIPPED if shipped else OURS)
