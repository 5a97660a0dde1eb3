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
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    ForkedHandleError,
    HostLostError,
    JobCancelledError,
    RankError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.handle import Handle
from fdcomm.runtime import lock_of

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
        self._jobs.finish(self)

    @property
    def cancelled(self) -> bool:
        """True while a pause tells jobs to end, and when the host is gone. No round trip."""
        return self._jobs.aborting()

    def checkpoint(self, timeout: Timeout = DEFAULT) -> None:
        """Call where the job may stop for a while: nothing that a pause is made for may be in use by it.

        During a ``keep`` pause the job waits here until the resume (action Park); otherwise it returns at once.

        Raises:
            JobCancelledError: The pause's mode is ``abort``.
            CommTimeoutError: The pause is longer than ``timeout``; the job may do nothing more but come here again, or
                end. So with the errors of :meth:`PauseControl.admit`.
            ClosedError: The job has ended.
        """
        self._jobs.checkpoint(self, timeout_seconds(timeout, "checkpoint"))

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._jobs.finish(self)


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
        self._lock = lock_of(self._changed)
        self._refuses: FdcommError | None = None  # why nothing is admitted any more
        self._lost = False
        self._leaving = False
        self._left = False
        self._gate = RankGate(_order(queue._act(_PROTOCOL, "join", name="pause.join")))
        close_in_child(self)
        self._thread: threading.Thread = self._runtime.spawn(self._follow, f"fdcomm-pause-{queue.client_id}")

    def admit(self, limit: float | None) -> Job:
        """Admit a job, waiting while the gate is shut. Action Admit."""
        job = self.try_admit()
        return self._await_admission(limit) if job is None else job

    def try_admit(self) -> Job | None:
        """Admit a job if the gate is open. This is all that most jobs pass: one lock of this process."""
        with self._lock:
            if self._refuses is not None or not self._gate.admit():
                return None
        return Job(self)

    def _await_admission(self, limit: float | None) -> Job:
        gate, changed = self._gate, self._changed
        with changed:
            deadline = Deadline(limit, self._runtime.monotonic)
            while True:
                if self._refuses is not None:
                    raise self._refuses
                if gate.admit():
                    return Job(self)
                if deadline.expired():
                    raise CommTimeoutError(
                        f"admit: the group is paused ({gate.mode}), and was for {deadline.waited():.1f} s",
                        operation="admit",
                        waited_s=deadline.waited(),
                    )
                changed.wait(deadline.remaining())

    def finish(self, job: Job) -> None:
        """Done."""
        gate = self._gate
        with self._lock:
            if job._done:
                return
            job._done = True
            gate.done(job._parking)
            if not gate.shut and not self._leaving:
                return
            quiet, number = gate.quiet, gate.order
        if quiet:
            self._report(number)
        self._leave_if_idle()

    def aborting(self) -> bool:
        """Return True when jobs are to end early."""
        return self._gate.aborting or self._lost

    def checkpoint(self, job: Job, limit: float | None) -> None:
        """Park, if the pause in force wants it, until parked jobs may go on."""
        gate, changed = self._gate, self._changed
        with self._lock:
            if job._done:
                raise ClosedError("checkpoint: the job has ended", operation="checkpoint")
            self._refuse_aborted()
            if job._parking != gate.parking:  # else it is parked already, and comes again after a time limit
                job._parking = gate.park()
            parking = job._parking
            quiet, number = gate.quiet, gate.order
        if parking is None:
            return
        if quiet:
            self._report(number)
        with changed:
            deadline = Deadline(limit, self._runtime.monotonic)
            # Not "while the gate is shut": the next pause may have come before this thread wakes, and it counts us as
            # running since the resume.
            while gate.parking == parking:
                if self._lost and self._refuses is not None:
                    raise self._refuses
                if deadline.expired():
                    raise CommTimeoutError(
                        f"checkpoint: the pause is longer than {deadline.waited():.1f} s",
                        operation="checkpoint",
                        waited_s=deadline.waited(),
                    )
                changed.wait(deadline.remaining())
            job._parking = None
            self._refuse_aborted()

    @property
    def inflight(self) -> int:
        """Jobs that were admitted and have not ended, parked ones included."""
        with self._lock:
            return self._gate.running + self._gate.parked

    def close(self) -> None:
        """Admit nothing more, and leave the group once no job is left. Idempotent."""
        with self._changed:
            if self._refuses is None:
                self._refuses = ClosedError("admit: the control is closed", operation="admit")
            self._leaving = True
            self._changed.notify_all()
        self._leave_if_idle()

    def after_fork_in_child(self) -> None:
        """The child has no thread that takes orders, and is no rank: it admits nothing."""
        self._changed = self._runtime.condition()
        self._lock = lock_of(self._changed)
        self._left = True
        self._refuses = ForkedHandleError("admit: this control came to this process by fork", operation="admit")

    # -- helpers -------------------------------------------------------------------------------------------------

    def _refuse_aborted(self) -> None:
        if self._gate.aborting:
            raise JobCancelledError("checkpoint: a pause tells this job to end", operation="checkpoint")

    def _report(self, number: int) -> None:
        with contextlib.suppress(FdcommError):  # the thread that follows orders finds out and says so
            self._queue._act(_PROTOCOL, "report", number, True, name="pause.report")

    def _leave_if_idle(self) -> None:
        with self._lock:
            if not self._leaving or self._left or self._gate.running or self._gate.parked:
                return
            self._left = True
        with contextlib.suppress(FdcommError):  # a host that is gone, or has fenced the rank, waits for nobody
            self._queue._act(_PROTOCOL, "leave", name="pause.leave")

    def _follow(self) -> None:
        """Take orders until the end. However that comes: a rank that takes no orders admits no jobs."""
        why: FdcommError | None = None
        try:
            while self._take_next():
                pass
        except FdcommError as error:
            why = error
        finally:
            with self._changed:
                if not self._left:
                    self._lost = True
                    self._refuses = why or HostLostError("admit: the thread that takes orders has ended")
                self._changed.notify_all()

    def _take_next(self) -> bool:
        """Tell the host what this rank has taken and whether it is quiet, and wait for the next order."""
        with self._lock:
            if self._left:
                return False
            number, quiet, running = self._gate.order, self._gate.quiet, self._gate.running
        wire: Any = self._queue._act(
            _PROTOCOL, "next_order", number, quiet, _LOOK_S, running, timeout=_LOOK_S, name="pause.next_order"
        )
        if wire is not None:
            with self._changed:
                self._gate.take(_order(wire))
                self._changed.notify_all()
        return True


def _order(wire: tuple[int, Any, Any]) -> Order:
    number, phase, mode = wire
    return Order(number, phase, mode)
