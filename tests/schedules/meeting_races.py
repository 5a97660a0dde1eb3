"""The races of meetings in shared memory: the obvious steps, and ours, under the same schedules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.meeting import members
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.layout import LIVES, NOBODY, TURN, next_round
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.meeting_bed import MeetingBed
from tests.schedules import group_programs
from tests.schedules.meeting_programs import (
    comes_back,
    giving_up,
    labels_differ,
    meeting,
    never,
    one_killed,
    outcome,
    scenario,
)

__all__ = ("BOUND", "OUR_BOUNDS", "RACES", "race")

BOUND = Bound(preemptions=2)
_FEWER = ("waits-for-the-dead", "labels", "slept-through", "group-mixed", "group-apart", "group-abort")
OUR_BOUNDS = dict.fromkeys(_FEWER, Bound(preemptions=1))
"""Ours has more steps in these."""


class _Plain:
    """Two ranks at words, as one writes it first: arrive, look at the other, and pass when it is there."""

    def __init__(self, scheduling: ControlledRuntime, *, weak: bool = False) -> None:
        self.bed = MeetingBed(scheduling, 2, ("rank 0", "rank 1"), weak=weak)
        self.words: Any = self.bed.room(0).words
        self.places = self.bed.arrivals
        self.told: dict[int, str] = {}

    def arrive(self, rank: int) -> None:
        self.words[self.places[rank]] = 0

    def here(self) -> bool:
        return all(self.words[self.places[rank]] == 0 for rank in range(2))

    def poll(self, rank: int, looks: int, message: str) -> bool:
        """Look again each second; raise when that was too often."""
        for _ in range(looks):
            if self.words[TURN]:
                return True
            if self.here():
                self.words[TURN] = next_round(0)
                return True
            self.bed.runtime.sleep(1.0)
        raise AssertionError(message)


def _withdrawn(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A rank whose time is over takes its arrival back while the last one counts it."""
    if not shipped:
        return giving_up(scheduling)
    plain = _Plain(scheduling)

    def first() -> None:
        plain.arrive(0)
        if plain.words[TURN]:
            plain.told[0] = "passed"
            return
        plain.words[plain.places[0]] = NOBODY
        plain.told[0] = "timeout"

    def last() -> None:
        plain.arrive(1)
        if plain.here():
            plain.words[TURN] = next_round(0)
            plain.told[1] = "passed"

    def final() -> None:
        assert plain.told != {0: "timeout", 1: "passed"}, "one was told that it met nobody, the other that both met"

    return scenario(plain.bed, {"rank 0": first, "rank 1": last}, final)


def _waits_for_the_dead(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B21: a rank dies before it arrives, and the others wait without a limit."""
    if not shipped:
        return one_killed(scheduling)
    plain = _Plain(scheduling)

    def wait(rank: int) -> None:
        plain.arrive(rank)
        plain.poll(rank, 30, "a rank still waits for one that is dead")

    tasks: dict[str, Callable[[], None]] = {
        "rank 0": partial(wait, 0),
        "rank 1": partial(wait, 1),
        "killer": lambda: plain.bed.runtime.kill("rank 0"),
    }
    return scenario(plain.bed, tasks, lambda: None)


def _labels(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B26: a rank is one round ahead of another one, and they meet."""
    if not shipped:
        return labels_differ(scheduling)
    plain = _Plain(scheduling)

    def wait(rank: int, step: str) -> None:
        plain.arrive(rank)
        plain.poll(rank, 30, "hung")
        plain.told[rank] = step

    def final() -> None:
        assert len(set(plain.told.values())) < 2, f"ranks in different rounds have met: {plain.told}"

    tasks: dict[str, Callable[[], None]] = {f"rank {rank}": partial(wait, rank, f"step {rank}") for rank in range(2)}
    return scenario(plain.bed, tasks, final)


def _half_given_up(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """Who gives a rank up is killed between its two stores; nobody is left who tells the others."""
    bed = MeetingBed(scheduling, 2, ("rank 1",), weak=False)
    told: list[str] = []

    class Forgetful(Chair):
        def gone(self, rank: int) -> bool:
            return not self.room.words[LIVES + rank] & 1 and super().gone(rank)

    def wait() -> None:
        attendant = Attendant(bed.room(1), 1, 0, turns=0)
        if shipped:
            attendant._chair = Forgetful(attendant._room)
        told.append(outcome(attendant, timeout=1.0))

    def give_up() -> None:
        members.fence(bed.room(9), 0, never(bed))

    def kill() -> None:
        bed.runtime.kill("owner")
        bed.kernel.free("owner")

    def final() -> None:
        whole = bed.words[LIVES] & 1
        assert not whole or told == ["lost"], f"rank 0 was given up, and the other one was told {told}"

    tasks: dict[str, Callable[[], None]] = {"rank 1": wait, "owner": give_up, "killer": kill}
    return scenario(bed, tasks, final)


class _Believes(Attendant):
    """Takes every later round for one that it was in."""

    def _ended(self, turn: int, now: int, operation: str) -> int | None:
        try:
            return super()._ended(turn, now, operation)
        except FdcommError:
            if now >= next_round(turn):
                return 0
            raise


def _comes_back(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A process that was given up goes on beside the one that came for its rank."""
    if not shipped:
        return comes_back(scheduling)
    bed = MeetingBed(scheduling, 1, ("rank 0", "second"), weak=False)
    told: dict[str, str] = {}

    def first() -> None:
        told["rank 0"] = outcome(_Believes(bed.room(0), 0, 0, turns=0), timeout=60.0)

    def second() -> None:
        members.fence(bed.room(8), 0, never(bed))
        life = members.attach(bed.room(9), 0, never(bed))
        told["second"] = outcome(Attendant(bed.room(9), 0, life, turns=0), timeout=60.0)

    def final() -> None:
        assert told["rank 0"] != told["second"], "a process that was given up was told that it passed the round"

    return scenario(bed, {"rank 0": first, "second": second}, final)


def _slept_through(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """The last two arrivals look at each other while both are still in a store buffer, and both go to sleep."""
    if not shipped:
        return meeting(scheduling)
    plain = _Plain(scheduling, weak=True)
    start = plain.bed.runtime.monotonic()
    kernel = plain.bed.kernel

    def wait(rank: int) -> None:
        plain.arrive(rank)
        if plain.here():
            plain.words[TURN] = next_round(0)
            kernel.wake(0)
            return
        kernel.sleep(0, 0, 60.0)

    def final() -> None:
        assert scheduling.scheduler.clock == start, "both ranks slept, each in the belief that the other was missing"

    return scenario(plain.bed, {f"rank {rank}": partial(wait, rank) for rank in range(2)}, final)


RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "withdrawn": _withdrawn,
    "waits-for-the-dead": _waits_for_the_dead,
    "labels": _labels,
    "half-given-up": _half_given_up,
    "comes-back": _comes_back,
    "slept-through": _slept_through,
    **group_programs.RACES,
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the obvious steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name](runtime, shipped)

    return Program(f"meeting {name}, {'shipped' if shipped else 'ours'}", build, {})
