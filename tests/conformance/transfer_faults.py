"""Planted faults in the host's transfer core, each of which driving the edges must see."""

from __future__ import annotations

from typing import Any

from fdcomm.core.transfer import Transfer
from fdcomm.core.transfer_state import Task

__all__ = ("CORE",)

_Core = Transfer[Any]
_Task = Task[Any]


class _StartsAlone(_Core):
    """A task starts when one rank is ready (B10)."""

    def can_start(self) -> bool:
        return bool(self.queued) and "yes" in self.votes


class _StartsNewest(_Core):
    def start(self) -> _Task | None:
        self.queued = dict(reversed(self.queued.items()))
        return super().start()


class _WithdrawsSilently(_Core):
    """Withdrawn tasks have no result (B08, P5.5)."""

    def withdraw(self, client: int) -> tuple[_Task, ...]:
        found = super().withdraw(client)
        for task in found:
            self.clients[client].results.remove(task)
        return found


class _WithdrawsStarted(_Core):
    def withdraw(self, client: int) -> tuple[_Task, ...]:
        return self._cancel(task for task in [*self.queued.values(), *self.started.values()] if task.owner == client)


class _WithdrawsAll(_Core):
    def withdraw(self, client: int) -> tuple[_Task, ...]:
        return super().clear()


class _ClearsOldest(_Core):
    def clear(self) -> tuple[_Task, ...]:
        return self._cancel([*self.queued.values()][:1])


class _LeaveWaits(_Core):
    def leave(self, rank: int) -> None:
        votes = list(self.votes)
        super().leave(rank)
        self.votes = votes


class _FenceWaits(_Core):
    """Tasks wait for a rank that is lost (C06)."""

    def _lack(self, rank: int, tasks: dict[int, _Task]) -> None:
        if rank not in self.lost:
            super()._lack(rank, tasks)


class _FenceKeepsQueued(_Core):
    def fence(self, rank: int) -> None:
        queued, self.queued = self.queued, {}
        super().fence(rank)
        self.queued = queued


class _VanishIsNothing(_Core):
    def vanish(self, rank: int) -> None:
        queued, self.queued = self.queued, {}
        super().vanish(rank)
        self.queued = queued


class _ReappearIsNothing(_Core):
    def reappear(self, rank: int) -> bool:
        return rank in self.lost


class _FailureIsDone(_Core):
    def report_failed(self, rank: int, number: int, error: Any) -> bool:
        return self.report_ok(rank, number, error)


class _FirstReportEnds(_Core):
    def awaited(self, task: _Task) -> tuple[int, ...]:
        return () if task.values or task.errors else super().awaited(task)


class _OkWithoutLost(_Core):
    def _end_if_due(self, task: _Task) -> None:
        if not self.awaited(task):
            self._end(task, "failed" if task.errors else "ok")


class _LateCounts(_Core):
    """A report of a task that has ended is counted."""

    def __init__(self, ranks: int, capacity: int = 64) -> None:
        super().__init__(ranks, capacity)
        self.all: dict[int, _Task] = {}

    def start(self) -> _Task | None:
        task = super().start()
        if task is not None:
            self.all[task.number] = task
        return task

    def report_failed(self, rank: int, number: int, error: Any) -> bool:
        counted = super().report_failed(rank, number, error)
        if not counted:
            self.all[number].errors[rank] = error
        return counted


class _AbandonForgets(_Core):
    def abandon(self, number: int, client: int) -> _Task | None:
        task = super().abandon(number, client)
        if task is not None:
            task.without.clear()
        return task


class _TakenIsHandled(_Core):
    """What was handed out counts as handled (B11)."""

    def hand_out(self, client: int) -> _Task | None:
        task = super().hand_out(client)
        if task is not None:
            self.clients[client].unacknowledged -= 1
        return task


class _HandsNewest(_Core):
    def hand_out(self, client: int) -> _Task | None:
        if client in self.clients:
            self.clients[client].results.reverse()
        return super().hand_out(client)


class _GoneKeepsQueued(_Core):
    def gone(self, client: int) -> bool:
        return self.clients.pop(client, None) is not None


class _RefusalIsNothing(_Core):
    """Who waits for a rank that refuses goes on waiting."""

    def back_off(self, rank: int, *, late: bool = False) -> bool:
        return "no" not in self.votes and super().back_off(rank, late=late)


class _BacksOffAlways(_Core):
    def back_off(self, rank: int, *, late: bool = False) -> bool:
        return super().back_off(rank, late=True)


class _OffersToAbsent(_Core):
    def offer(self) -> int:
        return next(iter(self.queued), 0)


class _ReturnAlways(_Core):
    def return_(self, rank: int) -> bool:
        found, self.queued = self.queued, {}
        try:
            return super().return_(rank)
        finally:
            self.queued = found


class _OneTooMany(_Core):
    def __init__(self, ranks: int, capacity: int = 64) -> None:
        super().__init__(ranks, capacity + 1)


class _OverdueIsOver(_Core):
    """A rank whose handler runs over its limit is not at the task any more (overdue-target)."""

    def overdue(self, rank: int, number: int, error: Any) -> bool:
        return self.report_failed(rank, number, error)


class _AbandonedIsOver(_Core):
    """A task that was abandoned is nobody's any more (overdue-target)."""

    def abandon(self, number: int, client: int) -> _Task | None:
        task = super().abandon(number, client)
        if task is not None:
            self._not_at_any(task)
        return task

    def _not_at_any(self, task: _Task) -> None:
        for rank in list(task.busy):
            self._not_at(rank, task)


class _LostIsAtIt(_Core):
    """A task waits for a rank to settle that is lost (C06)."""

    def _not_at(self, rank: int, *tasks: _Task) -> None:
        if rank in self.live:
            super()._not_at(rank, *tasks)


class _SettlesUnreported(_Core):
    def settle(self, rank: int, number: int) -> bool:
        task = self.busy.get(number)
        if task is None or rank not in task.busy:
            return super().settle(rank, number)
        self._not_at(rank, task)
        return True


class _HeldIsForgotten(_Core):
    """A client is not told of what has settled."""

    def hand_out(self, client: int) -> _Task | None:
        task = super().hand_out(client)
        if task is not None:
            self.clients[client].held.clear()
        return task


class _SettledTwice(_Core):
    def settled(self, client: int) -> int | None:
        number = super().settled(client)
        if number is not None:
            self.clients[client].held.add(number)
        return number


_FAULTS = (
    *(_StartsAlone, _StartsNewest, _WithdrawsSilently, _WithdrawsStarted, _WithdrawsAll, _ClearsOldest, _LeaveWaits),
    *(_FenceWaits, _FenceKeepsQueued, _VanishIsNothing, _ReappearIsNothing, _FailureIsDone, _FirstReportEnds),
    *(_OkWithoutLost, _LateCounts, _AbandonForgets, _TakenIsHandled, _HandsNewest, _GoneKeepsQueued),
    *(_RefusalIsNothing, _BacksOffAlways, _OffersToAbsent, _ReturnAlways, _OneTooMany),
    *(_OverdueIsOver, _AbandonedIsOver, _LostIsAtIt, _SettlesUnreported, _HeldIsForgotten, _SettledTwice),
)
CORE: dict[str, type[_Core]] = {fault.__name__[1:]: fault for fault in _FAULTS}
