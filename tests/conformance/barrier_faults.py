"""Planted faults: small mistakes in the barrier core or channel, each of which driving the edges must see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.core.barrier import Arrival, BarrierGroup, Ending
from fdcomm.host.barrier_channel import BarrierChannel
from tests.conformance.channel_faults import Change, silent, without

__all__ = ("CHANNEL", "CORE", "CORE_LONG")


class _GhostStays(BarrierGroup):
    def fence(self, rank: int) -> None:
        kept = {name: dict(barrier.arrived) for name, barrier in self._barriers.items()}
        super().fence(rank)
        for name, arrived in kept.items():
            if rank in arrived:
                self._barriers[name].arrived[rank] = arrived[rank]


class _FenceWakesNobody(BarrierGroup):
    def fence(self, rank: int) -> None:
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self.lost.add(rank)
        self._withdraw(rank)


class _ResetBreaks(BarrierGroup):
    def reset(self, barrier: str, abort: int) -> bool:
        here = self._at(barrier)
        self._end(here, Ending("broken", here.generation))
        return super().reset(barrier, abort)


class _AnyReset(BarrierGroup):
    def reset(self, barrier: str, abort: int) -> bool:
        return super().reset(barrier, self.aborts(barrier))


class _LabelsIgnored(BarrierGroup):
    def arrive(self, rank: int, barrier: str, label: str = "", round: int | None = None) -> Arrival:
        return super().arrive(rank, barrier, "", round)


class _RoundsIgnored(BarrierGroup):
    def arrive(self, rank: int, barrier: str, label: str = "", round: int | None = None) -> Arrival:
        return super().arrive(rank, barrier, label)


class _CrossWait(BarrierGroup):
    def _waiting(self) -> dict[int, Arrival]:
        return {}


class _IndexByCount(BarrierGroup):
    """A place is given at arrival: two ranks have one, when somebody before them has given up."""

    def arrive(self, rank: int, barrier: str, label: str = "", round: int | None = None) -> Arrival:
        here = self._at(barrier)
        place = len(here.arrived)
        places = {other: arrival.index for other, arrival in here.arrived.items()}
        arrivals = dict(here.arrived)
        arrival = super().arrive(rank, barrier, label, round)
        arrival.index = place
        for other, index in places.items():
            arrivals[other].index = index
        return arrival


class _LostMayArrive(BarrierGroup):
    def _refusal(self, here: Any, round: int | None) -> Ending | None:
        lost, self.lost = self.lost, set()
        try:
            return super()._refusal(here, round)
        finally:
            self.lost = lost


class _AbortForgotten(BarrierGroup):
    def abort(self, barrier: str) -> bool:
        done = super().abort(barrier)
        self._at(barrier).broken = False
        return done


class _TimeoutEndsAll(BarrierGroup):
    def timeout(self, rank: int) -> bool:
        found = any(rank in barrier.arrived for barrier in self._barriers.values())
        for barrier in self._barriers.values():
            if rank in barrier.arrived:
                barrier.arrived.clear()
        return found


CORE: dict[str, Callable[[tuple[str, ...], int], BarrierGroup]] = {
    "a ghost arrival stays": _GhostStays,
    "a fence wakes nobody": _FenceWakesNobody,
    "a reset breaks the round": _ResetBreaks,
    "any reset undoes an abort": _AnyReset,
    "labels are ignored": _LabelsIgnored,
    "rounds are ignored": _RoundsIgnored,
    "cross waits are not seen": _CrossWait,
    "waits begin while a rank is lost": _LostMayArrive,
    "an abort is forgotten": _AbortForgotten,
    "a timeout ends the round": _TimeoutEndsAll,
}


# Needs a history: whoever looks at single steps from fresh states does not see it.
CORE_LONG: dict[str, Callable[[tuple[str, ...], int], BarrierGroup]] = {"a place is given twice": _IndexByCount}


def _tells_nobody(original: Any) -> Any:
    def reset(self: BarrierChannel, session: int, barrier: str) -> None:
        self._told[session, barrier] = self._core.aborts(barrier)
        original(self, session, barrier)

    return reset


# Name -> method of the channel, and what becomes of it.
CHANNEL: dict[str, tuple[str, Change]] = {
    "the last arrival wakes nobody": ("wait", silent),
    "an abort wakes nobody": ("abort", silent),
    "the reset of a rank that was told of no abort": ("reset", _tells_nobody),
    "a timeout is not recorded": ("_record", without("Timeout")),
    "the end of a session wakes nobody": ("_wake_all", lambda original: lambda self: None),
}
