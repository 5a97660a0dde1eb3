"""PauseControl: stop and resume the jobs of all ranks. Protocol: ``spec/pause.toml``, docs/protocols/pause.md."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeVar

from fdcomm import arguments
from fdcomm.core.pause import MODES, Mode
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, ProtocolViolationError, RankError, StalePauseError
from fdcomm.handle import Handle, handle_of
from fdcomm.jobs import Job, RankJobs
from fdcomm.pause_waits import Holds, PauseStatistics, Progress, Waits
from fdcomm.watched import period

__all__ = ("PauseControl", "PauseStatistics", "Progress")

_PROTOCOL: Final = "pause"
T = TypeVar("T")


class PauseControl:
    """A process's part in the pause protocol of the group that a queue serves.

    A rank (``rank=True``, which needs a ``client_id``) admits its jobs here: :meth:`admit`. Any process that has a
    handle to the queue may :meth:`pause` and :meth:`resume`. Orders reach a rank through a thread of its own, so it
    takes them whatever its jobs do; when that thread loses the host, the gate shuts, because nobody could stop the
    rank any longer. Safe to use from several threads.
    """

    def __init__(self, queue: Handle, *, rank: bool = False) -> None:
        """Take part.

        Args:
            queue: The handle whose host keeps the orders. It must stay open as long as this object.
            rank: Admit jobs for the handle's ``client_id``. Action Join.

        Raises:
            ConfigError: ``queue`` is no handle, or ``rank`` neither True nor False.
            RankError: ``rank=True`` and the handle has no rank.
            DuplicateRankError: Another live process has joined for this rank.
        """
        self._queue = handle_of(queue, "PauseControl")
        self._jobs = RankJobs(queue) if arguments.flag(rank, "rank", "PauseControl") else None
        self._waits = Waits(queue)
        self._holds = Holds(queue)

    # -- jobs ----------------------------------------------------------------------------------------------------

    def admit(self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0) -> Job:
        """Admit a job of this rank: from here to its end no pause returns. No round trip. Action Admit.

        Waits while the group is paused, up to ``timeout`` seconds (0: does not wait). Meanwhile ``progress`` is called
        as by :meth:`pause`: it hears who holds the pause, and can say that the rank's loop lives.

        Raises:
            CommTimeoutError: The group was paused all the time.
            HostLostError: The host is gone, so no job may start; also FencedError.
            RankError: This object has no rank.
            ClosedError: It is closed.
        """
        jobs = self._jobs or self._rank("admit")
        if timeout is not DEFAULT:  # that one is looked up when there is something to wait for
            timeout = timeout_seconds(timeout, "admit")
        if progress is None:
            return jobs.try_admit() or jobs.admit(timeout_seconds(timeout, "admit"))
        seconds = period(progress, every, "admit")
        return jobs.admit(timeout_seconds(timeout, "admit"), partial(self._waits.tell, progress), seconds)

    # -- clients -------------------------------------------------------------------------------------------------

    def pause(
        self,
        mode: Mode = "drain",
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> int:
        """Stop the group. When this returns, no rank runs a job, and none can start one before a resume.

        Idempotent, from any process: a pause that is in force is joined, one that is under way is made sharper if
        ``mode`` is. What must not overlap a job or another client's resume belongs into :meth:`paused`.

        Args:
            mode: ``drain``: admitted jobs run to their end. ``abort``: they are told to end (``Job.cancelled``,
                ``Job.checkpoint``). ``keep``: those that reach a checkpoint wait there for the resume.
            timeout: Seconds.
            progress: Called in this thread while the call waits, with what :meth:`statistics` returns; ``running``
                says how many jobs run in each rank. When it raises, this call gives up waiting and raises the same.
            every: Seconds between two calls of ``progress``.

        Returns:
            The number of the pause, for :meth:`resume`.

        Raises:
            CommTimeoutError: ``missing`` names the ranks in which jobs may still run. The pause stays ordered.
            PauseEndedError: Another client cancelled or ended it before this call saw it reached.
            RequestCancelledError: Another thread called :meth:`give_up`. The pause stays ordered.
        """
        return self._pause(mode, hold=False, timeout=timeout, progress=progress, every=every)[0]

    def resume(
        self,
        pause: int | None = None,
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> None:
        """Let the ranks run again; returns when all have opened. Does nothing while they run.

        Waits for a pause that is under way, and for clients that hold it, before it ends it.

        Args:
            pause: Only this pause, as :meth:`pause` returned it. None: whichever is in force.
            timeout: Seconds.
            progress: As for :meth:`pause`: ``missing``, ``holders`` and ``behind`` say what it waits for.
            every: As for :meth:`pause`.

        Raises:
            StalePauseError: That pause is over and another is in force.
            CommTimeoutError: The pause was not reached or is held, or ``missing`` ranks have not opened.
            RequestCancelledError: Another thread called :meth:`give_up`. If the order was given, it stays.
            ProtocolViolationError: This thread holds the pause: it would wait for itself.
        """
        if self._holds.mine:
            raise ProtocolViolationError(
                "resume: this thread holds the pause; leave the block first", operation="resume"
            )
        which = arguments.number_or_none(pause, "pause", "resume")
        self._wait("resume", which, timeout=timeout, progress=progress, every=every)

    def cancel_pause(self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0) -> bool:
        """Give up a pause that has not been reached; who waits for it gets PauseEndedError.

        Returns when all ranks have opened. Meanwhile ``progress`` is called as by :meth:`resume`.

        Returns:
            False when no pause was under way.
        """
        return bool(self._wait("cancel", timeout=timeout, progress=progress, every=every))

    def give_up(self) -> int:
        """End all calls of pause, resume and cancel_pause that wait in other threads, of this handle. Action GiveUp.

        They raise RequestCancelledError. What they have ordered stays ordered. Returns how many there were.
        """
        return self._waits.give_up(None)

    @contextlib.contextmanager
    def paused(
        self,
        mode: Mode = "drain",
        *,
        resume: bool = True,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> Iterator[int]:
        """Pause, and hold the pause for the block: nobody's resume ends it before.

        Args:
            mode: As for :meth:`pause`.
            resume: Resume after the block, also when it raised.
            timeout: Seconds for the pause, and again for the resume.
            progress: As for :meth:`pause`; but when it raises, a pause that has not been reached is cancelled.
            every: As for :meth:`pause`.

        Raises:
            CommTimeoutError: As :meth:`pause`; or the resume, which waits for the others that hold the pause.
        """
        resume = arguments.flag(resume, "resume", "paused")
        number, client, _ = self._held(mode, timeout, progress, every, resume=resume)
        try:
            with self._holds.held(client, "paused"):
                yield number
        finally:
            if resume:
                self._resume_after(number, timeout)

    def clear(
        self,
        work: Callable[[], T],
        mode: Mode = "drain",
        *,
        timeout: Timeout = DEFAULT,
        progress: Progress | None = None,
        every: float = 1.0,
    ) -> T:
        """Do what must not overlap a job, and leave the group as it was: a pause that was in force stays in force.

        ``work`` runs in this thread while the pause is held, say ``queue.clear_transfer_task``, or a request to the
        ranks to give their memory back. Clears of several clients may overlap; jobs run again when the last is done.

        Args:
            work: Called once, when no rank runs a job. What it raises is raised, after the resume.
            mode: As for :meth:`pause`.
            timeout: Seconds for the pause, and again for the resume; the work has no limit.
            progress: As for :meth:`paused`.
            every: As for :meth:`pause`.

        Returns:
            What the work returned.

        Raises:
            CommTimeoutError: As :meth:`paused`. When it comes from the resume, the work was done.
            PauseEndedError: Another client cancelled the pause before this call saw it reached; nothing was done.
        """
        arguments.function(work, "work", "clear")
        number, client, begun = self._held(mode, timeout, progress, every, resume=None)
        try:
            with self._holds.held(client, "clear"):
                return work()
        finally:
            if begun:
                self._resume_after(number, timeout)

    @contextlib.contextmanager
    def held(self, pause: int | None = None) -> Iterator[None]:
        """Hold the pause that is in force for the block: nobody's resume ends it before. Never waits. Action Hold.

        Args:
            pause: Only this pause, as :meth:`pause` returned it. None: whichever is in force.

        Raises:
            NotPausedError: It is not in force, or has not been reached.
        """
        which = arguments.number_or_none(pause, "pause", "held")
        client: int = self._queue._act(_PROTOCOL, "hold", which, name="held")
        with self._holds.held(client, "held"):
            yield

    def statistics(self) -> PauseStatistics:
        """Return a snapshot. One round trip."""
        return PauseStatistics.of(self._queue._view(_PROTOCOL, name="pause.statistics"))

    @property
    def inflight(self) -> int:
        """Jobs of this rank that were admitted and have not ended, parked ones included."""
        return self._rank("inflight").inflight

    def close(self) -> None:
        """Admit nothing more. The rank leaves the group when its last job has ended. Idempotent. Action Leave."""
        if self._jobs is not None:
            self._jobs.close()

    def __enter__(self) -> PauseControl:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- helpers -------------------------------------------------------------------------------------------------

    def _pause(
        self,
        mode: Mode,
        *,
        hold: bool,
        timeout: Timeout,
        token: int = 0,
        **waiting: Any,
    ) -> tuple[int, int, bool]:
        """Return the pause's number, who holds it, and whether this call began it."""
        if mode not in MODES:
            raise ConfigError(f"pause: mode={mode!r} is none of {', '.join(MODES)}", operation="pause")
        answer: tuple[int, int, bool] = self._wait("pause", mode, hold, timeout=timeout, token=token, **waiting)
        return answer

    def _held(
        self, mode: Mode, timeout: Timeout, progress: Progress | None, every: float, *, resume: bool | None
    ) -> tuple[int, int, bool]:
        """The same, holding it. ``resume``: afterwards, where it is abandoned; None: if this call began it."""

        def undo(answer: tuple[int, int, bool]) -> None:
            self._holds.let_go(answer[1], "pause")
            if answer[2] if resume is None else resume:
                self._resume_after(answer[0], timeout)

        return self._pause(
            mode, hold=True, timeout=timeout, progress=progress, every=every, end=self.cancel_pause, undo=undo
        )

    def _resume_after(self, number: int, timeout: Timeout) -> None:
        with contextlib.suppress(StalePauseError):  # another holder has resumed, and somebody paused again
            self.resume(number, timeout=timeout)

    def _wait(
        self,
        action: str,
        *args: object,
        timeout: Timeout,
        token: int = 0,
        progress: Progress | None = None,
        every: float = 1.0,
        **ending: Any,
    ) -> Any:
        limit, seconds = timeout_seconds(timeout, action), period(progress, every, action)
        if progress is None or seconds is None:
            return self._waits.call(action, *args, limit=limit, token=token)
        return self._waits.watched(action, *args, limit=limit, progress=progress, every=seconds, **ending)

    def _rank(self, operation: str) -> RankJobs:
        if self._jobs is None:
            raise RankError(f"{operation}: this PauseControl was made without rank=True", operation=operation)
        return self._jobs
