"""Level V3 on the transfer cores: every edge of the model's graph is taken by them, and every refusal refuses.

One core is in the host, and one in each rank; the driver carries between them what the loop carries. A crash is
invisible, and pauses belong to another protocol: the driver remembers them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Task
from fdcomm.core.transfer import Transfer as Core
from models.graph import Edge, build
from models.kernel import Action
from models.transfer import Config, Report, State, Transfer
from models.transfer_state import AWAY, DEAD, LIVE, LOST, QUEUED, STARTED, ended, numbers, reported
from tests.conformance.driving import Coverage, Deviation, Probe, expect, replay, take_every_edge

__all__ = ("Known", "TransferDriver", "drive_core", "probes")

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

    def state(self, spare: tuple[bool, ...], jobs: tuple[frozenset[int], ...]) -> State:
        """Return the model's state."""
        core, clients = self.core, range(1, self.config.clients + 1)
        for task in self.tasks:
            place = {"queued": core.queued, "started": core.started}.get(task.state, {})
            if (place.get(task.number) is task) != bool(place) and task.state in ("queued", "started"):
                raise Deviation(f"task {task.number} is {task.state}, and the core has {list(place)}")
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
            results=tuple(() if box is None else tuple(task.number for task in box.results) for box in boxes),
            hand=tuple(map(self.hand, clients)),
            handled=frozenset(self.handled),
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
        return super().state(spare, tuple(frozenset(rank.jobs) for rank in self.inside))

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
            return self._of_client(name, client)
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

    def _of_client(self, name: str, client: int) -> object:
        core, before = self.core, self.hand(client)
        result: object = None
        if name == "Withdraw":
            result = tuple(task.number for task in core.withdraw(client))
        elif name == "HandOut":
            task = core.hand_out(client)
            result = None if task is None else task.number
        elif name == "Acknowledge":
            result = core.acknowledge(client)
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
            if inside.tell(number, ok=False) and core.report_failed(rank, number, "late"):
                raise Deviation(f"a report of task {number} was counted after its end")
            return inside.job_done(number)
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
    if name == "Abandon":
        return action.param("number")
    told = ("Acknowledge", "Accept", "Return", "BackOff", "ReportOk", "ReportFailed", "Reappear")
    return True if name in told else None


def drive_core(config: Config, make: Made = PLAIN) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    return take_every_edge(
        build(Transfer(config)),
        lambda path: replay(TransferDriver(config, make), path),
        _take,
        lambda driver, state: probes(driver, state, config),
    )


def _take(driver: TransferDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(driver: TransferDriver, s: State, config: Config) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``s``, as far as a core can know that."""
    core = driver.core
    for rank, status in enumerate(s.status):
        yield from _rank_probes(core, s, rank, here=status in (LIVE, DEAD))
        yield from _inside_probes(driver.inside[rank], s, rank)
        for number in range(len(s.state) + 2):
            yield from _report_probes(core, s, rank, number)
    queued = numbers(s, QUEUED)
    if LOST in s.status:
        yield "Issue", partial(core.issue, 1, "1", "lost"), None
    elif len(queued) == config.capacity:
        yield "Issue", partial(core.issue, 1, "1", "too many"), (None,)
    if not queued:
        yield "Clear", core.clear, ((),)
    if not queued or "no" in s.vote or {AWAY, LOST} & set(s.status):
        yield "offer", core.offer, (0,)
    else:
        yield "offer", core.offer, (queued[0],)
    if not queued or set(s.vote) != {"yes"}:
        yield "Start", core.start, (None,)
    for client in range(1, config.clients + 2):
        mine = [n for n, owner in enumerate(s.owner, 1) if owner == client and client not in s.gone]
        if not set(mine) & set(queued):
            yield f"Withdraw({client})", partial(core.withdraw, client), ((),)
        known = client <= config.clients
        if not known or not s.results[client - 1]:
            yield f"HandOut({client})", partial(core.hand_out, client), (None,)
        if not known or not s.hand[client - 1]:
            yield f"Acknowledge({client})", partial(core.acknowledge, client), (False,)
        if not mine:
            yield f"Gone({client})", partial(core.gone, client), (False,)
        yield f"outstanding({client})", partial(core.outstanding, client), (len(set(mine) - s.handled),)
        for number in range(len(s.state) + 2):
            if number not in mine or s.state[number - 1] != STARTED:
                yield f"Abandon({number}, {client})", partial(core.abandon, number, client), (None,)
    for number in numbers(s, STARTED):
        waits = set(range(config.ranks)) - reported(s, number) - s.without[number - 1]
        yield f"awaited({number})", partial(core.awaited, core.started[number]), (tuple(sorted(waits)),)


def _rank_probes(core: Core[Any], s: State, rank: int, *, here: bool) -> Iterator[Probe]:
    if here:
        yield f"Join({rank})", partial(core.join, rank), None
    else:
        for name in ("leave", "fence", "accept", "refuse", "return_", "back_off"):
            yield f"{name}({rank})", partial(getattr(core, name), rank), None
    if s.status[rank] != AWAY:
        yield f"Vanish({rank})", partial(core.vanish, rank), None
    if s.status[rank] != LOST:
        yield f"Reappear({rank})", partial(core.reappear, rank), (False,)
    if not here:
        return
    vote, waits = s.vote[rank], QUEUED in s.state
    if vote == "yes":
        yield f"Accept({rank})", partial(core.accept, rank), None
    elif not waits:
        yield f"Accept({rank})", partial(core.accept, rank), (False,)
    if vote != "none":
        yield f"Refuse({rank})", partial(core.refuse, rank), None
    if vote != "no" or waits:
        yield f"Return({rank})", partial(core.return_, rank), (False,)
    reason = not waits or "no" in s.vote or {AWAY, LOST} & set(s.status)
    if vote != "yes" or not reason:
        yield f"BackOff({rank})", partial(core.back_off, rank), (False,)


def _inside_probes(inside: RankTasks[Any], s: State, rank: int) -> Iterator[Probe]:
    if s.spare[rank]:
        yield f"Admit({rank})", partial(inside.admit, "another job"), None
    else:
        yield f"Release({rank})", inside.release, None
        yield f"begin({rank})", partial(inside.begin, len(s.state) + 1, "1"), None
    for number in range(1, len(s.state) + 2):
        if number not in s.jobs[rank]:
            yield f"JobDone({rank}, {number})", partial(inside.job_done, number), None
            yield f"tell({rank}, {number})", partial(inside.tell, number, ok=True), None
        elif rank in reported(s, number):
            yield f"tell({rank}, {number})", partial(inside.tell, number, ok=True), (False,)
        elif s.state[number - 1] == STARTED:
            yield f"JobDone({rank}, {number})", partial(inside.job_done, number), None
            if any(m < number and s.kind[m - 1] == s.kind[number - 1] for m in s.jobs[rank]):
                yield f"tell({rank}, {number})", partial(inside.tell, number, ok=True), None


def _report_probes(core: Core[Any], s: State, rank: int, number: int) -> Iterator[Probe]:
    label, call = f"ReportOk({rank}, {number})", partial(core.report_ok, rank, number, "probe")
    here = s.status[rank] in (LIVE, DEAD)
    if not here or not 0 < number <= len(s.state) or s.state[number - 1] == QUEUED:
        yield label, call, None
    elif ended(s, number) or rank in s.without[number - 1]:
        yield label, call, (False,)
    elif rank in reported(s, number):
        yield label, call, None
