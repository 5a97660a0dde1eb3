"""The jobs of one rank: counted from admission to end, stopped by the orders of the pause protocol.

Protocol: ``spec/pause.toml``, docs/protocols/pause.md; the counting itself is ``fdcomm.core.rank_gate``.
"""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Any, Final

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, JobCancelledError, RankError
from fdcomm.handle import Handle

__all__ = ("Job", "RankJobs")

_PROTOCOL: Final = "pause"
_LOOK_S: Final = 5.0
"""How long one question "is there a newer order?" waits in the host. Orders arrive at once; this bounds the silence."""


class Job:
    """A job that was admitted. Use it as a context manager around the job's work, or call :meth:`done` once."""

    __slots__ = ("_done", "_jobs", "_parking")

    def __init__(self, jobs: RankJobs) -> None:
        self._jobs = jobs
        self._done = False
        self._parking: int | None = None

    def done(self) -> None:
        """The job has ended, well or not; what it had to post was posted before. Idempotent. Action Done."""
        if not self._done:
            self._done = True
            self._jobs.finish(self._parking)

    @property
    def cancelled(self) -> bool:
        """True while a pause tells jobs to end, and when the host is gone. No round trip."""
        return self._jobs.aborting()

    def checkpoint(self, timeout: Timeout = DEFAULT) -> None:
        """Call where the job may stop for a while: nothing that a pause is made for may be in use by it.

        During a ``keep`` pause the job waits here until the resume (action Park); otherwise it returns at once.

        Raises:
            JobCancelledError: The pause's mode is ``abort``.
            CommTimeoutError: The pause is longer than ``timeout``; the job may do nothing more but end. So with the
                errors of :meth:`PauseControl.admit`.
        """
        limit = timeout_seconds(timeout, "checkpoint")
        self._parking = self._jobs.park()
        if self._parking is not None:
            self._jobs.await_release(limit)
            self._parking = None

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done()


class RankJobs:
    """The gate of one rank, and the thread through which orders reach it, whatever the jobs do.

    When that thread loses the host, the gate shuts: nobody could stop the rank any longer.
    """

    def __init__(self, queue: Handle) -> None:
        if queue.client_id < 0:
            raise RankError("pause.join: a rank needs a handle with a client_id", operation="pause.join")
        self._queue = queue
        self._runtime = queue._runtime
        self._changed = self._runtime.condition()
        self._failure: FdcommError | None = None
        self._closed = False
        self._gate = RankGate(_order(queue._act(_PROTOCOL, "join", name="pause.join")))
        self._thread: threading.Thread = self._runtime.spawn(self._follow, f"fdcomm-pause-{queue.client_id}")

    def admit(self, limit: float | None) -> Job:
        """Admit a job, waiting while the gate is shut. Action Admit."""
        gate, changed = self._gate, self._changed
        with changed:
            if self._failure is None and not self._closed and gate.admit():
                return Job(self)
            deadline = Deadline(limit, self._runtime.monotonic)
            while True:
                self._check("admit")
                if gate.admit():
                    return Job(self)
                if deadline.expired():
                    raise CommTimeoutError(
                        f"admit: the group is paused ({gate.mode}), and was for {deadline.waited():.1f} s",
                        operation="admit",
                        waited_s=deadline.waited(),
                    )
                changed.wait(deadline.remaining())

    def finish(self, parking: int | None) -> None:
        """Done."""
        with self._changed:
            self._gate.done(parking)
            quiet, number = self._gate.quiet, self._gate.order
        if quiet:
            self._report(number)

    def aborting(self) -> bool:
        """Return True when jobs are to end early."""
        return self._gate.aborting or self._failure is not None

    def park(self) -> int | None:
        """Park, if the pause in force wants it. None: the job goes on."""
        with self._changed:
            self._refuse_aborted()
            parking = self._gate.park()
            quiet, number = self._gate.quiet, self._gate.order
        if parking is not None and quiet:
            self._report(number)
        return parking

    def await_release(self, limit: float | None) -> None:
        """Wait until parked jobs may go on."""
        gate, changed = self._gate, self._changed
        with changed:
            deadline = Deadline(limit, self._runtime.monotonic)
            while gate.may_park:
                self._check("checkpoint")
                if deadline.expired():
                    raise CommTimeoutError(
                        f"checkpoint: the pause is longer than {deadline.waited():.1f} s",
                        operation="checkpoint",
                        waited_s=deadline.waited(),
                    )
                changed.wait(deadline.remaining())
            self._refuse_aborted()

    @property
    def inflight(self) -> int:
        """Jobs that were admitted and have not ended, parked ones included."""
        with self._changed:
            return self._gate.running + self._gate.parked

    def close(self) -> None:
        """Stop following orders; admit nothing more. Idempotent."""
        with self._changed:
            self._closed = True
            self._gate.shut = True
            self._changed.notify_all()

    # -- helpers -------------------------------------------------------------------------------------------------

    def _check(self, operation: str) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise ClosedError(f"{operation}: the control is closed", operation=operation)

    def _refuse_aborted(self) -> None:
        if self._gate.aborting:
            raise JobCancelledError("checkpoint: a pause tells this job to end", operation="checkpoint")

    def _report(self, number: int) -> None:
        with contextlib.suppress(FdcommError):  # the thread that follows orders finds out and says so
            self._queue._act(_PROTOCOL, "report", number, True, name="pause.report")

    def _follow(self) -> None:
        """Take orders until the end, and tell the host what this rank has taken and whether it is quiet."""
        while True:
            with self._changed:
                if self._closed:
                    return
                number, quiet = self._gate.order, self._gate.quiet
            try:
                wire: Any = self._queue._act(
                    _PROTOCOL, "next_order", number, quiet, _LOOK_S, timeout=_LOOK_S, name="pause.next_order"
                )
            except FdcommError as error:
                with self._changed:
                    self._failure = error
                    self._gate.shut = True
                    self._changed.notify_all()
                return
            if wire is not None:
                with self._changed:
                    if not self._closed:
                        self._gate.take(_order(wire))
                    self._changed.notify_all()


def _order(wire: tuple[int, Any, Any]) -> Order:
    number, phase, mode = wire
    return Order(number, phase, mode)
