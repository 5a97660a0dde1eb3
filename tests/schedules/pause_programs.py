"""Programs over the shipping pause protocol: the ranks' own threads, the host's channel and its callers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.core.pause import Mode
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FencedError,
    HostLostError,
    JobCancelledError,
    PauseEndedError,
    RequestCancelledError,
)
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.pause_testbed import PauseBed

__all__ = ("LARGER", "PROGRAMS")


def working(runtime: ControlledRuntime, jobs: int = 1, ranks: int = 1, threads: int = 1) -> Scenario:
    """Jobs run while a client pauses, relies on the pause, and resumes."""
    bed = PauseBed(runtime, ranks)

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    def worker(rank: int) -> None:
        for _ in range(jobs):
            bed.job(rank)

    def final() -> None:
        assert bed.world.worked == jobs * ranks * threads

    tasks: dict[str, Callable[[], None]] = {"client": client}
    for number in range(ranks * threads):
        tasks[f"worker {number}"] = partial(worker, number % ranks)
    return bed.scenario(tasks, final)


def two_clients(runtime: ControlledRuntime) -> Scenario:
    """Two clients pause, rely on it and resume at the same time: neither takes the pause from the other."""
    bed = PauseBed(runtime)

    def client() -> None:
        with bed.api.paused(timeout=None):
            assert bed.api.statistics().paused

    return bed.scenario({"client 1": client, "client 2": client})


def parked(runtime: ControlledRuntime) -> Scenario:
    """A job is parked, released, and meets the next pause before it has woken."""
    bed = PauseBed(runtime)

    def client() -> None:
        for _ in range(2):
            with bed.api.paused("keep", timeout=None):
                bed.world.rely()

    def worker() -> None:
        with bed.controls[0].admit(timeout=None) as job:
            job.checkpoint(timeout=None)
            bed.world.work()

    return bed.scenario({"client": client, "worker": worker})


def aborted(runtime: ControlledRuntime) -> Scenario:
    """A pause is made sharper while a job is parked: the job is told to end."""
    bed = PauseBed(runtime)

    def client(mode: Mode) -> None:
        with bed.api.paused(mode, timeout=None):
            bed.world.rely()

    def worker() -> None:
        with bed.controls[0].admit(timeout=None) as job:
            try:
                job.checkpoint(timeout=None)
            except JobCancelledError:
                return
            bed.world.work()

    return bed.scenario({"keeps": partial(client, "keep"), "aborts": partial(client, "abort"), "worker": worker})


def cancelled(runtime: ControlledRuntime) -> Scenario:
    """A pause is given up at any moment: who waited is told, or has it, and jobs go on."""
    bed = PauseBed(runtime)
    told: list[str] = []

    def client() -> None:
        try:
            bed.api.pause(timeout=None)
        except PauseEndedError:
            told.append("ended")
            return
        told.append("paused")
        bed.api.resume(timeout=None)

    def canceller() -> None:
        if bed.api.cancel_pause(timeout=None):
            told.append("cancelled")

    def final() -> None:
        assert sorted(told) in (["cancelled", "ended"], ["paused"]), f"{told}"
        assert not bed.api.statistics().paused

    return bed.scenario({"client": client, "canceller": canceller, "worker": bed.job}, final)


def leaving(runtime: ControlledRuntime) -> Scenario:
    """A rank closes its control while a pause waits for its job: it leaves when the job has ended."""
    bed = PauseBed(runtime)
    job = bed.controls[0].admit(timeout=0)

    def worker() -> None:
        bed.world.work()
        job.done()

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    def final() -> None:
        try:
            bed.controls[0].admit(timeout=0)
        except ClosedError:
            return
        raise AssertionError("a closed control admits a job")

    return bed.scenario({"client": client, "worker": worker, "closer": bed.controls[0].close}, final)


def lost(runtime: ControlledRuntime) -> Scenario:
    """The rank is lost while a pause waits for it: the pause returns, and the rank's jobs are refused."""
    bed = PauseBed(runtime)
    job = bed.controls[0].admit(timeout=0)
    refused: list[str] = []

    def client() -> None:
        bed.api.pause(timeout=None)

    def network() -> None:
        bed.service.lose_session(bed.queues[0]._welcome["session"])

    def final() -> None:
        try:
            bed.controls[0].admit(timeout=0)
        except (FencedError, ClosedError) as error:
            refused.append(type(error).__name__)
        assert refused, "a lost rank admits a job"

    scenario = bed.scenario({"client": client, "network": network}, final)
    inner = scenario.tasks["client"]

    def last() -> None:
        inner()
        job.done()

    scenario.tasks = {**scenario.tasks, "client": last}
    return scenario


def closing(runtime: ControlledRuntime) -> Scenario:
    """The host ends while a pause and an admission wait: both are told."""
    bed = PauseBed(runtime)
    told: list[str] = []

    def client() -> None:
        try:
            bed.api.pause(timeout=None)
        except HostLostError:
            told.append("lost")

    def worker() -> None:
        try:
            bed.job()
        except HostLostError:
            told.append("lost")

    return bed.scenario({"client": client, "worker": worker, "host": bed.service.shut_down})


def timed(runtime: ControlledRuntime) -> Scenario:
    """A pause with a time limit waits for a job: it returns, or says that it has not been reached."""
    bed = PauseBed(runtime)
    told: list[tuple[int, ...]] = []

    def client() -> None:
        try:
            bed.api.pause(timeout=1.0)
        except CommTimeoutError as error:
            told.append(error.missing)
            assert bed.api.statistics().phase == "pause", "what was ordered stays ordered"
            bed.api.pause(timeout=None)
        bed.world.rely()
        bed.api.resume(timeout=None)

    def final() -> None:
        assert told in ([], [(0,)]), f"{told} are missing"

    return bed.scenario({"client": client, "worker": bed.job}, final)


def given_up(runtime: ControlledRuntime) -> Scenario:
    """A wait for a pause or a resume is given up at any moment: it has come, or what was ordered stays ordered."""
    bed = PauseBed(runtime)
    told: list[str] = []

    def again(call: Callable[..., object]) -> None:
        try:
            call(timeout=None)
        except RequestCancelledError:
            told.append("given up")
            call(timeout=None)

    def client() -> None:
        again(bed.api.pause)
        bed.world.rely()
        again(bed.api.resume)

    def other() -> None:
        if bed.api.give_up():
            told.append("asked")

    def final() -> None:
        assert sorted(told) in ([], ["asked"], ["asked", "given up"]), f"{told}"

    return bed.scenario({"client": client, "other": other, "worker": bed.job}, final)


def cleared(runtime: ControlledRuntime, clients: int = 2) -> Scenario:
    """Clients clear while a job runs: each work alone with no job, each once, and jobs go on after the last."""
    bed = PauseBed(runtime)
    done: list[int] = []

    def client(number: int) -> None:
        def work() -> int:
            bed.world.rely()
            return number

        done.append(bed.api.clear(work, timeout=None))

    def final() -> None:
        assert sorted(done) == list(range(clients))
        assert bed.api.statistics().phase == "run", "the group was left paused"
        assert bed.world.worked == 1

    tasks: dict[str, Callable[[], None]] = {f"client {number}": partial(client, number) for number in range(clients)}
    return bed.scenario({**tasks, "worker": bed.job}, final)


def _program(name: str, build: Callable[[ControlledRuntime], Scenario]) -> Program:
    return Program(name, build, {})


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 jobs": (_program("2 jobs", partial(working, jobs=2)), Bound(preemptions=1)),
    "2 threads": (_program("2 threads", partial(working, threads=2)), Bound(preemptions=0)),
    "a job is parked": (_program("a job is parked", parked), Bound(preemptions=0)),
    "a pause is given up": (_program("a pause is given up", cancelled), Bound(preemptions=0)),
    "a rank leaves": (_program("a rank leaves", leaving), Bound(preemptions=0)),
    "a rank is lost": (_program("a rank is lost", lost), Bound(preemptions=1)),
    "the host ends": (_program("the host ends", closing), Bound(preemptions=0)),
    "a wait is given up": (_program("a wait is given up", given_up), Bound(preemptions=0)),
    "a client clears": (_program("a client clears", partial(cleared, clients=1)), Bound(preemptions=0)),
    "a time limit passes": (_program("a time limit passes", timed), Bound(preemptions=0, ticks=1)),
}

# Random schedules only.
LARGER: dict[str, Program] = {
    "2 clients": _program("2 clients", two_clients),
    "2 clients clear": _program("2 clients clear", cleared),
    "2 ranks": _program("2 ranks", partial(working, ranks=2, jobs=2)),
    "4 threads": _program("4 threads", partial(working, threads=4, jobs=2)),
    "a pause is made sharper": _program("a pause is made sharper", aborted),
}
