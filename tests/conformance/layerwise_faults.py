"""Faulty tables: each of these must be found."""

from __future__ import annotations

from typing import Any

from fdcomm.core import layerwise
from fdcomm.core.layerwise import Done, Early, ProgressTable, Ready, Task

__all__ = ("CORE",)


class DropsEarly(ProgressTable):
    def on_progress(self, slot: int, step: int, layer: int, now: float = 0.0) -> None:
        super().on_progress(slot, step, layer, now)
        if self.slots[slot].seen is None:
            self.slots[slot].early = None


class OldNewsWin(ProgressTable):
    def on_progress(self, slot: int, step: int, layer: int, now: float = 0.0) -> None:
        super().on_progress(slot, step, layer, now)
        kept = self.slots[slot].early
        if kept is not None and kept.step == step % self.modulus:
            self.slots[slot].early = Early(kept.step, layer, now)


class AnyStepCounts(ProgressTable):
    def on_progress(self, slot: int, step: int, layer: int, now: float = 0.0) -> None:
        super().on_progress(slot, step, layer, now)
        for task in self.slots[slot].tasks:
            if task.error is None:
                task.ready = max(task.ready, layer + 1)


class StepsAreNumbers(ProgressTable):
    def _later(self, a: int, b: int) -> bool:
        return a > b


class EarlierPassesWait(ProgressTable):
    def on_progress(self, slot: int, step: int, layer: int, now: float = 0.0) -> None:
        before = [(task, task.ready) for task in self.slots[slot].tasks if task.step != step]
        super().on_progress(slot, step, layer, now)
        for task, ready in before:
            task.ready = ready


class EarlyStays(ProgressTable):
    def on_cache_info(self, request: Any, slot: int, step: int, now: float = 0.0) -> Task | None:
        kept = self.slots[slot].early
        task = super().on_cache_info(request, slot, step, now)
        self.slots[slot].early = kept
        return task


class EndTakesNewer(ProgressTable):
    def on_end(self, slot: int, step: int, error: Exception) -> bool:
        ended = super().on_end(slot, step, error)
        self.slots[slot].early = None
        return ended


class EndForgetsNothing(ProgressTable):
    def on_end(self, slot: int, step: int, error: Exception) -> bool:
        kept = self.slots[slot].early
        ended = super().on_end(slot, step, error)
        self.slots[slot].early = kept
        return ended


class StartsAnew(ProgressTable):
    def _over(self, here: layerwise._Slot, step: int, error: Exception) -> None:
        super()._over(here, step, error)
        here.gone.clear()


class SendsTwice(ProgressTable):
    def next_ready(self) -> Ready | None:
        ready = super().next_ready()
        if ready is not None:
            next(task for task in self.tasks if task.request == ready.request).sent = ready.first
        return ready


class SendsUncomputed(ProgressTable):
    def next_ready(self) -> Ready | None:
        for task in self.tasks:
            if task.error is None and 0 < task.ready < self.layers:
                task.ready += 1
        return super().next_ready()


class HeadOfLine(ProgressTable):
    def next_ready(self) -> Ready | None:
        if self.tasks and self.tasks[0].ready == self.tasks[0].sent and self.tasks[0].error is None:
            return None
        return super().next_ready()


class FirstReadyFirst(ProgressTable):
    def next_done(self) -> Done | None:
        for task in list(self.tasks):
            if task.error is not None or task.sent == self.layers:
                self.tasks.remove(task)
                self.tasks.appendleft(task)
                break
        return super().next_done()


class FailedVanish(ProgressTable):
    def next_done(self) -> Done | None:
        done = super().next_done()
        return self.next_done() if done is not None and done.error is not None else done


class SentCannotFail(ProgressTable):
    def on_end(self, slot: int, step: int, error: Exception) -> bool:
        if any(task.step == step and task.sent == self.layers for task in self.slots[slot].tasks):
            return False
        return super().on_end(slot, step, error)


class ExpiresComputed(ProgressTable):
    def expire_task(self, slot: int, step: int, error: Exception) -> bool:
        task = next((task for task in self.slots[slot].tasks if task.step == step), None)
        return task is not None and self._fail(task, error)


class OneTooMany(ProgressTable):
    def __init__(self, slots: int, layers: int, capacity: int = 2, **more: Any) -> None:
        super().__init__(slots, layers, capacity + 1, **more)


CORE: dict[str, type[ProgressTable]] = {
    fault.__name__: fault
    for fault in (
        DropsEarly,
        OldNewsWin,
        AnyStepCounts,
        StepsAreNumbers,
        EarlierPassesWait,
        EarlyStays,
        EndTakesNewer,
        EndForgetsNothing,
        StartsAnew,
        SendsTwice,
        SendsUncomputed,
        HeadOfLine,
        FirstReadyFirst,
        FailedVanish,
        SentCannotFail,
        ExpiresComputed,
        OneTooMany,
    )
}
