"""The table of layer-wise sending with a clock: time limits, typed errors, and a record of every action."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

from fdcomm.core.layerwise import NOTHING, Done, ProgressTable, Ready, Task, is_later
from fdcomm.errors import CacheInfoMissingError, LayerTimeoutError
from fdcomm.trace import Recorder

__all__ = ("LAYERWISE_EVENTS", "TimedTable")

LAYERWISE_EVENTS: Final = (
    "OnProgress",
    "OnCacheInfo",
    "NextReady",
    "OnEnd",
    "ExpireTask",
    "ExpireEarly",
    "NextDone",
)
"""Action names of spec/layerwise.toml, as they are recorded."""


class TimedTable:
    """A table whose waits end. Not thread-safe.

    Args:
        slots: Number of slots.
        layers: Number of layers.
        capacity: Tasks that may be in flight.
        info_s: Seconds after which early progress without an info is given up; None: never.
        layer_s: Seconds after which a task whose next layer is not computed fails; None: never.
        clock: Seconds that never go back.
        recorder: Records every action.
        rank: For the record.
    """

    def __init__(
        self,
        slots: int,
        layers: int,
        capacity: int,
        *,
        info_s: float | None,
        layer_s: float | None,
        clock: Callable[[], float],
        recorder: Recorder | None,
        rank: int,
    ) -> None:
        self._table = ProgressTable(slots, layers, capacity)
        self.capacity = capacity
        self._info_s = info_s
        self._layer_s = layer_s
        self._clock = clock
        self._recorder = recorder
        self._where = {"protocol": "layerwise", "dp": rank}
        self._seq = 0
        self._latest = NOTHING
        self._lost: list[tuple[int, int, CacheInfoMissingError]] = []
        if recorder is not None:
            shape = {"slots": slots, "layers": layers, "capacity": capacity, "modulus": self._table.modulus}
            recorder.write({**self._where, "action": "Open", **shape})

    def in_flight(self) -> int:
        """Return the number of tasks that are not finished."""
        return len(self._table.tasks)

    # -- what comes in -----------------------------------------------------------------------------------------------

    def progress(self, slot: int, step: int, layer: int) -> None:
        """OnProgress."""
        self._table.on_progress(slot, step, layer, self._clock())
        self._record("OnProgress", self._at(slot, step) | {"layer": layer})

    def progress_of_all(self, step: int, layer: int) -> None:
        """OnProgress of every task in flight that the device has reached; those that come later will see it too."""
        self._latest = (step % self._table.modulus, layer)
        for task in list(self._table.tasks):
            self._see_latest(task)

    def _see_latest(self, task: Task) -> None:
        step, layer = self._latest
        if self._latest == NOTHING or task.error is not None:
            return
        if step == task.step:
            self.progress(task.slot, task.step, layer)
        elif is_later(step, task.step) and task.ready < self._table.layers:
            self.progress(task.slot, task.step, self._table.layers - 1)

    def info(self, request: Hashable, slot: int, step: int) -> bool:
        """OnCacheInfo. False: there is no room."""
        overtaken = self._table.overtaken(slot, step)
        task = self._table.on_cache_info(request, slot, step, self._clock())
        if task is None:
            return False
        self._record("OnCacheInfo", self._at(slot, step), {"ready": task.ready, "failed": task.error is not None})
        if overtaken is not None:
            self._lost.append((slot, overtaken.step, self._no_info(slot, overtaken.step, overtaken.since)))
        self._see_latest(task)
        return True

    # -- what is due -------------------------------------------------------------------------------------------------

    def next_done(self) -> Done | None:
        """NextDone."""
        done = self._table.next_done()
        if done is not None:
            self._record("NextDone", {}, {**_of(done), "sent": done.sent, "failed": done.error is not None})
        return done

    def next_ready(self) -> Ready | None:
        """NextReady."""
        ready = self._table.next_ready()
        if ready is not None:
            self._record("NextReady", {}, {**_of(ready), "first": ready.first, "last": ready.last})
        return ready

    def take_lost(self) -> Iterator[tuple[int, int, CacheInfoMissingError]]:
        """Yield ``(slot, step, error)`` of tasks whose info did not come, each once."""
        while self._lost:
            yield self._lost.pop(0)

    # -- ends --------------------------------------------------------------------------------------------------------

    def end(self, slot: int, step: int, error: Exception) -> bool:
        """OnEnd."""
        ended = self._table.on_end(slot, step, error)
        self._record("OnEnd", self._at(slot, step), {"ended": ended})
        return ended

    def expire(self) -> float | None:
        """ExpireEarly and ExpireTask of all that is overdue. Returns the seconds until something else is."""
        now = self._clock()
        limits: list[float] = []
        if self._info_s is not None:
            for slot, early in self._table.early():
                left = early.since + self._info_s - now
                if left > 0:
                    limits.append(left)
                    continue
                error = self._no_info(slot, early.step, early.since)
                self._table.expire_early(slot, error)
                self._record("ExpireEarly", {"slot": slot}, {"step": early.step})
                self._lost.append((slot, early.step, error))
        if self._layer_s is not None:
            for task in self._table.waiting():
                left = task.since + self._layer_s - now
                if left > 0:
                    limits.append(left)
                    continue
                self._table.expire_task(task.slot, task.step, _late(task, now - task.since))
                self._record("ExpireTask", self._at(task.slot, task.step))
        return min(limits) if limits else None

    def _no_info(self, slot: int, step: int, since: float) -> CacheInfoMissingError:
        waited = self._clock() - since
        return CacheInfoMissingError(
            f"layers of step {step} in slot {slot} are computed, and its cache info did not come for {waited:.3g} s; "
            "its task fails alone",
            operation="on_cache_info",
            waited_s=waited,
        )

    def _at(self, slot: int, step: int) -> dict[str, int]:
        return {"slot": slot, "step": step % self._table.modulus}

    def _record(self, action: str, args: dict[str, int], result: dict[str, Any] | None = None) -> None:
        if self._recorder is not None:
            self._seq += 1
            event = {"seq": self._seq, "action": action, "args": args, "result": result or {}}
            self._recorder.write({**self._where, **event})


def _of(item: Ready | Done) -> dict[str, int]:
    return {"slot": item.slot, "step": item.step}


def _late(task: Task, waited: float) -> LayerTimeoutError:
    return LayerTimeoutError(
        f"layer {task.ready} of step {task.step} in slot {task.slot} was not computed for {waited:.3g} s; its task "
        "fails alone",
        operation="on_progress",
        request=task.request,
        waited_s=waited,
    )
