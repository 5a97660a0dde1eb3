"""A transfer task as a rank has it: what its handler gets, how it goes, and errors in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import FdcommError, HandlerTimeoutError
from fdcomm.jobs import Job

__all__ = ("Handler", "Progress", "Running", "Stage", "TransferTask", "in_words", "too_long")

Stage: TypeAlias = Literal["taken", "started", "done", "failed", "settled"]
Progress: TypeAlias = Callable[[int, str, Stage], None]


class TransferTask:
    """A task as its handler gets it.

    Attributes:
        number: As ``issue`` returned it.
        kind: As it was issued.
        payload: What was issued.
    """

    __slots__ = ("_job", "kind", "number", "payload")

    def __init__(self, number: int, kind: str, payload: Any, job: Job) -> None:
        self.number = number
        self.kind = kind
        self.payload = payload
        self._job = job

    @property
    def cancelled(self) -> bool:
        """True while a pause tells jobs to end, and when the host is gone. No round trip."""
        return self._job.cancelled

    def checkpoint(self, timeout: Timeout = DEFAULT) -> None:
        """Where the handler may stop for a while: see ``Job.checkpoint``. Raises JobCancelledError at an abort."""
        self._job.checkpoint(timeout)


Handler: TypeAlias = Callable[[TransferTask], Any]


@dataclass(slots=True)
class Running:
    """A handler that runs: since when, and whether its limit is over."""

    number: int
    kind: str
    since: float
    overdue: bool = False


def in_words(error: BaseException) -> bytes:
    """Return an error as a report has it."""
    return f"{type(error).__name__}: {error}".encode(errors="backslashreplace")


def too_long(number: int, run: Running, limit: float) -> FdcommError:
    """Return why a task has failed while a handler of its kind runs too long."""
    what = f"the handler of kind {run.kind!r} has run for more than {limit:g} s"
    if number != run.number:
        what += f", with task {run.number}; this one waited behind it"
    return HandlerTimeoutError(what, operation="transfer")
