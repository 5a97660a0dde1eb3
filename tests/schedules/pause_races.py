"""Races of pausing: the published steps, and ours, in one program each. Every schedule within the bound is run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.errors import CommTimeoutError, NotPausedError
from fdcomm.testing import Bound, ControlledRuntime, Exhaustive, Program, RandomWalk, Report, Scenario, explore
from tests.schedules.pause_testbed import PauseBed, World

__all__ = ("OURS", "RACES", "SHIPPED", "explored", "race")

SHIPPED = Bound(preemptions=2, max_steps=400)
OURS = Bound(preemptions=0)
_RANDOM = 60  # executions, where two ranks and their threads have too many schedules
_POLL_S = 0.1
_Build = Callable[[ControlledRuntime], Scenario]


class _Loop:
    """Words as the shipped loops have them: the published decision, a slot and a counter for each rank."""

    def __init__(self, runtime: ControlledRuntime, ranks: int = 1) -> None:
        self.runtime = runtime
        self.world = World(runtime)
        self._words = runtime.words(1 + 2 * ranks)
        self.ranks = ranks

    def load(self, word: int) -> int:
        """Read: 0 is the decision, 1 + r the slot of rank r, and what follows are counters."""
        return self.runtime.load(self._words, word)

    def store(self, word: int, value: int) -> None:
        """Write."""
        self.runtime.store(self._words, word, value)

    def add(self, word: int, value: int) -> None:
        """Add, as ``+=`` does: a load and a store."""
        self.store(word, self.load(word) + value)


# -- the counter ---------------------------------------------------------------------------------------------------


def _counter_shipped(runtime: ControlledRuntime) -> Scenario:
    loop = _Loop(runtime)
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
    loop = _Loop(runtime)
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
    loop = _Loop(runtime, 2)

    def client() -> None:
        loop.store(0, 1)
        while loop.load(1):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    return Scenario({"client": client, "rank": loop.world.work})


# -- ranks that take different branches ----------------------------------------------------------------------------


def _branches_shipped(runtime: ControlledRuntime) -> Scenario:
    """Rank 0 publishes once a round; rank 1 reads when it comes to it; each branch has its own barriers."""
    loop = _Loop(runtime, 2)
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
    loop = _Loop(runtime)

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
    loop = _Loop(runtime)

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


# -- messages that come late ---------------------------------------------------------------------------------------


def _late(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """An order to run, and the pause after it, reach the rank in any order."""
    world, lock = World(runtime), runtime.condition()
    gate = RankGate(Order(0, "run", "drain"))
    come: list[int] = []

    def deliver(order: Order) -> None:
        with lock:
            if shipped:
                gate.shut = order.phase == "pause"
            else:
                gate.take(order)
            come.append(order.number)
            lock.notify_all()

    def client() -> None:
        deliver(Order(2, "pause", "drain"))
        with lock:
            while gate.running or not gate.shut:
                if len(come) == 2:
                    return  # nothing was reported
                lock.wait(None)
        world.rely()

    def rank() -> None:
        with lock:
            admitted = gate.admit()
        if admitted:
            world.work()
            with lock:
                gate.done()
                lock.notify_all()

    return Scenario({"client": client, "late": lambda: deliver(Order(1, "run", "drain")), "rank": rank})


# -- who ends a pause ----------------------------------------------------------------------------------------------


def _acts_shipped(runtime: ControlledRuntime) -> Scenario:
    """An update looks whether there is a pause, and acts; another client resumes."""
    loop = _Loop(runtime)
    loop.store(0, 1)

    def updates() -> None:
        if loop.load(0):
            loop.world.rely()

    def resumes() -> None:
        loop.store(0, 0)
        loop.world.work()

    return Scenario({"updates": updates, "resumes": resumes})


def _acts_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def updates() -> None:
        number = bed.api.pause(timeout=None)
        try:
            with bed.api.held(number):
                bed.world.rely()
        except NotPausedError:
            return

    def resumes() -> None:
        bed.api.resume(timeout=None)
        try:
            bed.job(timeout=0)
        except CommTimeoutError:
            bed.api.resume(timeout=None)

    return bed.scenario({"updates": updates, "resumes": resumes})


def _drain_shipped(runtime: ControlledRuntime) -> Scenario:
    """A resume that finds nothing to resume takes the flag of a drain that is under way."""
    loop = _Loop(runtime)

    def client() -> None:
        loop.store(0, 1)
        while loop.load(2):
            runtime.sleep(_POLL_S)
        loop.world.rely()

    def rank() -> None:
        if not loop.load(0):
            loop.world.work()

    scenario = Scenario({"client": client, "resumes": lambda: loop.store(0, 0)})
    inner = scenario.tasks["resumes"]

    def resumes() -> None:
        inner()
        rank()

    scenario.tasks = {**scenario.tasks, "resumes": resumes}
    return scenario


def _drain_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    def resumes() -> None:
        bed.api.resume(timeout=None)
        bed.job()

    return bed.scenario({"client": client, "resumes": resumes})


# -- a job that was parked -----------------------------------------------------------------------------------------


def _parked(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
    """A parked job is released, and the next pause comes before it has woken."""
    lock = runtime.condition()
    gate = RankGate(Order(0, "run", "keep"))
    gate.admit()
    gate.take(Order(1, "pause", "keep"))
    parking = gate.park()

    def job() -> None:
        with lock:
            while gate.may_park if shipped else gate.parking == parking:
                lock.wait(None)
            gate.done()
            lock.notify_all()

    def client() -> None:
        for order in (Order(2, "run", "keep"), Order(3, "pause", "keep")):
            with lock:
                gate.take(order)
                lock.notify_all()
        with lock:
            while not gate.quiet:
                lock.wait(None)

    return Scenario({"job": job, "client": client})


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
    "B33": (partial(_late, shipped=True), partial(_late, shipped=False), "a task runs in a pause"),
    "B36": (_acts_shipped, _acts_ours, "a task runs in a pause"),
    "B42": (_drain_shipped, _drain_ours, "a task runs in a pause"),
    "late-sleeper": (partial(_parked, shipped=True), partial(_parked, shipped=False), "deadlock"),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""
    return Program(f"{name}, {'shipped' if shipped else 'ours'}", RACES[name][0 if shipped else 1], {})


def explored(name: str, *, shipped: bool) -> Report:
    """Run the race's program: every schedule within the bound, or random ones where two ranks of ours take part."""
    program = race(name, shipped=shipped)
    if not shipped and name in ("B30", "P5.1"):
        return explore(program, RandomWalk(20_307, _RANDOM), Bound(ticks=1))
    return explore(program, Exhaustive(), SHIPPED if shipped else OURS)
