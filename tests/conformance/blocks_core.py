"""Level V3 on the blocks core: every edge of the model's graph is taken by it, and every refusal refuses.

What the port and the ranks do is invisible to the core, and which leases are in somebody's hands too: the driver
remembers it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from fdcomm.core.blocks import Blocks as Core
from fdcomm.core.blocks import Lease as CoreLease
from fdcomm.core.blocks import Task as CoreTask
from fdcomm.errors import ProtocolViolationError
from models.blocks import Blocks, Config, Lease, State, Task
from models.blocks_state import SERVING, in_flight
from models.graph import Edge, build
from models.kernel import Action
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("BlocksDriver", "Coverage", "Deviation", "difference", "drive_core", "probes", "step_of")

Make: TypeAlias = "Callable[[int, int], Core]"
_HIDDEN = {
    "Accept": ("queued", ""),
    "Withdraw": ("posted", "cancelled"),
    "Pull": ("taken", ""),
    "Succeed": ("posted", "ok"),
    "Fail": ("posted", "failed"),
    "Overrun": ("posted", "failed"),
}


class BlocksDriver:
    """A core under test, and what its callers and the port know."""

    def __init__(self, config: Config, make: Make = Core) -> None:
        self.core = make(config.device, config.host)
        self.held: list[CoreLease] = []
        self.tasks: list[CoreTask] = []
        self.stages: list[tuple[str, str]] = []
        self.at: list[bool] = []
        self.late: list[bool] = []
        self.hand = 0

    def copy(self) -> BlocksDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core = self.core
        try:
            core.check()
        except ProtocolViolationError as error:
            raise Deviation(str(error)) from error
        current = [lease for lease in self.held if lease.generation == core.generation]
        if {id(lease) for lease in current} != {id(lease) for lease in core.leases.values()}:
            raise Deviation(f"leased are {list(core.leases)}, and the holders know {current}")
        going = [task for task, (stage, _) in zip(self.tasks, self.stages, strict=True) if stage not in _OVER]
        if list(core.tasks.values()) != going:
            raise Deviation(f"in flight are {list(core.tasks)}, and should be {[task.index for task in going]}")
        return State(
            gen=core.generation,
            phase=core.phase,
            free=frozenset(core.free_ids()),
            leases=frozenset(Lease(frozenset(lease.ids), lease.generation) for lease in self.held),
            tasks=tuple(map(_task, self.tasks, self.stages, self.at, self.late)),
            hand=self.hand,
            alive=True,
        )

    def lease(self, block: int, generation: int) -> CoreLease:
        """Return the lease that begins with a block."""
        return next(x for x in self.held if x.ids[0] == block and x.generation == generation)

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned, leases as their blocks."""
        name, number = action.name, action.param("task")
        if number is not None:
            return self._of_task(name, number)
        core = self.core
        if name == "Allocate":
            lease = core.allocate(*(value for _, value in action.params))
            self.held += [lease] if lease is not None else []
            return lease and lease.ids
        if name in ("Free", "FreeStale"):
            generation = action.param("gen") if name == "FreeStale" else core.generation
            lease = self.lease(action.params[0][1], generation or 0)
            self.held.remove(lease)
            return core.free(lease)
        if name == "Reserve":
            return self._reserve(*(value for _, value in action.params))
        call: Any = {
            "BeginReset": core.begin_reset,
            "Rebuild": core.rebuild,
            "Lose": core.lose,
            "Close": core.close,
        }[name]
        told = call()
        return told if name == "Rebuild" else sorted(task.index for task in told)

    def _reserve(self, source: int, target: int) -> object:
        generation = self.core.generation
        mine = self.lease(source, generation)
        other = None if target == -1 else self.lease(target, generation)
        task = self.core.reserve(mine, other)
        self.tasks.append(task)
        self.stages.append(("issuing", ""))
        self.at.append(False)
        self.late.append(False)
        for lease in task.leases:
            self.held.remove(lease)
        return task.index

    def _of_task(self, name: str, number: int) -> object:
        core, task = self.core, self.tasks[number - 1]
        out = self.stages[number - 1][1]
        if name in _HIDDEN:
            self.stages[number - 1] = _HIDDEN[name]
            self.at[number - 1] = name in ("Pull", "Overrun")
            return None
        if name == "Quiet":
            self.at[number - 1] = False
            return None
        if name == "Receive":
            self.hand, self.stages[number - 1] = number, ("hand", out)
            self.late[number - 1] = self.at[number - 1]
            return None
        if name == "Register":
            core.register(task, 100 + number)
            return None
        if name == "Cancel":
            return core.cancel(task)
        if name == "Refuse":
            self.stages[number - 1] = ("refused", "")
            back = core.refuse(task)
            self.held += task.leases if back else ()
            return back
        if name == "Settle":
            self.stages[number - 1] = ("done", out)
            core.settle(task)
            return None
        late = self.late[number - 1]
        self.hand, self.stages[number - 1] = 0, ("late" if late else "done", out)
        mine = core.handle(task, out, late)
        self.held += [mine] if mine is not None else []
        return mine and mine.ids


_OVER = ("done", "refused")


def _task(task: CoreTask, stage: tuple[str, str], at: bool, late: bool) -> Task:
    target = frozenset(task.target.ids) if task.target else frozenset()
    if task.late != (stage[0] == "late") and stage[0] != "done":
        raise Deviation(f"task {task.index} is {stage[0]}, and late is {task.late}")
    return Task(frozenset(task.source.ids), target, *stage, task.told, task.number is not None, at, late)


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    name, number = action.name, action.param("task")
    new = after.leases - before.leases
    if name in ("Allocate", "Handle"):
        return next((tuple(sorted(lease.ids)) for lease in new), None)
    if name == "Reserve":
        return len(after.tasks)
    if name == "Refuse" and number is not None:
        return not before.tasks[number - 1].told
    if name in ("BeginReset", "Lose", "Close"):
        return [i for i, (a, b) in enumerate(zip(before.tasks, after.tasks, strict=True), 1) if a.told != b.told]
    return {"Free": True, "FreeStale": False, "Cancel": True, "Rebuild": True}.get(name)


def drive_core(config: Config, make: Make = Core) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Blocks(config))
    return take_every_edge(graph, lambda path: replay(BlocksDriver(config, make), path), _take, probes)


def _take(driver: BlocksDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(driver: BlocksDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    core = driver.core
    is_open = state.phase == "open"
    for kind in (0, 1):
        n = core.count(kind) + 1
        yield f"Allocate({kind}, {n})", partial(core.allocate, kind, n), (None,) if is_open else None
    foreign = CoreLease((0,), core.generation)
    yield "Free(foreign)", partial(core.free, foreign), None
    yield "Reserve(foreign)", partial(core.reserve, foreign, None), None
    for lease in driver.held:
        current = lease.generation == core.generation
        if not is_open or not current:
            yield f"Reserve({lease.ids})", partial(core.reserve, lease, None), None
        yield f"Reserve({lease.ids} twice)", partial(core.reserve, lease, lease), None
        yield f"Reserve({lease.ids}, foreign)", partial(core.reserve, lease, foreign), None
    for number, (task, modelled) in enumerate(zip(driver.tasks, state.tasks, strict=True), 1):
        if modelled.known or not in_flight(modelled):
            yield f"Refuse({number})", partial(core.refuse, task), None
            yield f"Register({number})", partial(core.register, task, 999), None
        if not modelled.known or not in_flight(modelled) or modelled.stage == "late" or state.phase not in SERVING:
            yield f"Handle({number})", partial(core.handle, task, "ok"), None
            yield f"Handle({number}, late)", partial(core.handle, task, "failed", True), None
        yield f"Handle({number}, nonsense)", partial(core.handle, task, "done"), None
        yield f"Handle({number}, done and late)", partial(core.handle, task, "ok", True), None
        if modelled.stage != "late" or state.phase not in SERVING:
            yield f"Settle({number})", partial(core.settle, task), None
        yield f"late {number}", partial(core.find_late, 100 + number), (task if modelled.stage == "late" else None,)
        if modelled.told:
            yield f"Cancel({number})", partial(core.cancel, task), (False,)
        for lease in task.held if in_flight(modelled) else ():
            yield f"Free({lease.ids} in a task)", partial(core.free, lease), None
    if not is_open:
        yield "BeginReset", core.begin_reset, None
    if state.phase != "resetting":
        yield "Rebuild", core.rebuild, None
    elif any(map(in_flight, state.tasks)):
        yield "Rebuild", core.rebuild, (False,)
    if state.phase not in SERVING:
        yield "Lose", core.lose, None
        yield "Close", core.close, None
