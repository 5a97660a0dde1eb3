"""PauseControl: stop and resume the jobs of all ranks. Protocol: ``spec/pause.toml``, docs/protocols/pause.md."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from fdcomm.core.pause import MODES, Mode
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, ProtocolViolationError, RankError, StalePauseError
from fdcomm.handle import Handle
from fdcomm.jobs import Job, RankJobs

__all__ = ("PauseControl", "PauseStatistics")

_PROTOCOL: Final = "pause"


@dataclass(frozen=True)
class PauseStatistics:
    """A snapshot of a group's pause.

    Attributes:
        phase: "run" or "pause": what the latest order says.
        mode: Of the present pause, or the last one.
        paused: The pause has been reached: no rank runs a job.
        missing: Ranks in which jobs may still run.
        holders: Clients that hold the pause.
        lost_holds: Holds that ended because their client's process was gone.
        live: Ranks that have joined.
        lost: Ranks whose process is gone.
    """

    phase: str
    mode: str
    paused: bool
    missing: tuple[int, ...]
    holders: int
    lost_holds: int
    live: tuple[int, ...]
    lost: tuple[int, ...]


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
            RankError: ``rank=True`` and the handle has no rank.
            DuplicateRankError: Another live process has joined for this rank.
        """
        self._queue = queue
        self._jobs = RankJobs(queue) if rank else None
        self._holding = threading.local()

    # -- jobs ----------------------------------------------------------------------------------------------------

    def admit(self, *, timeout: Timeout = DEFAULT) -> Job:
        """Admit a job of this rank: from here to its end no pause returns. No round trip. Action Admit.

        Waits while the group is paused, up to ``timeout`` seconds (0: does not wait).

        Raises:
            CommTimeoutError: The group was paused all the time.
            HostLostError: The host is gone, so no job may start; also FencedError.
            RankError: This object has no rank.
            ClosedError: It is closed.
        """
        jobs = self._jobs or self._rank("admit")
        return jobs.try_admit() or jobs.admit(timeout_seconds(timeout, "admit"))

    # -- clients -------------------------------------------------------------------------------------------------

    def pause(self, mode: Mode = "drain", *, timeout: Timeout = DEFAULT) -> int:
        """Stop the group. When this returns, no rank runs a job, and none can start one before a resume.

        Idempotent, from any process: a pause that is in force is joined, one that is under way is made sharper if
        ``mode`` is. What must not overlap a job or another client's resume belongs into :meth:`paused`.

        Args:
            mode: ``drain``: admitted jobs run to their end. ``abort``: they are told to end (``Job.cancelled``,
                ``Job.checkpoint``). ``keep``: those that reach a checkpoint wait there for the resume.
            timeout: Seconds.

        Returns:
            The number of the pause, for :meth:`resume`.

        Raises:
            CommTimeoutError: ``missing`` names the ranks in which jobs still run. The pause stays ordered.
            PauseEndedError: Another client cancelled or ended it before this call saw it reached.
        """
        return self._pause(mode, hold=False, timeout=timeout)[0]

    def resume(self, pause: int | None = None, *, timeout: Timeout = DEFAULT) -> None:
        """Let the ranks run again; returns when all have opened. Does nothing while they run.

        Waits for a pause that is under way, and for clients that hold it, before it ends it.

        Args:
            pause: Only this pause, as :meth:`pause` returned it. None: whichever is in force.
            timeout: Seconds.

        Raises:
            StalePauseError: That pause is over and another is in force.
            CommTimeoutError: The pause was not reached or is held, or ``missing`` ranks have not opened.
            ProtocolViolationError: This thread holds the pause: it would wait for itself.
        """
        if getattr(self._holding, "count", 0):
            raise ProtocolViolationError(
                "resume: this thread holds the pause; leave the block first", operation="resume"
            )
        limit = timeout_seconds(timeout, "resume")
        self._queue._act(_PROTOCOL, "resume", pause, limit, timeout=limit, name="resume")

    def cancel_pause(self, *, timeout: Timeout = DEFAULT) -> bool:
        """Give up a pause that has not been reached; who waits for it gets PauseEndedError.

        Returns:
            False when no pause was under way.
        """
        limit = timeout_seconds(timeout, "cancel_pause")
        return bool(self._queue._act(_PROTOCOL, "cancel", limit, timeout=limit, name="cancel_pause"))

    @contextlib.contextmanager
    def paused(self, mode: Mode = "drain", *, resume: bool = True, timeout: Timeout = DEFAULT) -> Iterator[int]:
        """Pause, and hold the pause for the block: nobody's resume ends it before.

        Args:
            mode: As for :meth:`pause`.
            resume: Resume after the block, also when it raised.
            timeout: Seconds for the pause, and again for the resume.

        Raises:
            CommTimeoutError: As :meth:`pause`; or the resume, which waits for the others that hold the pause.
        """
        number, client = self._pause(mode, hold=True, timeout=timeout)
        try:
            with self._hold(client, "paused"):
                yield number
        finally:
            if resume:
                with contextlib.suppress(StalePauseError):  # another holder has resumed, and somebody paused again
                    self.resume(number, timeout=timeout)

    @contextlib.contextmanager
    def held(self, pause: int | None = None) -> Iterator[None]:
        """Hold the pause that is in force for the block: nobody's resume ends it before. Never waits. Action Hold.

        Args:
            pause: Only this pause, as :meth:`pause` returned it. None: whichever is in force.

        Raises:
            NotPausedError: It is not in force, or has not been reached.
        """
        client: int = self._queue._act(_PROTOCOL, "hold", pause, name="held")
        with self._hold(client, "held"):
            yield

    def statistics(self) -> PauseStatistics:
        """Return a snapshot. One round trip."""
        view = self._queue._view(_PROTOCOL, name="pause.statistics")
        return PauseStatistics(
            phase=view["phase"],
            mode=view["mode"],
            paused=view["still"],
            missing=tuple(view["missing"]),
            holders=view["holders"],
            lost_holds=view["lost_holds"],
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
        )

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

    @contextlib.contextmanager
    def _hold(self, client: int, name: str) -> Iterator[None]:
        self._holding.count = getattr(self._holding, "count", 0) + 1
        try:
            yield
        finally:
            self._holding.count -= 1
            self._let_go(client, name)

    def _let_go(self, client: int, name: str) -> None:
        self._queue._act(_PROTOCOL, "let_go", client, name=name)

    def _pause(self, mode: Mode, *, hold: bool, timeout: Timeout) -> tuple[int, int]:
        if mode not in MODES:
            raise ConfigError(f"pause: mode={mode!r} is none of {', '.join(MODES)}", operation="pause")
        limit = timeout_seconds(timeout, "pause")
        answer: tuple[int, int] = self._queue._act(_PROTOCOL, "pause", mode, hold, limit, timeout=limit, name="pause")
        return answer

    def _rank(self, operation: str) -> RankJobs:
        if self._jobs is None:
            raise RankError(f"{operation}: this PauseControl was made without rank=True", operation=operation)
        return self._jobs
