"""TransferLoop: the loop of a rank that does transfer tasks.

Protocol: ``spec/transfer.toml``, docs/protocols/transfer.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from fdcomm import arguments
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    FdcommError,
    FencedError,
    HostLostError,
    RankError,
)
from fdcomm.handle import Handle
from fdcomm.pause import PauseControl
from fdcomm.transfer_task import Handler, Progress, Running, TransferTask
from fdcomm.transfer_work import PROTOCOL, Work

__all__ = ("TransferLoop", "TransferLoopStatistics", "TransferTask")

_LOOK_S: Final = 0.5
"""How long one wait in the host lasts, so that the end of the loop is seen."""

_TOGETHER_S: Final = 1.0
"""How long a rank that has admitted a job waits for the others before it ends the job and begins anew."""


@dataclass(frozen=True)
class TransferLoopStatistics:
    """A snapshot of one rank's loop.

    Attributes:
        taken: Tasks that this rank has started.
        done: Of these, done and reported.
        failed: Of these, reported as failed.
        dropped: Of the reports, those of tasks that had ended meanwhile.
        refused: How often a pause was in the way of a task.
        backed_off: How often a job was admitted for nothing, because another rank was pausing or absent.
        jobs: Tasks whose jobs have not ended.
        running: Handlers that run now: number, kind, monotonic time of their start, and whether their limit is over.
    """

    taken: int
    done: int
    failed: int
    dropped: int
    refused: int
    backed_off: int
    jobs: tuple[int, ...]
    running: tuple[Running, ...]


class TransferLoop:
    """Does the transfer tasks of one rank: each in the thread of its kind, in order within a kind.

    A task starts in all ranks or in none. Each rank admits a job for it first, so a pause that has been reached has no
    task that only some ranks have done. A handler that raises, or runs too long, fails its task; the loop goes on.
    One thread calls :meth:`step` or :meth:`run`; everything else may be called by any.
    """

    def __init__(
        self,
        queue: Handle,
        control: PauseControl,
        handlers: Mapping[str, Handler],
        *,
        limit_s: float | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Make a loop; tasks wait for this rank from its first step on.

        Args:
            queue: A handle with a ``client_id``, which must stay open.
            control: The rank's part in the pause protocol, made with ``rank=True`` over the same queue.
            handlers: Kind -> what does a task of it. It is called with a :class:`TransferTask`, and what it returns is
                this rank's part of the result.
            limit_s: How long a handler may run before its task is reported as failed (HandlerTimeoutError). The thread
                cannot be ended: its job counts, and tasks of its kind fail, until the handler returns.
            progress: Called with number, kind and stage: "taken" when the task has started in all ranks, "started"
                when its handler begins, then "done" or "failed"; and "settled" when a handler has ended whose task had
                failed before, because its limit was over. When it raises, the loop ends with that error.

        Raises:
            RankError: The handle has no rank, or the control was made without ``rank=True``.
            ConfigError: ``limit_s`` is no positive number, or the handlers are no mapping of names to functions.
        """
        if queue.client_id < 0:
            raise RankError("TransferLoop needs a handle with a client_id", operation="transfer")
        control._rank("transfer")
        if limit_s is not None and not (timeout_seconds(limit_s, "limit_s") or 0.0) > 0:
            raise ConfigError(f"limit_s={limit_s!r} must be a positive number of seconds", operation="transfer")
        if not isinstance(handlers, Mapping):
            raise ConfigError(f"handlers={handlers!r} must map each kind to a function", operation="transfer")
        for kind, handler in handlers.items():
            arguments.function(handler, f"the handler of {kind!r}", "transfer")
            arguments.text(kind, "kind", "transfer")
        if progress is not None:
            arguments.function(progress, "progress", "transfer")
        self._queue = queue
        self._control = control
        self._runtime = queue._runtime
        self._work = Work(queue, handlers, limit_s, progress)
        self._idle = self._runtime.condition()
        self._stepping = False
        self._refusing = False
        self._closed = False
        self._left = False
        self._refused = 0
        self._backed_off = 0

    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Step until ``stop()``, or the close of this loop, its control or its handle.

        Raises:
            FdcommError: The host is gone, or this handle was fenced. So with what a handler raises that is no
                ``Exception``, and what ``progress`` raises.
        """
        while not stop():
            try:
                self.step(timeout=_LOOK_S)
            except ClosedError:
                return

    def step(self, *, timeout: Timeout = DEFAULT) -> int | None:
        """Start the next task, with all other ranks; its handler runs in the thread of its kind.

        Returns:
            The task's number; None when none started within ``timeout`` seconds, or because of a pause.

        Raises:
            ClosedError: This loop, its control or its handle is closed.
        """
        deadline = Deadline(timeout_seconds(timeout, "transfer.step"), self._runtime.monotonic)
        with self._idle:
            self._check()
            self._stepping = True
        try:
            if not self._admitted(deadline):
                return None
            return self._begun()
        finally:
            with self._idle:
                self._stepping = False
                self._idle.notify_all()

    def close(self, *, timeout: Timeout = DEFAULT) -> None:
        """Start nothing more, wait for the handlers that run, and leave: tasks wait until the rank is back. Idempotent.

        Raises:
            CommTimeoutError: Handlers still run; the message names their tasks.
        """
        deadline = Deadline(timeout_seconds(timeout, "transfer.close"), self._runtime.monotonic)
        with self._idle:
            self._closed = True
            while self._stepping and not deadline.expired():
                self._idle.wait(deadline.remaining())
        self._work.close(deadline.remaining())
        if not self._left:
            self._left = True
            with contextlib.suppress(HostLostError, FencedError, ClosedError):  # then it is not there any more
                self._queue._act(PROTOCOL, "leave", name="transfer.close")

    def statistics(self) -> TransferLoopStatistics:
        """Return a snapshot. No round trip."""
        counts = self._work.counts
        return TransferLoopStatistics(
            taken=counts["taken"],
            done=counts["done"],
            failed=counts["failed"],
            dropped=counts["dropped"],
            refused=self._refused,
            backed_off=self._backed_off,
            jobs=self._work.jobs(),
            running=self._work.running(),
        )

    def __enter__(self) -> TransferLoop:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except FdcommError:
            if error is None:
                raise

    # -- helpers -------------------------------------------------------------------------------------------------

    def _admitted(self, deadline: Deadline) -> bool:
        """Admit a job, when a task waits and the group is not paused."""
        while True:
            self._check()
            left = deadline.remaining()
            look = _LOOK_S if left is None else min(left, _LOOK_S)
            if not self._refusing:
                if not self._queue._act(PROTOCOL, "next_task", look, timeout=look, name="transfer.step"):
                    if deadline.expired():
                        return False
                    continue
                look = 0.0
            try:
                job = self._control.admit(timeout=look)
            except CommTimeoutError:
                self._refuse()
                if deadline.expired():
                    return False
            else:
                self._work.admit(job)
                return True

    def _refuse(self) -> None:
        """A pause is in the way: the others are not to wait for this rank."""
        if not self._refusing:
            self._queue._act(PROTOCOL, "refuse", name="transfer.step")
            self._refusing = True
            self._refused += 1

    def _begun(self) -> int | None:
        given: tuple[int, str, bytes] | None = None
        try:
            given = self._queue._act(PROTOCOL, "accept", _TOGETHER_S, timeout=_TOGETHER_S, name="transfer.step")
            self._refusing = False
        finally:
            if given is None:
                self._backed_off += 1
                self._work.release()
        if given is None:
            return None
        self._work.begin(*given)
        return given[0]

    def _check(self) -> None:
        if self._work.fatal is not None:
            raise self._work.fatal
        if self._closed:
            raise ClosedError("transfer.step: the loop is closed", operation="transfer.step")
