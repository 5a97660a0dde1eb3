"""The transfer protocol as a pure object: the part inside a rank. The caller holds one lock around each call.

One method per action of ``spec/transfer.toml`` that a rank decides. A job is admitted before the rank has a task for
it, belongs to the task from its start, and ends after all that the host has to be told of the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from fdcomm.errors import ProtocolViolationError

__all__ = ("Begun", "RankTasks")

J = TypeVar("J")


@dataclass(slots=True)
class Begun(Generic[J]):
    """A task of this rank, from its start to the end of its job.

    Attributes:
        number: As the host gave it.
        kind: The rank does the tasks of one kind in order.
        job: What was admitted for it.
        running: Its handler runs, or may be called yet.
        told: It was reported.
        owes: It was reported while its handler ran, and the host has not been told that it has ended.
    """

    number: int
    kind: str
    job: J
    running: bool = True
    told: bool = False
    owes: bool = False


class RankTasks(Generic[J]):
    """What one rank has to do. Jobs are what its caller admits and ends."""

    __slots__ = ("jobs", "spare")

    def __init__(self) -> None:
        self.spare: J | None = None
        self.jobs: dict[int, Begun[J]] = {}

    def admit(self, job: J) -> None:
        """Admit: a job was admitted, for a task that the rank does not have yet."""
        if self.spare is not None:
            raise ProtocolViolationError("Admit: a job waits for its task already")
        self.spare = job

    def release(self) -> J:
        """Release: the job was admitted for nothing. Returns it, to be ended."""
        if self.spare is None:
            raise ProtocolViolationError("Release: no job waits for a task")
        job, self.spare = self.spare, None
        return job

    def begin(self, number: int, kind: str) -> Begun[J]:
        """Start: the job that was admitted is the task's."""
        job = self.release()
        begun = Begun(number, kind, job)
        self.jobs[number] = begun
        return begun

    def next_of(self, kind: str) -> Begun[J] | None:
        """Return the oldest task of a kind: the only one of the kind that may be done."""
        return next((begun for begun in self.jobs.values() if begun.kind == kind), None)

    def finish(self, number: int) -> None:
        """Finish: the task's handler has ended, or will not be called.

        Raises:
            ProtocolViolationError: That was known.
        """
        begun = self._begun(number, "Finish")
        if not begun.running:
            raise ProtocolViolationError(f"Finish: the handler of task {number} has ended already")
        begun.running = False

    def tell(self, number: int, *, ok: bool) -> bool:
        """The rank reports a task now (ReportOk, ReportFailed). False when it has reported it already.

        Raises:
            ProtocolViolationError: Its handler runs, or it is not the oldest of its kind, and can only have failed.
        """
        begun = self._begun(number, "Report")
        if begun.told:
            return False
        if begun.running:
            raise ProtocolViolationError(f"Report: the handler of task {number} has not ended")
        if ok and self.next_of(begun.kind) is not begun:
            raise ProtocolViolationError(f"ReportOk: task {number} is not the oldest of kind {begun.kind!r}")
        begun.told = True
        return True

    def overdue(self, number: int) -> bool:
        """Overdue: the rank reports now that it has failed, while its handler runs. False when it has reported it.

        Raises:
            ProtocolViolationError: The handler has ended.
        """
        begun = self._begun(number, "Overdue")
        if begun.told:
            return False
        if not begun.running:
            raise ProtocolViolationError(f"Overdue: the handler of task {number} has ended")
        begun.told = begun.owes = True
        return True

    def settle(self, number: int) -> bool:
        """Settle: the host is told now that the handler of an overdue task has ended. False when it need not be.

        Raises:
            ProtocolViolationError: It has not ended.
        """
        begun = self._begun(number, "Settle")
        if not begun.owes:
            return False
        if begun.running:
            raise ProtocolViolationError(f"Settle: the handler of task {number} has not ended")
        begun.owes = False
        return True

    def job_done(self, number: int) -> J:
        """JobDone: returns the job, to be ended. What the host has to know of the task was told before.

        Raises:
            ProtocolViolationError: It was not.
        """
        begun = self._begun(number, "JobDone")
        if begun.running or begun.owes or not begun.told:
            raise ProtocolViolationError(f"JobDone: the end of task {number} was not reported")
        del self.jobs[number]
        return begun.job

    def _begun(self, number: int, action: str) -> Begun[J]:
        begun = self.jobs.get(number)
        if begun is None:
            raise ProtocolViolationError(f"{action}: task {number} is not one of this rank's")
        return begun
