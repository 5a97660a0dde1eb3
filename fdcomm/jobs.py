"""The jobs of one rank: counted from admission to end, stopped by the orders of the pause protocol.

Protocol: ``spec/pause.toml``, docs/protocols/pause.md; the counting itself is ``fdcomm.core.rank_gate``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from fdcomm.core.pause import Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
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
from fdcomm.watched import period, until

__all__ = ("Job", "RankJobs")

_PROTOCOL: Final = "pause"
T = TypeVar("T")
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
        tell = self._jobs.finish(self)
        if tell is not None:
            tell()

    @property
    def cancelled(self) -> bool:
        """True while a pause tells jobs to end, and when the host is gone. No round trip."""
        return self._jobs.aborting()

    def checkpoint(
        self, timeout: Timeout = DEFAULT, *, progress: Callable[[], object] | None = None, every: float = 1.0
    ) -> None:
        """Call where the job may stop for a while: nothing that a pause is made for may be in use by it.

        During a ``keep`` pause the job waits here until the resume (action Park); otherwise it returns at once.

        Args:
            timeout: Seconds.
            progress: Called in this thread while the job waits, without arguments. What it raises is raised; the job is
                still parked then, as after a time limit.
            every: Seconds between two calls of ``progress``.

        Raises:
            JobCancelledError: The pause's mode is ``abort``.
            CommTimeoutError: The pause is longer than ``timeout``; the job may do nothing more but come here again, or
                end. So with the errors of :meth:`PauseControl.admit`.
            ClosedError: The job has ended.
        """
        seconds = period(progress, every, "checkpoint")
        self._jobs.checkpoint(self, timeout_seconds(timeout, "checkpoint"), progress, seconds)

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
        self._lock = lock_of(self._changed)
        self._refuses: FdcommError | None = None  # why nothing is admitted any more
        self._lost = False
        self._leaving = False
        self._left = False
        self._watchers: set[Callable[[], object]] = set()
        self._gate = RankGate(_order(queue._act(_PROTOCOL, "join", name="pause.join")))
        close_in_child(self)
        self._thread: threading.Thread = self._runtime.spawn(self._follow, f"fdcomm-pause-{queue.client_id}")

    def admit(
        self, limit: float | None, progress: Callable[[], object] | None = None, every: float | None = None
    ) -> Job:
        """Admit a job, waiting while the gate is shut. Action Admit."""
        return self.try_admit() or self._until(self.admitted, self.not_admitted, limit, progress, every)

    def try_admit(self) -> Job | None:
        """Admit a job if the gate is open. This is all that most jobs pass: one lock of this process."""
        with self._lock:
            if self._refuses is not None or not self._gate.admit():
                return None
        return Job(self)

    def admitted(self) -> Job | None:
        """Admit a job if the gate is open; raise why none is admitted any more. The lock is held."""
        if self._refuses is not None:
            raise self._refuses
        return Job(self) if self._gate.admit() else None

    def not_admitted(self, waited_s: float) -> CommTimeoutError:
        """Return the error of an admission that has waited in vain."""
        return CommTimeoutError(
            f"admit: the group is paused ({self._gate.mode}), and was for {waited_s:.1f} s",
            operation="admit",
            waited_s=waited_s,
        )

    def finish(self, job: Job) -> Callable[[], None] | None:
        """Done. Returns what has to be told to the host then: one or two round trips."""
        gate = self._gate
        with self._lock:
            if job._done:
                return None
            job._done = True
            gate.done(job._parking)
            if not gate.shut and not self._leaving:
                return None
            quiet, number = gate.quiet, gate.order
        return partial(self._tell_end, quiet, number)

    def aborting(self) -> bool:
        """Return True when jobs are to end early."""
        return self._gate.aborting or self._lost

    def checkpoint(
        self, job: Job, limit: float | None, progress: Callable[[], object] | None = None, every: float | None = None
    ) -> None:
        """Park, if the pause in force wants it, until parked jobs may go on."""
        parks, tell = self.park(job)
        if tell is not None:
            tell()
        if parks:
            self._until(partial(self.released, job), self.not_released, limit, progress, every)

    def park(self, job: Job) -> tuple[bool, Callable[[], None] | None]:
        """Park. Returns whether the job has to wait, and what has to be told to the host: a round trip."""
        gate = self._gate
        with self._lock:
            if job._done:
                raise ClosedError("checkpoint: the job has ended", operation="checkpoint")
            self._refuse_aborted()
            if job._parking != gate.parking:  # else it is parked already, and comes again after a time limit
                job._parking = gate.park()
            parks, quiet, number = job._parking is not None, gate.quiet, gate.order
        return parks, partial(self._report, number) if parks and quiet else None

    def released(self, job: Job) -> bool | None:
        """Return True once a parked job may go on, None before. The lock is held.

        Not "while the gate is shut": the next pause may have come before the job's thread wakes, and it counts the job
        as running since the resume.
        """
        if self._gate.parking == job._parking:
            if self._lost and self._refuses is not None:
                raise self._refuses
            return None
        job._parking = None
        self._refuse_aborted()
        return True

    @staticmethod
    def not_released(waited_s: float) -> CommTimeoutError:
        """Return the error of a job that has been parked for too long."""
        return CommTimeoutError(
            f"checkpoint: the pause is longer than {waited_s:.1f} s", operation="checkpoint", waited_s=waited_s
        )

    @property
    def clock(self) -> Callable[[], float]:
        """What time limits are measured with."""
        return self._runtime.monotonic

    def look(self, look: Callable[[], T]) -> T:
        """Do a look that needs the lock. For those who wait in no thread."""
        with self._lock:
            return look()

    @contextlib.contextmanager
    def watched(self, wake: Callable[[], object]) -> Iterator[None]:
        """Have ``wake`` called, in some thread, with the lock held, whenever a wait may have ended."""
        with self._lock:
            self._watchers.add(wake)
        try:
            yield
        finally:
            with self._lock:
                self._watchers.discard(wake)

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
            self._wake()
        self._leave_if_idle()

    def after_fork_in_child(self) -> None:
        """The child has no thread that takes orders, and is no rank: it admits nothing."""
        self._changed = self._runtime.condition()
        self._lock = lock_of(self._changed)
        self._left = True
        self._watchers.clear()
        self._refuses = ForkedHandleError("admit: this control came to this process by fork", operation="admit")

    # -- helpers -------------------------------------------------------------------------------------------------

    def _until(self, look: Callable[[], T | None], late: Callable[[float], CommTimeoutError], *how: Any) -> T:
        return until(self._changed, self.clock, look, late, *how)

    def _wake(self) -> None:
        self._changed.notify_all()
        for wake in self._watchers:
            wake()

    def _tell_end(self, quiet: bool, number: int) -> None:
        if quiet:
            self._report(number)
        self._leave_if_idle()

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
                self._wake()

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
                self._wake()
        return True


def _order(wire: tuple[int, Any, Any]) -> Order:
    number, phase, mode = wire
    return Order(number, phase, mode)
