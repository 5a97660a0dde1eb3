"""Barriers that are used in turn and meet in one memory: programs over the code that ships, and their races.

Each race has the obvious steps beside ours, under the same schedules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.meeting import members
from fdcomm.meeting.attendant import INTERVAL_S, Attendant
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.layout import TURN, next_round, round_of
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.meeting_bed import MeetingBed
from tests.schedules.meeting_programs import never, outcome, scenario

__all__ = ("LARGE_PROGRAMS", "PROGRAMS", "RACES")

_ONE, _TWO = Bound(preemptions=1), Bound(preemptions=2)


class _Group:
    """Two ranks at two barriers; ``told`` is what their waits have said."""

    def __init__(self, scheduling: ControlledRuntime, ranks: int = 2, *, weak: bool = False) -> None:
        self.names = tuple(f"rank {rank}" for rank in range(ranks))
        self.bed = MeetingBed(scheduling, ranks, (*self.names, "owner"), weak=weak, places=2)
        self.told: dict[str, list[str]] = {name: [] for name in self.names}
        self.words: Any = self.bed.room(0).words

    def rank(
        self,
        rank: int,
        *waits: tuple[int, float | None],
        kind: type[Attendant] = Attendant,
        chair: type[Chair] = Chair,
    ) -> Callable[[], None]:
        """Return what waits at these places, with these limits."""

        def run() -> None:
            attendant = kind(self.bed.room(rank), rank, 0, turns=0)
            attendant._chair = chair(attendant._room)
            for place, limit in waits:
                self.told[f"rank {rank}"].append(outcome(attendant, timeout=limit, place=place))

        return run

    def scenario(self, final: Callable[[], None], **others: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks: ranks are called ``rank_0`` here."""
        return scenario(self.bed, {name.replace("_", " "): task for name, task in others.items()}, final)


def apart(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """Ranks wait at different barriers: both are told at once, and nobody sleeps until his interval ends."""
    group = _Group(scheduling, weak=weak)
    start = group.bed.runtime.monotonic()

    def final() -> None:
        assert all(found == ["mismatch"] for found in group.told.values()), f"the ranks were told {group.told}"
        assert scheduling.scheduler.clock - start < INTERVAL_S / 2, "somebody slept though nobody could come"

    return group.scenario(final, rank_0=group.rank(0, (0, None)), rank_1=group.rank(1, (1, None)))


def other_aborted(scheduling: ControlledRuntime, weak: bool = False, kind: type[Attendant] = Attendant) -> Scenario:
    """Both ranks meet at one barrier while the other one is aborted."""
    group = _Group(scheduling, weak=weak)

    def abort() -> None:
        members.abort(group.bed.room(9), never(group.bed), 0)

    def final() -> None:
        told = {end for found in group.told.values() for end in found}
        assert told == {"passed 0"}, f"another barrier was aborted, and the ranks were told {group.told}"

    ranks = {f"rank_{rank}": group.rank(rank, (1, None), kind=kind) for rank in range(2)}
    return group.scenario(final, **ranks, owner=abort)


def undone(scheduling: ControlledRuntime) -> Scenario:
    """As that, and the abort is undone."""
    group = _Group(scheduling, 1)

    def abort() -> None:
        members.abort(group.bed.room(9), never(group.bed), 0)
        members.reset(group.bed.room(9), never(group.bed), 0)

    def final() -> None:
        assert group.told["rank 0"] == ["passed 0"], f"rank 0 was told {group.told}"

    return group.scenario(final, rank_0=group.rank(0, (1, None)), owner=abort)


def counted(scheduling: ControlledRuntime, chair: type[Chair] = Chair) -> Scenario:
    """A rank is killed while it passes: the counts say what the turn says."""
    group = _Group(scheduling, 1)
    bed = group.bed

    def kill() -> None:
        bed.runtime.kill("rank 0")
        bed.kernel.free("rank 0")

    def final() -> None:
        turn = bed.words[TURN]
        found = [bed.words[bed.shape.passes(turn, place)] for place in range(2)]
        assert sum(found) == round_of(turn), f"{round_of(turn)} rounds were passed, and the counts are {found}"

    return group.scenario(final, rank_0=group.rank(0, (1, None), (0, None), chair=chair), killer=kill)


def moves_on(scheduling: ControlledRuntime) -> Scenario:
    """A rank gives up at one barrier and comes to the other one, where the second one waits."""
    group = _Group(scheduling)

    def final() -> None:
        first, second = group.told["rank 0"], group.told["rank 1"]
        met = first[-1:] == second == ["passed 0"] and first[0] == "timeout"
        missed = first[0] == "mismatch" == second[0]
        assert met or missed, f"the ranks were told {group.told}"

    return group.scenario(final, rank_0=group.rank(0, (0, 0.0), (1, 1.0)), rank_1=group.rank(1, (1, 60.0)))


# -- the races ---------------------------------------------------------------------------------------------------------


class _NoPlaces(Attendant):
    """A rank that has arrived is here, wherever it waits."""

    def _write(self, label: str) -> None:
        place, self._place = self._place, 0
        super()._write(label)
        self._place = place


class _Alone(Attendant):
    """Looks only for ranks at its own barrier: those elsewhere may still come."""

    def _all_here(self, turn: int) -> bool:
        words = self._room.words
        return all(words[first] == turn and words[first + 1] == self._mine for _, first, _ in self._places)


class _EveryAbort(Attendant):
    """Takes every abort for one of its own barrier."""

    def _ended(self, turn: int, now: int, operation: str) -> int | None:
        place = self._place
        try:
            if round_of(now) == round_of(turn):
                self._place = 0
            return super()._ended(turn, now, operation)
        finally:
            self._place = place


class _InPlace(Chair):
    """Counts a pass where it stands, and then says that it took place."""

    def pass_(self, turn: int, place: int) -> None:
        words, shape, after = self.room.words, self.room.shape, next_round(turn)
        for bank in (turn, after):
            words[shape.passes(bank, place)] = words[shape.passes(turn, place)] + (bank == turn)
        self.store(after)


def _mixed(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B26 among barriers: two ranks at different ones let each other through."""
    if not shipped:
        return apart(scheduling)
    group = _Group(scheduling)

    def final() -> None:
        told = [end for found in group.told.values() for end in found]
        assert told != ["passed 0"] * 2, "two ranks have met, and each of them at another barrier"

    ranks = {f"rank_{rank}": group.rank(rank, (rank, None), kind=_NoPlaces) for rank in range(2)}
    return group.scenario(final, **ranks)


def _cross_wait(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B14: all ranks wait, not all at one barrier, and each waits for the others to come."""
    if not shipped:
        return apart(scheduling)
    group = _Group(scheduling)

    def final() -> None:
        assert group.told != {name: ["timeout"] for name in group.names}, "all ranks waited at different barriers"

    ranks = {f"rank_{rank}": group.rank(rank, (rank, 1.0), kind=_Alone) for rank in range(2)}
    return group.scenario(final, **ranks)


def _other_abort(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """The abort of one barrier ends waits at another one."""
    return other_aborted(scheduling, kind=_EveryAbort if shipped else Attendant)


def _half_counted(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """Who passes is killed between its two stores: a round counts that was not passed."""
    return counted(scheduling, _InPlace if shipped else Chair)


RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "group-mixed": _mixed,
    "group-apart": _cross_wait,
    "group-abort": _other_abort,
    "group-count": _half_counted,
}


def _program(name: str, build: Callable[..., Scenario]) -> Program:
    return Program(f"meeting: {name}", build, {})


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "ranks at two barriers": (_program("ranks at two barriers", apart), _ONE),
    "another barrier is aborted, and that is undone": (_program("another barrier, undone", undone), _TWO),
    "who passes one of two barriers is killed": (_program("one of two passed", counted), _TWO),
}
LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "ranks at two barriers, store buffers": (_program("two barriers, weak", partial(apart, weak=True)), _ONE),
    "another barrier is aborted": (_program("another barrier", other_aborted), _ONE),
    "a rank moves on to the other barrier": (_program("moves on", moves_on), _ONE),
}
