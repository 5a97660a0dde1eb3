"""Planted faults in a rank's transfer core and in the host's channel, each of which driving the edges must see."""

from __future__ import annotations

from typing import Any

from fdcomm.core.rank_tasks import Begun, RankTasks
from tests.conformance.channel_faults import Change, joins_and_fences, nothing, silent

__all__ = ("INSIDE", "SERVICE")

_Rank = RankTasks[Any]


class _DoneBeforeReport(_Rank):
    """A job ends before its result is posted (P6.5)."""

    def job_done(self, number: int) -> Any:
        self._begun(number, "JobDone").told = True
        return super().job_done(number)


class _AnyOrder(_Rank):
    def next_of(self, kind: str) -> Begun[Any] | None:
        return next((begun for begun in reversed(self.jobs.values()) if begun.kind == kind), None)


class _TellsTwice(_Rank):
    def tell(self, number: int, *, ok: bool) -> bool:
        begun = self._begun(number, "Report")
        begun.told = False
        return super().tell(number, ok=ok)


class _BeginsUncounted(_Rank):
    """A task that was begun is not counted (B43)."""

    def begin(self, number: int, kind: str) -> Begun[Any]:
        begun = super().begin(number, kind)
        del self.jobs[number]
        return begun


class _KeepsSpare(_Rank):
    def begin(self, number: int, kind: str) -> Begun[Any]:
        begun = super().begin(number, kind)
        self.spare = begun.job
        return begun


class _ReportsRunning(_Rank):
    """A task is reported while its handler runs."""

    def tell(self, number: int, *, ok: bool) -> bool:
        begun = self._begun(number, "Report")
        running, begun.running = begun.running, False
        try:
            return super().tell(number, ok=ok)
        finally:
            begun.running = running


class _DoneBeforeSettle(_Rank):
    """A job ends before the host knows that its handler has (overdue-target)."""

    def job_done(self, number: int) -> Any:
        self._begun(number, "JobDone").owes = False
        return super().job_done(number)


class _SettlesRunning(_Rank):
    def settle(self, number: int) -> bool:
        begun = self._begun(number, "Settle")
        owed, begun.owes = begun.owes, False
        return owed


class _OverdueAfterEnd(_Rank):
    def overdue(self, number: int) -> bool:
        begun = self._begun(number, "Overdue")
        fresh = not begun.told
        begun.told = begun.owes = True
        return fresh


_FAULTS = (
    *(_DoneBeforeReport, _AnyOrder, _TellsTwice, _BeginsUncounted, _KeepsSpare),
    *(_ReportsRunning, _DoneBeforeSettle, _SettlesRunning, _OverdueAfterEnd),
)
INSIDE: dict[str, type[_Rank]] = {fault.__name__[1:]: fault for fault in _FAULTS}


SERVICE: dict[str, tuple[str, Change]] = {
    "a refusal wakes nobody": ("refuse", silent),
    "a withdrawal wakes nobody": ("withdraw", silent),
    "a close wakes nobody": ("close_session", silent),
    "a handle that opens changes nothing": ("_enter", nothing),
    "a loop that is closed stays": ("leave", nothing),
    "a report that is late settles nothing": ("_settle", nothing),
    "a client that goes stays": ("_exit", nothing),
    "what was taken is never acknowledged": ("_acknowledge", nothing),
    "events are missing": ("_record", joins_and_fences),
}
