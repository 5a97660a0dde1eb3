"""Level V3 on the tables of layer-wise sending: every edge of the model's graph, and every refusal.

What the device has computed and what was told to whom is history that no table keeps: the driver remembers it.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fdcomm.core.layerwise import Done as CoreDone
from fdcomm.core.layerwise import ProgressTable
from fdcomm.core.layerwise import Ready as CoreReady
from models.graph import Edge, build
from models.kernel import Action
from models.layerwise import Config, Done, Layerwise, State, Task
from tests.conformance.driving import Coverage, Deviation, Probe, difference, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "TableDriver", "difference", "drive_core", "probes", "step_of")

Make = Callable[..., ProgressTable]
_WHY = TimeoutError("given up by the test")


class TableDriver:
    """The tables of all ranks under test, and what their callers know."""

    def __init__(self, config: Config, make: Make = ProgressTable) -> None:
        self.config = config
        self.cores = [
            make(config.slots, config.layers, config.capacity, modulus=config.modulus) for _ in range(config.ranks)
        ]
        each = range(config.ranks)
        self.computed = [[0] * config.tasks for _ in each]
        self.ended: list[frozenset[int]] = [frozenset() for _ in each]
        self.told: list[frozenset[int]] = [frozenset() for _ in each]
        self.given = [0 for _ in each]
        self.done: list[tuple[Done, ...]] = [() for _ in each]

    def copy(self) -> TableDriver:
        """Return an independent driver in the same state."""
        twin = copy.copy(self)
        twin.cores = [_copy(core) for core in self.cores]
        twin.computed = [list(row) for row in self.computed]
        twin.ended, twin.told, twin.given = list(self.ended), list(self.told), list(self.given)
        twin.done = list(self.done)
        return twin

    def state(self) -> State:
        """Return the model's state that the tables are in."""
        cores = self.cores
        for core in cores:
            _require_consistent(core)
        return State(
            computed=tuple(map(tuple, self.computed)),
            ended=tuple(self.ended),
            given=tuple(self.given),
            tasks=tuple(tuple(_task(entry) for entry in core.tasks) for core in cores),
            early=tuple(tuple((s.early.step, s.early.layer) if s.early else () for s in core.slots) for core in cores),
            seen=tuple(tuple(-1 if s.seen is None else s.seen for s in core.slots) for core in cores),
            gone=tuple(tuple(frozenset(s.gone) for s in core.slots) for core in cores),
            told=tuple(self.told),
            done=tuple(self.done),
        )

    def step(self, action: Action) -> Any:
        """Take one step; return what the table's method returned."""
        rank = action.params[0][1]
        core, config = self.cores[rank], self.config
        task, layer, slot = (action.param(name) for name in ("task", "layer", "slot"))
        if action.name == "OnProgress":
            assert task is not None
            assert layer is not None
            self._compute(rank, task, layer)
            core.on_progress(config.slot(task), config.step(task), layer)
            return None
        if action.name == "OnCacheInfo":
            return self._info(rank)
        if action.name == "NextReady":
            return core.next_ready()
        if action.name == "NextDone":
            done = core.next_done()
            if done is not None:
                assert isinstance(done.request, int)
                self.done[rank] = (*self.done[rank], Done(done.request, done.sent, done.error is not None))
            return done
        if action.name == "ExpireEarly":
            assert slot is not None
            kept = core.slots[slot].early
            if kept is not None:
                self.told[rank] |= {self._task_of(kept.step)}
            return core.expire_early(slot, _WHY)
        assert task is not None
        where = config.slot(task), config.step(task)
        if action.name == "OnEnd":
            self.ended[rank] |= {task}
            return core.on_end(*where, _WHY)
        return core.expire_task(*where, _WHY)

    def _compute(self, rank: int, task: int, layer: int) -> None:
        row, config = self.computed[rank], self.config
        for other in range(1, task):
            if config.slot(other) == config.slot(task) and other not in self.ended[rank]:
                row[other - 1] = config.layers
        row[task - 1] = max(row[task - 1], layer + 1)

    def _info(self, rank: int) -> Any:
        config, core = self.config, self.cores[rank]
        task = config.infos[self.given[rank]]
        where = config.slot(task), config.step(task)
        overtaken = core.overtaken(*where)
        entry = core.on_cache_info(task, *where)
        if entry is not None:
            self.given[rank] += 1
            if overtaken is not None:
                self.told[rank] |= {self._task_of(overtaken.step)}
        return entry

    def _task_of(self, step: int) -> int:
        return next(task for task in range(1, self.config.tasks + 1) if self.config.step(task) == step)


def _task(entry: Any) -> Task:
    return Task(entry.request, entry.sent, entry.ready, entry.error is not None)


def _copy(core: ProgressTable) -> ProgressTable:
    twin = copy.copy(core)
    twin.tasks = deque(copy.copy(task) for task in core.tasks)
    twin.slots = [copy.copy(slot) for slot in core.slots]
    for number, slot in enumerate(twin.slots):
        slot.gone = dict(slot.gone)
        slot.tasks = deque(task for task in twin.tasks if task.slot == number)
    return twin


def _require_consistent(core: ProgressTable) -> None:
    for number, slot in enumerate(core.slots):
        if list(slot.tasks) != [task for task in core.tasks if task.slot == number]:
            raise Deviation(f"slot {number} and the table have different tasks")


def step_of(config: Config, action: Action, before: State, after: State) -> Any:
    """Return what the table's method must return for a step of the model; of a taken info, the task."""
    rank = action.params[0][1]
    if action.name == "OnCacheInfo":
        return after.tasks[rank][-1]
    if action.name == "NextReady":
        (was, now) = next(
            (a, b) for a, b in zip(before.tasks[rank], after.tasks[rank], strict=True) if a.sent != b.sent
        )
        return CoreReady(now.task, config.slot(now.task), config.step(now.task), was.sent, now.sent - 1)
    if action.name == "NextDone":
        task, sent, failed = after.done[rank][-1]
        return CoreDone(task, config.slot(task), config.step(task), sent, _WHY if failed else None)
    if action.name == "OnEnd":
        ended = action.params[1][1]
        slot = config.slot(ended)
        return before.tasks[rank] != after.tasks[rank] or before.gone[rank][slot] != after.gone[rank][slot]
    return None if action.name == "OnProgress" else True


def agrees(result: Any, expected: Any) -> bool:
    """Compare what a method returned with what it must return."""
    return _task(result) == expected if isinstance(expected, Task) else bool(result == expected)


def drive_core(config: Config, make: Make = ProgressTable) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Layerwise(config))
    return take_every_edge(graph, lambda path: replay(TableDriver(config, make), path), _take, probes)


def _take(driver: TableDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    result, expected = driver.step(action), step_of(driver.config, action, before, after)
    if not agrees(result, expected):
        raise Deviation(f"{action} returned {result!r} instead of {expected!r}")


def probes(driver: TableDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    config = driver.config
    for rank, core in enumerate(driver.cores):
        tasks = state.tasks[rank]
        if not any(not x.failed and x.ready > x.sent for x in tasks):
            yield f"NextReady({rank})", core.next_ready, (None,)
        if not (tasks and (tasks[0].failed or tasks[0].sent == config.layers)):
            yield f"NextDone({rank})", core.next_done, (None,)
        for slot, kept in enumerate(state.early[rank]):
            if not kept:
                yield f"ExpireEarly({rank}, {slot})", partial(core.expire_early, slot, _WHY), (False,)
        given = config.infos[: state.given[rank]]
        for task in range(1, config.tasks + 1):
            where = config.slot(task), config.step(task)
            mine = next((x for x in tasks if x.task == task), None)
            if mine is None or mine.failed or mine.ready == config.layers:
                yield f"ExpireTask({rank}, {task})", partial(core.expire_task, *where, _WHY), (False,)
            if task in given and (mine is None or mine.failed):
                yield f"OnEnd({rank}, {task})", partial(core.on_end, *where, _WHY), (False,)
            if task in given:
                yield f"OnCacheInfo({rank}, {task} again)", partial(core.on_cache_info, task, *where), None
            elif len(tasks) == config.capacity and (task,) == config.infos[len(given) : len(given) + 1]:
                yield f"OnCacheInfo({rank}, {task})", partial(core.on_cache_info, task, *where), (None,)
