"""Every edge of the models of typed access, taken by the shipping code, one memory access or system call at a time.

The code runs as tasks of the controlled scheduler. For each step of a behaviour of the model the strategy looks at what
the process is about to do (that is its pc), lets it do exactly that, and compares memory, store buffers and locks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario, explore, wake
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.sharing import Histories, Sharing
from fdcomm.testing.tasks import Task
from models.graph import build
from models.kernel import Action, changes, show
from tests.conformance.driving import Deviation
from tests.conformance.walks import edge_walks

__all__ = ("Coverage", "Deviation", "Part", "Walk", "drive", "follow", "random_walk")

_IDLE = "idle"
_SPARE = "next"
_RARE = 30

Walk = list[tuple[Any, Action, Any]]


@dataclass
class Coverage:
    """What was driven."""

    states: int = 0
    edges: int = 0
    walks: int = 0
    actions: Counter[str] = field(default_factory=Counter)


class Part:
    """How a part of the protocol is driven. Processes of the model are tasks named ``process <n>``."""

    def __init__(self, config: Any, model: Any) -> None:
        self.config = config
        self.model = model

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        """Make everything anew; return what each process does. ``now`` gives the state of the model."""
        raise NotImplementedError

    def spares(self) -> dict[int, Callable[[], None]]:
        """Return what the process does that comes in the place of a killed one: see :meth:`succeed`."""
        return {}

    def succeed(self, scheduler: Scheduler, process: int) -> None:
        """A killed process gets a successor under its number."""
        for task in scheduler._tasks:
            if task.name == f"process {process}":
                task.name = f"dead {process}"
        for task in scheduler._tasks:
            if task.name == f"{_SPARE} {process}":
                task.name = f"process {process}"

    def is_silent(self, task: Task) -> bool:
        """Return True for an operation that is no step of the model."""
        return task.op.kind in ("start", "point", "woken", "sleep")

    def about_to(self, state: Any, process: int) -> str:
        """Return what a process of the model does next, as the scheduler writes it; "" if there is no task for it."""
        raise NotImplementedError

    def differs(self, state: Any) -> str:
        """Compare memory, buffers and locks; "" when they agree."""
        raise NotImplementedError

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        """Do an action that no task does. Returns False when a task does it."""
        raise NotImplementedError

    def is_drivable(self, state: Any, action: Action) -> bool:
        """Return False for a step of the model that the code takes in another order only."""
        del state, action
        return True

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        """Called before a task does an action; returns how many steps it takes."""
        del scheduler, task, action, then
        return 1

    def early(self, scheduler: Scheduler, state: Any, then: Walk) -> Task | None:
        """Return a task that has to do something now that is no step of the model, in view of what comes."""
        del scheduler, state, then
        return None


class _Follow:
    """A strategy that follows walks."""

    complete = False
    histories: Histories | None = None
    sharing: Sharing | None = None
    known = 0

    def __init__(self, part: Part, behaviours: Iterator[Walk]) -> None:
        self.part = part
        self.coverage = Coverage()
        self._start = next(iter(part.model.initial()))
        self.state: Any = self._start
        self._walks = behaviours
        self._walk: Walk = []
        self._position = 0
        self._steps = 0
        self._task = 0

    def begin(self) -> bool:
        """See Strategy."""
        self._walk = next((walk for walk in self._walks if walk), [])
        self.state, self._position, self._steps = self._start, 0, 0
        self.complete = not self._walk
        self.coverage.walks += bool(self._walk)
        return bool(self._walk)

    def end(self, outcome: Any) -> None:
        """See Strategy."""
        if outcome.verdict in ("error", "deadlock", "livelock"):
            raise Deviation(f"{outcome.message} after {self._text()}")
        if self._position < len(self._walk):
            raise Deviation(f"the code ends after {self._text()}")

    def choose(self, scheduler: Scheduler) -> int | None:
        """See Strategy."""
        choice = self._choose(scheduler)
        # What was done by hand may have made other tasks ready.
        scheduler.options = scheduler._options()
        return choice

    def _choose(self, scheduler: Scheduler) -> int | None:
        if self._steps:
            self._steps -= 1
            return self._task
        while True:
            # Anew each time: what was done by hand may have put another task in the place of a killed one.
            named = (task for task in scheduler._tasks if task.name.startswith("process "))
            tasks = {int(task.name.split()[1]): task for task in named}
            for task in tasks.values():
                if not task.done and self.part.is_silent(task):
                    return self._silently(scheduler, task)
            then = self._walk[self._position :]
            if (early := self.part.early(scheduler, self.state, then)) is not None:
                return self._silently(scheduler, early)
            self._compare(tasks)
            if not then:
                return None
            _, action, after = then[0]
            self._position += 1
            self.coverage.actions[action.name] += 1
            process = action.param("process")
            if self.part.by_hand(scheduler, action, then):
                self.state = after
                continue
            task = tasks[process if process is not None else -1]
            self.state = after
            if action.name == "Rouse":
                return wake(task.id)
            self._steps = self.part.prepare(scheduler, task, action, then) - 1
            self._task = task.id
            return task.id

    def _silently(self, scheduler: Scheduler, task: Task) -> int:
        if task.op.kind == "sleep" and task.op.until is not None:
            scheduler.clock = max(scheduler.clock, task.op.until)
        return task.id

    def _compare(self, tasks: dict[int, Task]) -> None:
        for process, task in tasks.items():
            wanted = self.part.about_to(self.state, process)
            found = "ended" if task.done else str(task.op)
            if task.op.kind == "killed":
                found = "killed"
            if found not in wanted.split(" | "):
                raise Deviation(f"process {process} is about to {found!r} instead of {wanted!r} after {self._text()}")
        if difference := self.part.differs(self.state):
            raise Deviation(f"{difference} after {self._text()}")

    def _text(self) -> str:
        done = [str(action) for _, action, _ in self._walk[: self._position]]
        if self._position:
            before, _, after = self._walk[self._position - 1]
            moved = ", ".join(
                f"{key}: {show(old)} -> {show(new)}" for key, (old, new) in changes(before, after).items()
            )
            done.append(f"({moved})")
        return ", ".join(done) or "(start)"


def random_walk(part: Part, choices: Iterable[int]) -> Walk:
    """Return a behaviour of the model: at each state the step of that number, counted round; deaths are rare."""
    state = next(iter(part.model.initial()))
    walk: Walk = []
    for choice in choices:
        steps = [step for step in part.model.steps(state) if part.is_drivable(state, step[0])]
        if not steps:
            break
        if choice % _RARE:
            steps = [step for step in steps if step[0].name not in ("Kill", "StoreGone")] or steps
        action, after = steps[choice // _RARE % len(steps)]
        walk.append((state, action, after))
        state = after
    return walk


def drive(part: Part) -> Coverage:
    """Take every edge."""
    graph = build(part.model)
    coverage = follow(part, edge_walks(graph.initial[0], graph.successors()))
    coverage.states, coverage.edges = len(graph.states), len(graph.edges)
    return coverage


def follow(part: Part, behaviours: Iterable[Walk]) -> Coverage:
    """Let the code do what these behaviours do."""
    following = _Follow(part, iter(behaviours))

    def make(scheduling: ControlledRuntime) -> Scenario:
        programs = part.build(scheduling, lambda: following.state)
        tasks = {f"process {number}": program for number, program in programs.items()}
        tasks |= {f"{_SPARE} {number}": program for number, program in part.spares().items()}
        # There is always somebody who could go on, so that the strategy is asked also when all others are blocked.
        return Scenario({**tasks, _IDLE: lambda: scheduling.access("nothing", change=False)})

    explore(Program(part.model.name, make, {}), following, Bound(spurious=10**9, ticks=10**9, max_steps=10**6))
    return following.coverage
