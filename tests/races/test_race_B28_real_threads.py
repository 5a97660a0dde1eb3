"""B28, P5.4: threads of a pool and a loop change the counter at once."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from fdcomm import EngineCacheQueue, PauseControl
from fdcomm.core.rank_gate import RankGate
from fdcomm.errors import CommTimeoutError
from fdcomm.jobs import RankJobs
from tests.races.counter_stress import stress
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race

pytestmark = pytest.mark.multiproc

THREADS, TIMES, ROUNDS = 4, 60, 50
OURS = {f.__code__ for f in (RankJobs.try_admit, RankJobs.finish, RankGate.admit, RankGate.done)}


class ShippedCounter:
    """A transfer process counts its unfinished tasks: the loop adds, the pool's threads subtract."""

    def __init__(self) -> None:
        self.inflight = 0

    def begin(self) -> None:
        """A task is submitted."""
        self.inflight += 1

    def end(self) -> None:
        """A task has ended."""
        self.inflight -= 1

    def task(self) -> None:
        """A task from its begin to its end."""
        self.begin()
        self.end()


@dataclass(frozen=True)
class StressRace(Race):
    """A stress with the switches that the language allows."""

    def on_shipped(self) -> str:
        """Return what went wrong on the published counter."""
        seed = random.randrange(1 << 20)
        codes = {ShippedCounter.begin.__code__, ShippedCounter.end.__code__}
        for number in range(ROUNDS):
            counter = ShippedCounter()
            stress(counter.task, THREADS, TIMES, codes, seed + number)
            if counter.inflight:
                return f"no task is left, and the counter is not 0 but {counter.inflight} (seed {seed + number})"
        return ""

    def on_ours(self) -> str:
        """Return what went wrong on ours: one more job runs all the time, and a pause has to see exactly that one."""
        with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
            with EngineCacheQueue(server.address, num_client=1, client_id=0) as queue:
                with PauseControl(queue, rank=True) as rank:
                    return _counted(rank, PauseControl(server))


def _counted(rank: PauseControl, api: PauseControl) -> str:
    def task() -> None:
        rank.admit(timeout=WATCHDOG_S).done()

    job = rank.admit(timeout=0)
    for codes in (None, OURS):
        seed = random.randrange(1 << 20)
        stress(task, THREADS, TIMES, codes, seed)
        if rank.inflight != 1:
            return f"one job runs, and {rank.inflight} are counted (seed {seed})"
    try:
        api.pause(timeout=0.05)
    except CommTimeoutError:
        job.done()
    else:
        return "a pause is reached while a job runs"
    api.pause(timeout=WATCHDOG_S)
    return "" if rank.inflight == 0 else f"{rank.inflight} jobs are counted"


RACE = StressRace(("B28", "P5.4"), lambda _: "", lambda _: "", "the counter is not 0 but", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
