"""Level V3 on the transfer cores: every edge of the model's graph is taken by them, and every refusal refuses.

One core is in the host, and one in each rank; the driver carries between them what the loop carries. A crash is
invisible, and pauses belong to another protocol: the driver remembers them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Transfer as Core
from fdcomm.core.transfer_state import Task
from models.graph import Edge, build
from models.kernel import Action
from models.transfer import Config, Report, State, Transfer
from models.transfer_state import AWAY, DEAD, LIVE, LOST, QUEUED, numbers
from tests.conformance.driving import Coverage, Deviation, expect, replay, take_every_edge
from tests.conformance.transfer_probes import probes

__all__ = ("Known", "TransferDriver", "drive_core")

Made: TypeAlias = "tuple[Callable[[int, int], Core[Any]], Callable[[], RankTasks[Any]]]"
PLAIN: Made = (Core[Any], RankTasks[Any])


class Known:
    """What the callers of a transfer core know: with it, the core's state is the model's."""

    def __init__(self, config: Config, core: Core[Any]) -> None:
        self.config = config
        self.core = core
        self.tasks: list[Task[Any]] = []
        self.gone: set[int] = set()
        self.handled: set[int] = set()
        self.dead: set[int] = set()
        self.phase, self.pauses = "run", 0
        self.open = [False] * config.ranks

    def hand(self, client: int) -> int:
        """Return the number of the task whose result the client has in its hands, or 0."""
        box = self.core.clients.get(client)
        return 0 if box is None or box.hand is None else box.hand.number

    def held(self, client: int) -> frozenset[int]:
        """Return the tasks that have not settled for the client, after a look whether those are told of that can be."""
        box = self.core.clients.get(client)
        if box is None:
            return frozenset()
        settled = [number for number in box.held if number not in self.core.busy]
        if sorted(box.settled) != sorted(settled):
            raise Deviation(f"client {client} can be told of {list(box.settled)}, and {settled} have settled")
        return frozenset(box.held)

    def state(
        self, spare: tuple[bool, ...], jobs: tuple[frozenset[int], ...], running: tuple[frozenset[int], ...]
    ) -> State:
        """Return the model's state."""
        core, clients = self.core, range(1, self.config.clients + 1)
        for task in self.tasks:
            place = {"queued": core.queued, "started": core.started}.get(task.state, {})
            if (place.get(task.number) is task) != bool(place) and task.state in ("queued", "started"):
                raise Deviation(f"task {task.number} is {task.state}, and the core has {list(place)}")
            if (core.busy.get(task.number) is task) != bool(task.busy):
                raise Deviation(f"ranks {task.busy} are at task {task.number}, and the core knows {list(core.busy)}")
        boxes = [core.clients.get(client) for client in clients]
        return State(
            owner=tuple(task.owner for task in self.tasks),
            kind=tuple(int(task.kind) for task in self.tasks),
            state=tuple(task.state for task in self.tasks),
            reports=tuple(
                frozenset({Report(r, True) for r in task.values} | {Report(r, False) for r in task.errors})
                for task in self.tasks
            ),
            without=tuple(frozenset(task.without) for task in self.tasks),
            busy=tuple(frozenset(task.busy) for task in self.tasks),
            results=tuple(() if box is None else tuple(task.number for task in box.results) for box in boxes),
            hand=tuple(map(self.hand, clients)),
            handled=frozenset(self.handled),
            held=tuple(map(self.held, clients)),
            gone=frozenset(self.gone),
            status=tuple(
                (DEAD if rank in self.dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
                for rank in range(core.ranks)
            ),
            vote=tuple(core.votes),
            phase=self.phase,
            pauses=self.pauses,
            open=tuple(self.open),
            spare=spare,
            jobs=jobs,
            running=running,
        )


class TransferDriver(Known):
    """The cores under test."""

    def __init__(self, config: Config, make: Made = PLAIN) -> None:
        super().__init__(config, make[0](config.ranks, config.capacity))
        self._make_rank = make[1]
        self.inside = [make[1]() for _ in range(config.ranks)]

    def copy(self) -> TransferDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self, {id(self.config): self.config})

    def state(self, *_: Any) -> State:
        """Return the model's state that the cores are in."""
        spare = tuple(rank.spare is not None for rank in self.inside)
        running = (
            frozenset(n for n, begun in inside.jobs.items() if begun.running)
            if rank not in self.dead
            else frozenset[int]()
            for rank, inside in enumerate(self.inside)
        )
        return super().state(spare, tuple(frozenset(rank.jobs) for rank in self.inside), tuple(running))

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned, tasks as their numbers."""
        core, name = self.core, action.name
        rank, number, client = (action.param(key) for key in ("rank", "number", "client"))
        if name == "Issue":
            return self._issue(client or 0, action.param("kind") or 0)
        if name in ("Stop", "Still", "Resume"):
            self.phase = {"Stop": "stop", "Still": "still", "Resume": "run"}[name]
            self.pauses += name == "Stop"
            return None
        if name == "Start":
            return self._start()
        if name == "Clear":
            return tuple(task.number for task in core.clear())
        if client is not None:
            return self._of_client(name, client, number or 0)
        if rank is None:
            task = core.abandon(number or 0, self.tasks[(number or 1) - 1].owner)
            return None if task is None else task.number
        if number is not None:
            return self._of_task(name, rank, number)
        return self._of_rank(name, rank)

    def _issue(self, client: int, kind: int) -> object:
        task = self.core.issue(client, str(kind), "payload")
        if task is not None:
            self.tasks.append(task)
        return None if task is None else task.number

    def _settled(self, client: int, number: int) -> object:
        """The order in which tasks settled is the core's; the model may tell of any that has."""
        box = self.core.clients[client]
        box.settled.remove(number)
        box.settled.appendleft(number)
        return self.core.settled(client)

    def _of_client(self, name: str, client: int, number: int) -> object:
        core, before = self.core, self.hand(client)
        result: object = None
        if name == "Withdraw":
            result = tuple(task.number for task in core.withdraw(client))
        elif name == "HandOut":
            task = core.hand_out(client)
            result = None if task is None else task.number
        elif name == "Acknowledge":
            result = core.acknowledge(client)
        elif name == "Settled":
            return self._settled(client, number)
        elif name == "Gone":
            self.gone.add(client)
            return core.gone(client)
        if before and self.hand(client) != before:
            self.handled.add(before)
        return result

    def _of_rank(self, name: str, rank: int) -> object:
        core, inside = self.core, self.inside[rank]
        if name == "Crash":
            self.dead.add(rank)
            return None
        if name == "Order":
            self.open[rank] = not self.open[rank]
            return None
        if name == "Admit":
            inside.admit(f"job of {rank}")
            return None
        if name == "Release":
            return inside.release()
        if name == "BackOff":
            return core.back_off(rank, late=self.config.hasty)
        if name in ("Leave", "Fence"):
            self.dead.discard(rank)
            self.inside[rank], self.open[rank] = self._make_rank(), False
        if name == "Join":
            self.open[rank] = self.phase == "run"
        return getattr(core, {"Return": "return_"}.get(name, name.lower()))(rank)

    def _start(self) -> object:
        task = self.core.start()
        if task is None:
            return None
        for inside in self.inside:
            if inside.begin(task.number, task.kind).job is None:
                raise Deviation("a task has begun without a job")
        return task.number

    def _of_task(self, name: str, rank: int, number: int) -> object:
        core, inside = self.core, self.inside[rank]
        if name == "JobDone":
            return inside.job_done(number)
        if name == "Finish":
            inside.finish(number)
            return None
        if name == "Settle":
            if not inside.settle(number) and (
                not inside.tell(number, ok=False) or core.report_failed(rank, number, "late")
            ):
                raise Deviation(f"a report of task {number} was counted after its end, or was not due")
            return core.settle(rank, number)
        if name == "Overdue":
            return inside.overdue(number) and core.overdue(rank, number, f"said by {rank}")
        if not inside.tell(number, ok=name == "ReportOk"):
            raise Deviation(f"rank {rank} has reported task {number} already")
        return (core.report_ok if name == "ReportOk" else core.report_failed)(rank, number, f"said by {rank}")


def step_of(action: Action, before: State, after: State) -> object:
    """Return what a core's method must return for a step of the model."""
    name, client, rank = action.name, action.param("client"), action.param("rank")
    if name == "Issue":
        return len(after.state)
    if name in ("Withdraw", "Clear"):
        return tuple(n for n in numbers(before, QUEUED) if after.state[n - 1] != QUEUED)
    if name == "HandOut" and client is not None:
        return after.hand[client - 1]
    if name == "Start":
        return numbers(before, QUEUED)[0]
    if name == "Gone":
        return client in before.owner
    if name in ("Release", "JobDone"):
        return f"job of {rank}"
    if name in ("Abandon", "Settled"):
        return action.param("number")
    told = ("Acknowledge", "Accept", "Return", "BackOff", "ReportOk", "ReportFailed", "Overdue", "Settle", "Reappear")
    return True if name in told else None


def drive_core(config: Config, make: Made = PLAIN) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    return take_every_edge(
        build(Transfer(config)),
        lambda path: replay(TransferDriver(config, make), path),
        _take,
        lambda driver, state: probes(driver.core, driver.inside, state, config),
    )


def _take(driver: TransferDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))
