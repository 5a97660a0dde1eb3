"""What a rank does with the transfer tasks that it has begun: one thread for each kind, and a limit for handlers.

Protocol: ``spec/transfer.toml``; the counting itself is ``fdcomm.core.rank_tasks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fdcomm.core.rank_tasks import Begun, RankTasks
from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, ForkedHandleError, JobCancelledError
from fdcomm.forksafety import close_in_child
from fdcomm.handle import Handle
from fdcomm.jobs import Job
from fdcomm.transfer_task import Handler, Progress, Running, Stage, TransferTask, in_words, too_long

__all__ = ("Work",)

PROTOCOL: Final = "transfer"


class Work:
    """The tasks that one rank has begun."""

    def __init__(
        self, queue: Handle, handlers: Mapping[str, Handler], limit_s: float | None, progress: Progress | None
    ) -> None:
        self._queue = queue
        self._handlers = dict(handlers)
        self._limit_s = limit_s
        self._progress = progress
        self._runtime = queue._runtime
        self._changed = self._runtime.condition()
        self._tasks: RankTasks[Job] = RankTasks()
        self._payloads: dict[int, bytes] = {}
        self._running: dict[str, Running] = {}
        self._reporting: set[int] = set()
        self._threads: set[str] = set()
        self._closed = False
        self.counts = {"taken": 0, "done": 0, "failed": 0, "dropped": 0}
        self.fatal: BaseException | None = None
        close_in_child(self)

    # -- the loop's thread ---------------------------------------------------------------------------------------

    def admit(self, job: Job) -> None:
        """Admit: the job waits for a task."""
        with self._changed:
            self._tasks.admit(job)

    def release(self) -> None:
        """Release: there is no task for it."""
        with self._changed:
            job = self._tasks.release()
        job.done()

    def begin(self, number: int, kind: str, payload: bytes) -> None:
        """Start: the task belongs to the job that was admitted. It is done in the thread of its kind."""
        self._tell_progress(number, kind, "taken")  # before the thread may have it: "started" never comes first
        with self._changed:
            begun = self._tasks.begin(number, kind)
            self._payloads[number] = payload
            self.counts["taken"] += 1
            stuck = self._running.get(kind)
            refusal = self._refusal(number, kind, stuck)
            if refusal is None:
                self._start_threads(kind)
            else:
                self._tasks.finish(number)
                self._claim_report(begun)
            self._changed.notify_all()
        if refusal is not None:
            self._fail(begun, refusal, ends=True)

    def close(self, limit: float | None) -> None:
        """Begin nothing more; wait until every job has ended. Idempotent.

        Raises:
            CommTimeoutError: Handlers still run. Their jobs count until they end.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            deadline = Deadline(limit, self._runtime.monotonic)
            while self._tasks.jobs:
                if deadline.expired():
                    names = ", ".join(f"task {run.number} ({run.kind})" for run in self._running.values())
                    raise CommTimeoutError(
                        f"transfer.close: {names or 'jobs'} had not ended after {deadline.waited():.1f} s",
                        operation="transfer.close",
                        waited_s=deadline.waited(),
                    )
                self._changed.wait(deadline.remaining())

    def running(self) -> tuple[Running, ...]:
        """Return the handlers that run."""
        with self._changed:
            return tuple(Running(run.number, run.kind, run.since, run.overdue) for run in self._running.values())

    def jobs(self) -> tuple[int, ...]:
        """Return the tasks that were begun and whose jobs have not ended."""
        with self._changed:
            return tuple(self._tasks.jobs)

    def after_fork_in_child(self) -> None:
        """The child has none of the threads, and is no rank."""
        self._changed = self._runtime.condition()
        self._tasks = RankTasks()
        self._closed = True
        self.fatal = ForkedHandleError("transfer: this loop came to this process by fork", operation="transfer")

    # -- the threads of the kinds --------------------------------------------------------------------------------

    def _do_kind(self, kind: str) -> None:
        while True:
            with self._changed:
                while (begun := self._tasks.next_of(kind)) is None or begun.told:
                    if self._closed and begun is None:
                        self._threads.discard(kind)
                        return
                    self._changed.wait()
                payload = self._payloads.pop(begun.number)
                self._running[kind] = Running(begun.number, kind, self._runtime.monotonic())
                self._changed.notify_all()
            try:
                self._do(begun, payload)
            except BaseException as error:  # noqa: BLE001 - the loop raises it
                self._stop(error)
            finally:
                self._end_job(begun)

    def _do(self, begun: Begun[Job], payload: bytes) -> None:
        ok, said, interrupt = False, b"", None
        self._tell_progress(begun.number, begun.kind, "started")
        try:
            if begun.job.cancelled:
                raise JobCancelledError("a pause told jobs to end before this one began", operation="transfer")
            task = TransferTask(begun.number, begun.kind, self._queue._unpickle(payload, "transfer"), begun.job)
            said = self._queue._pickle(self._handlers[begun.kind](task), "transfer")
            ok = True
        except BaseException as error:  # noqa: BLE001 - the task has failed, whatever it was
            said = in_words(error)
            interrupt = None if isinstance(error, Exception) else error
        with self._changed:
            del self._running[begun.kind]
            self._tasks.finish(begun.number)
            fresh = self._claim_report(begun, ok=ok)
            while not fresh and begun.number in self._reporting:  # the limit was over, and its report is under way
                self._changed.wait()
        if fresh:
            self._report(begun, ok, said)
        else:
            self._settle(begun)
        if interrupt is not None:
            raise interrupt

    def _end_job(self, begun: Begun[Job]) -> None:
        """JobDone: after all that the host had to be told, whatever became of it."""
        with self._changed:
            if begun.number not in self._tasks.jobs:
                return
            begun.told, begun.running, begun.owes = True, False, False
            job = self._tasks.job_done(begun.number)
            self._changed.notify_all()
        job.done()

    # -- limits --------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        limit = self._limit_s or 0.0
        while True:
            with self._changed:
                late = self._overdue(limit)
                while not late:
                    if self._closed and not self._tasks.jobs:
                        self._threads.discard("")
                        return
                    ends = [run.since + limit for run in self._running.values() if not run.overdue]
                    self._changed.wait(max(0.0, min(ends) - self._runtime.monotonic()) if ends else None)
                    late = self._overdue(limit)
            for begun, words, waits in late:
                self._fail(begun, words, ends=waits)

    def _overdue(self, limit: float) -> list[tuple[Begun[Job], bytes, bool]]:
        """Claim the reports of what runs too long, and of what waits behind it: ``(task, words, it waits)``."""
        now, found = self._runtime.monotonic(), []
        for run in self._running.values():
            if run.overdue or now < run.since + limit:
                continue
            run.overdue = True
            for begun in [begun for begun in self._tasks.jobs.values() if begun.kind == run.kind]:
                waits = begun.number != run.number
                if begun.told:
                    continue
                if waits:
                    self._tasks.finish(begun.number)  # it will not be called
                self._claim_report(begun, overdue=not waits)
                found.append((begun, in_words(too_long(begun.number, run, limit)), waits))
        return found

    def _refusal(self, number: int, kind: str, stuck: Running | None) -> bytes | None:
        """Why a task of the kind cannot be done here; None when it can."""
        if kind not in self._handlers:
            known = ", ".join(sorted(self._handlers))
            return f"KeyError: this rank has no handler of kind {kind!r}; it has {known}".encode()
        if stuck is not None and stuck.overdue:
            return in_words(too_long(number, stuck, self._limit_s or 0.0))
        return None

    # -- reports -------------------------------------------------------------------------------------------------

    def _claim_report(self, begun: Begun[Job], *, ok: bool = False, overdue: bool = False) -> bool:
        """Return True for the one who reports the task; the job does not end before that."""
        number = begun.number
        if not (self._tasks.overdue(number) if overdue else self._tasks.tell(number, ok=ok)):
            return False
        self._reporting.add(number)
        return True

    def _fail(self, begun: Begun[Job], words: bytes, *, ends: bool) -> None:
        try:
            self._report(begun, False, words)
        except BaseException as error:  # noqa: BLE001 - the loop raises it
            self._stop(error)
        finally:
            self._payloads.pop(begun.number, None)
            if ends:
                self._end_job(begun)

    def _report(self, begun: Begun[Job], ok: bool, said: bytes) -> None:
        number = begun.number
        try:
            if begun.owes:
                counted = self._queue._act(PROTOCOL, "overdue", number, said, name="transfer.report")
            else:
                counted = self._queue._act(PROTOCOL, "report", number, ok, said, name="transfer.report")
        finally:
            with self._changed:
                self._reporting.discard(number)
                self._changed.notify_all()
        with self._changed:
            self.counts["done" if ok else "failed"] += 1
            self.counts["dropped"] += not counted
        self._tell_progress(number, begun.kind, "done" if ok else "failed")

    def _settle(self, begun: Begun[Job]) -> None:
        """The handler of an overdue task has ended: what it wrote to is its client's again."""
        self._queue._act(PROTOCOL, "settle", begun.number, name="transfer.report")
        with self._changed:
            self._tasks.settle(begun.number)
        self._tell_progress(begun.number, begun.kind, "settled")

    def _tell_progress(self, number: int, kind: str, stage: Stage) -> None:
        if self._progress is not None:
            try:
                self._progress(number, kind, stage)
            except BaseException as error:  # noqa: BLE001 - the loop raises it; the task goes its way
                self._stop(error)

    def _stop(self, error: BaseException) -> None:
        """The loop ends with this error."""
        with self._changed:
            if self.fatal is None:
                self.fatal = error
            self._changed.notify_all()

    def _start_threads(self, kind: str) -> None:
        rank = self._queue.client_id
        if kind not in self._threads:
            self._threads.add(kind)
            self._runtime.spawn(lambda: self._do_kind(kind), f"fdcomm-transfer-{rank}-{kind}")
        if self._limit_s is not None and "" not in self._threads:
            self._threads.add("")
            self._runtime.spawn(self._watch, f"fdcomm-transfer-{rank}-limits")
