"""The transfer protocol as a pure object: the part in the host. Tasks start in all ranks or in none.

One method per action of ``spec/transfer.toml`` (``tla/transfer/Transfer.tla``) that a host sees; what a rank does
inside is ``fdcomm.core.rank_tasks``. A task whose result was handled is forgotten.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from fdcomm.core.members import Members
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("State", "Task", "Transfer", "Vote")

P = TypeVar("P")

State: TypeAlias = Literal["queued", "started", "ok", "failed", "cancelled"]
Vote: TypeAlias = Literal["none", "yes", "no"]

DEFAULT_CAPACITY: Final = 1 << 16


@dataclass(slots=True, eq=False)
class Task(Generic[P]):
    """A task that was issued.

    Attributes:
        number: From 1.
        owner: The client that issued it.
        kind: Ranks do the tasks of one kind in order.
        payload: What the ranks take.
        values: Rank -> what it reported of its success.
        errors: Rank -> what it reported of its failure.
        without: Ranks that will not report.
    """

    number: int
    owner: int
    kind: str
    payload: P
    state: State = "queued"
    values: dict[int, P] = field(default_factory=dict)
    errors: dict[int, P] = field(default_factory=dict)
    without: set[int] = field(default_factory=set)

    def reported(self, rank: int) -> bool:
        """Return True when the rank has reported."""
        return rank in self.values or rank in self.errors


@dataclass(slots=True)
class _Client(Generic[P]):
    results: deque[Task[P]] = field(default_factory=deque)
    hand: Task[P] | None = None
    unacknowledged: int = 0


class Transfer(Members, Generic[P]):
    """Tasks for ``ranks`` ranks, of which at most ``capacity`` wait to start."""

    def __init__(self, ranks: int, capacity: int = DEFAULT_CAPACITY) -> None:
        if min(ranks, capacity) < 1:
            raise ConfigError(f"num_client={ranks} and capacity={capacity} must be at least 1")
        super().__init__(ranks)
        self.capacity = capacity
        self.issued = 0
        self.queued: dict[int, Task[P]] = {}
        self.started: dict[int, Task[P]] = {}
        self.clients: dict[int, _Client[P]] = {}
        self.votes: list[Vote] = ["none"] * ranks

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody acts for the rank."""
        self._come(rank)

    def leave(self, rank: int) -> None:
        """Leave: the rank will not report what it has not reported."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)
        self._lack(rank, self.started)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone. What it has not reported fails without it, and so does what waits to start."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self.lost.add(rank)
        self._lack(rank, {**self.queued, **self.started})

    def vanish(self, rank: int) -> None:
        """Vanish: the process is gone before it did anything here."""
        self._require_away(rank, "Vanish")
        self.lost.add(rank)
        self._lack(rank, self.queued)

    def reappear(self, rank: int) -> bool:
        """Reappear: a process acts for the rank again. False when it was not lost."""
        return self._find(rank)

    # -- clients -------------------------------------------------------------------------------------------------

    def issue(self, client: int, kind: str, payload: P) -> Task[P] | None:
        """Issue. None when ``capacity`` tasks wait to start.

        Raises:
            ProtocolViolationError: A rank is lost, so it could not start.
        """
        if self.lost:
            raise ProtocolViolationError(f"Issue: ranks {sorted(self.lost)} are lost")
        if len(self.queued) >= self.capacity:
            return None
        self.issued += 1
        task = Task(self.issued, client, kind, payload)
        self.queued[task.number] = task
        self.clients.setdefault(client, _Client()).unacknowledged += 1
        return task

    def withdraw(self, client: int) -> tuple[Task[P], ...]:
        """Withdraw: cancel the client's tasks that have not started; return them."""
        return self._cancel(task for task in self.queued.values() if task.owner == client)

    def clear(self) -> tuple[Task[P], ...]:
        """Clear: cancel all tasks that have not started; return them."""
        return self._cancel(self.queued.values())

    def abandon(self, number: int, client: int) -> Task[P] | None:
        """Abandon: end a started task of the client without the ranks that have not reported. None: it has no such."""
        task = self.started.get(number)
        if task is None or task.owner != client or client not in self.clients:
            return None
        task.without |= {rank for rank in range(self.ranks) if not task.reported(rank)}
        self._end(task, "failed")
        return task

    def hand_out(self, client: int) -> Task[P] | None:
        """HandOut: the client's next result; what it had before was handled. None: there is none."""
        box = self.clients.get(client)
        if box is None or not box.results:
            return None
        self._handled(box)
        box.hand = box.results.popleft()
        return box.hand

    def acknowledge(self, client: int) -> bool:
        """Acknowledge: what the client took last was handled. False when it has handled everything."""
        box = self.clients.get(client)
        if box is None or box.hand is None:
            return False
        self._handled(box)
        return True

    def gone(self, client: int) -> bool:
        """Gone: the client's session has ended. False when it had issued nothing."""
        box = self.clients.pop(client, None)
        if box is None:
            return False
        self._cancel(task for task in self.queued.values() if task.owner == client)
        return True

    def outstanding(self, client: int) -> int:
        """Return how many tasks of the client were issued and not acknowledged."""
        box = self.clients.get(client)
        return 0 if box is None else box.unacknowledged

    # -- from queued to started ----------------------------------------------------------------------------------

    def offer(self) -> int:
        """Return the task for which ranks may admit a job: the oldest, if no rank is absent or pausing; or 0."""
        if not self.queued or "no" in self.votes or len(self.live) < self.ranks:
            return 0
        return next(iter(self.queued))

    def accept(self, rank: int) -> bool:
        """Accept: the rank has admitted a job, and is ready for the next task. False when none waits."""
        self._require_live(rank, "Accept")
        if self.votes[rank] == "yes":
            raise ProtocolViolationError(f"Accept: rank {rank} has accepted already")
        if not self.queued:
            return False
        self.votes[rank] = "yes"
        return True

    def refuse(self, rank: int) -> None:
        """Refuse: the rank is pausing. The others are not to wait for it."""
        self._require_live(rank, "Refuse")
        if self.votes[rank] != "none":
            raise ProtocolViolationError(f"Refuse: rank {rank} has voted {self.votes[rank]}")
        self.votes[rank] = "no"

    def return_(self, rank: int) -> bool:
        """Return: the rank does not refuse any more, and no task waits. False when that is not so."""
        self._require_live(rank, "Return")
        if self.votes[rank] != "no" or self.queued:
            return False
        self.votes[rank] = "none"
        return True

    def back_off(self, rank: int, *, late: bool = False) -> bool:
        """BackOff: the rank stops waiting for the others, if it has a reason; ``late`` is one. False: it has none."""
        self._require_live(rank, "BackOff")
        if self.votes[rank] != "yes" or self.can_start():
            return False
        if not (late or not self.queued or "no" in self.votes or len(self.live) < self.ranks):
            return False
        self.votes[rank] = "none"
        return True

    def can_start(self) -> bool:
        """Return True when a task waits and every rank is ready for it."""
        return bool(self.queued) and all(vote == "yes" for vote in self.votes)

    def start(self) -> Task[P] | None:
        """Start: all ranks begin the oldest task. None when not every rank is ready, or none waits."""
        if not self.can_start():
            return None
        task = self.queued.pop(next(iter(self.queued)))
        task.state = "started"
        self.started[task.number] = task
        self.votes = ["none"] * self.ranks
        return task

    # -- from started to ended -----------------------------------------------------------------------------------

    def report_ok(self, rank: int, number: int, value: P) -> bool:
        """ReportOk: the rank has done the task. False when the task has ended meanwhile.

        Raises:
            ProtocolViolationError: The task has not started, or the rank has reported it.
        """
        task = self._reportable(rank, number, "ReportOk")
        if task is None:
            return False
        task.values[rank] = value
        self._settle(task)
        return True

    def report_failed(self, rank: int, number: int, error: P) -> bool:
        """ReportFailed: the rank has failed at the task. As :meth:`report_ok`."""
        task = self._reportable(rank, number, "ReportFailed")
        if task is None:
            return False
        task.errors[rank] = error
        self._settle(task)
        return True

    def awaited(self, task: Task[P]) -> tuple[int, ...]:
        """Return the ranks that may still report."""
        return tuple(rank for rank in range(self.ranks) if not task.reported(rank) and rank not in task.without)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _reportable(self, rank: int, number: int, action: str) -> Task[P] | None:
        self._require_live(rank, action)
        task = self.started.get(number)
        if task is None:
            if not 0 < number <= self.issued or number in self.queued:
                raise ProtocolViolationError(f"{action}: task {number} has not started")
            return None
        if task.reported(rank):
            raise ProtocolViolationError(f"{action}: rank {rank} has reported task {number}")
        return None if rank in task.without else task

    def _lack(self, rank: int, tasks: dict[int, Task[P]]) -> None:
        """The rank is not there any more, and will report nothing of these tasks. In the order of their numbers."""
        self.votes[rank] = "none"
        for number in sorted(tasks):
            task = tasks[number]
            if task.reported(rank):
                continue
            task.without.add(rank)
            if task.state == "queued":
                self._end(task, "failed")
            else:
                self._settle(task)

    def _settle(self, task: Task[P]) -> None:
        if not self.awaited(task):
            self._end(task, "failed" if task.without or task.errors else "ok")

    def _cancel(self, tasks: Iterable[Task[P]]) -> tuple[Task[P], ...]:
        found: Collection[Task[P]] = list(tasks)
        for task in found:
            self._end(task, "cancelled")
        return tuple(found)

    def _end(self, task: Task[P], how: State) -> None:
        """The task has ended: its result is posted to its client, unless that is gone."""
        self.queued.pop(task.number, None)
        self.started.pop(task.number, None)
        task.state = how
        box = self.clients.get(task.owner)
        if box is not None:
            box.results.append(task)

    @staticmethod
    def _handled(box: _Client[P]) -> None:
        if box.hand is not None:
            box.hand = None
            box.unacknowledged -= 1
