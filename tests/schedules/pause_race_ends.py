"""Races about late messages, who ends a pause, and jobs that were parked; and the words of a shipped loop."""

from __future__ import annotations

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.errors import CommTimeoutError, NotPausedError
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.pause_testbed import PauseBed, World

__all__ = ("Loop", "acts_ours", "acts_shipped", "drain_ours", "drain_shipped", "late_ours", "late_shipped", "parked")

_POLL_S = 0.1


class Loop:
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

    def pause(self) -> None:
        """A client's pause of rank 0: publish it, wait until that rank runs nothing, and rely on it."""
        self.store(0, 1)
        while self.load(2):
            self.runtime.sleep(_POLL_S)
        self.world.rely()


# -- messages that come late ---------------------------------------------------------------------------------------


def late_shipped(runtime: ControlledRuntime) -> Scenario:
    """A wake-up was sent before the pause, and arrives when it likes. It carries no number, and the rank obeys it."""
    loop = Loop(runtime)

    def rank() -> None:
        loop.add(2, 1)
        loop.world.work()
        loop.add(2, -1)

    return Scenario({"client": loop.pause, "the wake-up arrives": rank})


def late_ours(runtime: ControlledRuntime) -> Scenario:
    """An order to run, and the pause after it, reach the rank in any order."""
    world, lock = World(runtime), runtime.condition()
    gate = RankGate(Order(0, "run", "drain"))
    come: list[int] = []

    def deliver(order: Order) -> None:
        with lock:
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


def acts_shipped(runtime: ControlledRuntime) -> Scenario:
    """An update looks whether there is a pause, and acts; another client resumes."""
    loop = Loop(runtime)
    loop.store(0, 1)

    def updates() -> None:
        if loop.load(0):
            loop.world.rely()

    def resumes() -> None:
        loop.store(0, 0)
        loop.world.work()

    return Scenario({"updates": updates, "resumes": resumes})


def acts_ours(runtime: ControlledRuntime) -> Scenario:
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


def drain_shipped(runtime: ControlledRuntime) -> Scenario:
    """A resume that finds nothing to resume takes the flag of a drain that is under way."""
    loop = Loop(runtime)

    def resumes() -> None:
        loop.store(0, 0)
        if not loop.load(0):
            loop.world.work()

    return Scenario({"client": loop.pause, "resumes": resumes})


def drain_ours(runtime: ControlledRuntime) -> Scenario:
    bed = PauseBed(runtime)

    def client() -> None:
        with bed.api.paused(timeout=None):
            bed.world.rely()

    def resumes() -> None:
        bed.api.resume(timeout=None)
        bed.job()

    return bed.scenario({"client": client, "resumes": resumes})


# -- a job that was parked -----------------------------------------------------------------------------------------


def parked(runtime: ControlledRuntime, *, shipped: bool) -> Scenario:
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
