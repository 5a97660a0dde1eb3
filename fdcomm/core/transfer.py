"""The transfer protocol as a pure object: the part in the host. Tasks start in all ranks or in none.

One method per action of ``spec/transfer.toml`` (``tla/transfer/Transfer.tla``) that a host sees; what a rank does
inside is ``fdcomm.core.rank_tasks``. A task whose result was handled, and which no rank may be at, is forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Generic, TypeVar

from fdcomm.core.members import Members
from fdcomm.core.transfer_state import Client, State, Task, Vote
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Transfer",)

P = TypeVar("P")

DEFAULT_CAPACITY: Final = 1 << 16


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
        self.busy: dict[int, Task[P]] = {}
        self.clients: dict[int, Client[P]] = {}
        self.votes: list[Vote] = ["none"] * ranks

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody acts for the rank."""
        self._come(rank)

    def leave(self, rank: int) -> None:
        """Leave: the rank will not report what it has not reported, and is at no task any more."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)
        self._lack(rank, self.started)
        self._not_at(rank, *self.busy.values())

    def fence(self, rank: int) -> None:
        """Fence: the process is gone, and at no task any more. What it has not reported, or what waits, fails."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self.lost.add(rank)
        self._lack(rank, {**self.queued, **self.started})
        self._not_at(rank, *self.busy.values())

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
        self.clients.setdefault(client, Client()).unacknowledged += 1
        return task

    def withdraw(self, client: int) -> tuple[Task[P], ...]:
        """Withdraw: cancel the client's tasks that have not started; return them."""
        return self._cancel(task for task in self.queued.values() if task.owner == client)

    def clear(self) -> tuple[Task[P], ...]:
        """Clear: cancel all tasks that have not started; return them."""
        return self._cancel(self.queued.values())

    def abandon(self, number: int, client: int) -> Task[P] | None:
        """Abandon: end a started task of the client without the ranks that have not reported. None: it has no such.

        They may be at it still: ``task.busy``.
        """
        task = self.started.get(number)
        if task is None or task.owner != client or client not in self.clients:
            return None
        task.without |= {rank for rank in range(self.ranks) if not task.reported(rank)}
        self._end(task, "failed")
        return task

    def hand_out(self, client: int) -> Task[P] | None:
        """HandOut: the client's next result; what it had before was handled. None: there is none.

        If ranks may be at the task, it settles later: :meth:`settled`.
        """
        box = self.clients.get(client)
        if box is None or not box.results:
            return None
        self._handled(box)
        box.hand = task = box.results.popleft()
        if task.busy:
            box.held.add(task.number)
        return task

    def acknowledge(self, client: int) -> bool:
        """Acknowledge: what the client took last was handled. False when it has handled everything."""
        box = self.clients.get(client)
        if box is None or box.hand is None:
            return False
        self._handled(box)
        return True

    def settled(self, client: int) -> int | None:
        """Settled: a task that no rank is at any more, and whose result said that some may be. None: there is none."""
        box = self.clients.get(client)
        if box is None or not box.settled:
            return None
        number = box.settled.popleft()
        box.held.discard(number)
        return number

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
        self.started[task.number] = self.busy[task.number] = task
        task.busy = set(range(self.ranks))
        self.votes = ["none"] * self.ranks
        return task

    # -- from started to ended -----------------------------------------------------------------------------------

    def report_ok(self, rank: int, number: int, value: P) -> bool:
        """ReportOk: the rank has done the task. False when the task has ended meanwhile: then it settles.

        Raises:
            ProtocolViolationError: The task has not started, or the rank has reported it.
        """
        return self._report(rank, number, "ReportOk", value)

    def report_failed(self, rank: int, number: int, error: P) -> bool:
        """ReportFailed: the rank has failed at the task. As :meth:`report_ok`."""
        return self._report(rank, number, "ReportFailed", error)

    def overdue(self, rank: int, number: int, error: P) -> bool:
        """Overdue: the rank has failed at the task, and is at it still. As :meth:`report_ok`."""
        return self._report(rank, number, "Overdue", error)

    def settle(self, rank: int, number: int) -> bool:
        """Settle: the rank is at a task no more that was overdue, or ended without it. False: that was known.

        Raises:
            ProtocolViolationError: The task waits for the rank's report.
        """
        self._require_live(rank, "Settle")
        task = self.busy.get(number)
        if task is None or rank not in task.busy:
            return False
        if task.state == "started" and not task.reported(rank):
            raise ProtocolViolationError(f"Settle: rank {rank} has not reported task {number}")
        self._not_at(rank, task)
        return True

    def awaited(self, task: Task[P]) -> tuple[int, ...]:
        """Return the ranks that may still report."""
        return tuple(rank for rank in range(self.ranks) if not task.reported(rank) and rank not in task.without)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _report(self, rank: int, number: int, action: str, said: P) -> bool:
        task = self._reportable(rank, number, action)
        if task is None:
            return False
        (task.values if action == "ReportOk" else task.errors)[rank] = said
        if action != "Overdue":
            self._not_at(rank, task)
        self._end_if_due(task)
        return True

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
                self._end_if_due(task)

    def _end_if_due(self, task: Task[P]) -> None:
        if not self.awaited(task):
            self._end(task, "failed" if task.without or task.errors else "ok")

    def _not_at(self, rank: int, *tasks: Task[P]) -> None:
        """The rank is at none of these any more; who waits for the last of them is told."""
        for task in tasks:
            task.busy.discard(rank)
            if task.busy:
                continue
            self.busy.pop(task.number, None)
            box = self.clients.get(task.owner)
            if box is not None and task.number in box.held:
                box.settled.append(task.number)

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
    def _handled(box: Client[P]) -> None:
        if box.hand is not None:
            box.hand = None
            box.unacknowledged -= 1
