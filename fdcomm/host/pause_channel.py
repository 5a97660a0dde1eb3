"""Pause and resume of one replica's ranks. Spec: ``spec/pause.toml``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from fdcomm.core.pause import MODES, Mode, Pause
from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError
from fdcomm.host import pause_refusals as refusals
from fdcomm.host.members import Channel, Member, Place
from fdcomm.host.pause_calls import Calls, Looks, snapshot
from fdcomm.host.refusals import duplicate

__all__ = ("PauseChannel",)

_Wire = tuple[int, str, str]


class PauseChannel(Channel):
    """The host's part: numbers orders, collects the ranks' reports, keeps those who hold a pause.

    Ranks wait at ``_readable``, clients at ``_writable``: a thread that a report wakes for nothing delays the answer.
    """

    def __init__(self, place: Place, ranks: int) -> None:
        self._core = Pause(ranks)
        self._lost_holds = 0
        self._calls = Calls()
        self._looks = Looks()
        self._waiting: set[int] = set()  # those whose call has ordered something, and has not returned
        super().__init__(place, self._core, {"ranks": ranks})

    # -- ranks ---------------------------------------------------------------------------------------------------

    def join(self, session: int) -> _Wire:
        """Join. Returns the order in force: (number, phase, mode).

        Raises:
            DuplicateRankError: Somebody has joined for the rank, be it this session: jobs are counted in one place.
        """
        operation = "pause.join"
        with self._readable:
            member = self._member(session, operation)
            if member.rank is not None:
                raise duplicate(operation, member.rank, "this very handle")
            self._looks.forget(self._claim(member, operation))
            return self._wire()

    def leave(self, session: int) -> None:
        """Leave: the rank has no job and admits none. Its session stays, and may join again."""
        with self._readable:
            rank = self._rank(session, "pause.leave")
            self._core.leave(rank)
            self._members[session].rank = None
            self._record("Leave", {"rank": rank})
            self._wake_all()

    def next_order(
        self, session: int, number: int, quiet: bool, timeout: float | None, running: int = 0
    ) -> _Wire | None:
        """Take (noted), and Quiet if the rank says so; then wait for a newer order.

        None: none came in time, or somebody looks how many jobs are ``running``: the rank is to come again.
        """
        core, operation = self._core, "pause.next_order"
        self._runtime.point("Quiet.enter")
        with self._readable:
            self._looks.told(self._hear(session, operation, number, quiet), running)
            if self._calls.watching:
                self._writable.notify_all()  # who looks
            answered, deadline = self._looks.number, Deadline(timeout, self._runtime.monotonic)
            while core.latest.number == number:
                if answered != self._looks.number or deadline.expired():
                    return None
                self._readable.wait(deadline.remaining())
                self._rank(session, operation)
            return self._wire()

    def report(self, session: int, number: int, quiet: bool) -> None:
        """Take (noted), and Quiet if the rank says so. Never waits."""
        with self._readable:
            self._hear(session, "pause.report", number, quiet)

    # -- clients -------------------------------------------------------------------------------------------------

    def pause(
        self, session: int, mode: Mode, hold: bool, timeout: float | None, token: int = 0
    ) -> tuple[int, int, bool]:
        """CallPause, then PauseReturns or PauseEnded; with ``hold`` also Hold, in the same critical section.

        Returns:
            The number of the order that began the pause; who holds it (for :meth:`let_go`; 0 without ``hold``); and
            whether this call began it.

        Raises:
            CommTimeoutError: ``missing`` names the ranks in which jobs may still run. The pause stays ordered.
            PauseEndedError: It was cancelled, or had ended before this call looked.
            RequestCancelledError: :meth:`give_up` was called. So with :meth:`resume` and :meth:`cancel`.
        """
        core, operation = self._core, "pause"
        if mode not in MODES:
            raise ProtocolViolationError(f"pause: mode={mode!r} is none of {', '.join(MODES)}", operation=operation)
        with self._readable, self._client(session, operation, token) as client:
            begins = core.latest.phase == "run"
            core.pause(mode, client)
            began = core.began
            self._call(client, "CallPause", {"mode": mode})
            self._readable.notify_all()
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                reached = core.is_paused(began)
                if reached is None:
                    self._answer(client, "PauseEnded")
                    raise refusals.pause_ended(operation, deadline.waited())
                if reached:
                    self._answer(client, "PauseReturns")
                    if hold:
                        self._hold(client, operation)
                    return began, client if hold else 0, begins
                self._see_wanted(client, operation, deadline)
                if deadline.expired():
                    raise refusals.not_quiet(operation, core.missing(), deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)

    def resume(self, session: int, began: int | None, timeout: float | None, token: int = 0) -> None:
        """CallResume, then ResumeReturns.

        Args:
            session: The caller's session.
            began: The pause that is meant, as :meth:`pause` returned it; None means whichever is in force.
            timeout: Seconds for all of it; None waits for ever.
            token: For :meth:`give_up`.

        Raises:
            StalePauseError: That pause is over, and another is in force.
            CommTimeoutError: The pause was not reached, or is held, or ranks have not taken the order.
        """
        core, operation = self._core, "resume"
        with self._readable, self._client(session, operation, token) as client:
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                if began is not None and core.latest.phase == "pause" and core.began != began:
                    raise refusals.stale_pause(operation, began, core.began)
                number = core.resume()
                if number is not None:
                    break
                self._see_wanted(client, operation, deadline)
                if deadline.expired():
                    raise refusals.cannot_resume(operation, core.missing(), len(core.holders), deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            self._call(client, "CallResume")
            self._wake_all()
            self._await_resumed(session, client, number, deadline, operation)

    def cancel(self, session: int, timeout: float | None, token: int = 0) -> bool:
        """CancelPause, then ResumeReturns. Returns False when no pause is under way."""
        operation = "pause.cancel"
        with self._readable, self._client(session, operation, token) as client:
            number = self._core.cancel()
            if number is None:
                return False
            self._call(client, "CancelPause")
            self._wake_all()
            self._await_resumed(session, client, number, Deadline(timeout, self._runtime.monotonic), operation)
            return True

    def give_up(self, session: int, token: int | None) -> int:
        """GiveUp, of the calls of this session that wait, or of those with that token. Returns how many."""
        with self._readable:
            self._member(session, "give_up")
            found = self._calls.give_up(session, token)
            self._writable.notify_all()
            return found

    def look(self, session: int, timeout: float | None) -> dict[str, Any]:
        """Ask the ranks that are missing how many jobs run, and return a snapshot; wait for their answers a while."""
        with self._readable:
            self._looks.number += 1
            mine = self._looks.number
            self._readable.notify_all()
            deadline = Deadline(timeout, self._runtime.monotonic)
            with self._calls.watches():
                while self._core.latest.phase == "pause" and not self._looks.answered(self._core.missing(), mine):
                    if deadline.expired():
                        break
                    self._writable.wait(deadline.remaining())
                    self._member(session, "look")
            return self._seen(session)

    def hold(self, session: int, began: int | None) -> int:
        """Hold. Returns who holds, for :meth:`let_go`.

        Raises:
            NotPausedError: No pause has been reached, or another than ``began``.
        """
        operation = "pause.hold"
        with self._readable, self._client(session, operation) as client:
            if began is not None and self._core.began != began:
                raise refusals.not_paused(operation, ())
            self._hold(client, operation)
            return client

    def let_go(self, session: int, client: int) -> None:
        """LetGo."""
        operation = "pause.let_go"
        with self._readable:
            self._member(session, operation)
            if self._calls.session_of.get(client) != session or client not in self._core.holders:
                raise refusals.does_not_hold(operation)
            self._let_go(client)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            return self._seen(session)

    # -- inside the critical section -----------------------------------------------------------------------------

    def _seen(self, session: int) -> dict[str, Any]:
        self._member(session, "view")
        return {
            **snapshot(self._core, self._calls, self._looks),
            "lost_holds": self._lost_holds,
            "away": self._away(),
        }

    @contextlib.contextmanager
    def _client(self, session: int, operation: str, token: int | None = None) -> Iterator[int]:
        """Number the call: a client of the contract is one call at a time, and whoever holds the pause."""
        self._member(session, operation)
        client = self._calls.begin(session, token)
        try:
            yield client
        finally:
            if client in self._waiting and not self._closed:
                self._answer(client, "GiveUp")
            self._calls.end(client, holds=client in self._core.holders)

    def _call(self, client: int, action: str, more: dict[str, Any] | None = None) -> None:
        self._waiting.add(client)
        self._record(action, {"client": client, **(more or {})})

    def _answer(self, client: int, action: str) -> None:
        self._waiting.discard(client)
        self._core.told(client)
        self._record(action, {"client": client})
        self._writable.notify_all()  # a resume waits until all are told who wait for the pause

    def _await_resumed(self, session: int, client: int, number: int, deadline: Deadline, operation: str) -> None:
        with self._calls.watches():
            while behind := self._core.not_resumed(number):
                self._see_wanted(client, operation, deadline)
                if deadline.expired():
                    raise refusals.not_resumed(operation, behind, deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
        self._answer(client, "ResumeReturns")

    def _see_wanted(self, client: int, operation: str, deadline: Deadline) -> None:
        if client in self._calls.unwanted:
            raise refusals.given_up(operation, deadline.waited())

    def _hear(self, session: int, operation: str, number: int, quiet: bool) -> int:
        rank = self._rank(session, operation)
        heard = self._note(rank, number)
        if quiet and self._core.report_quiet(rank, number):
            heard = True
            self._record("Quiet", {"rank": rank, "order": number})
        if heard and (self._core.still or self._calls.watching):
            self._writable.notify_all()
        return rank

    def _note(self, rank: int, number: int) -> bool:
        if self._core.seen[rank] >= number:
            return False
        self._core.taken(rank, number)
        self._record("Take", {"rank": rank, "order": number})
        return True

    def _rank(self, session: int, operation: str) -> int:
        member = self._member(session, operation)
        if member.rank is None:
            raise ProtocolViolationError(f"{operation}: this session has not joined", operation=operation)
        return member.rank

    def _hold(self, client: int, operation: str) -> None:
        if not self._core.hold(client):
            raise refusals.not_paused(operation, self._core.missing())
        self._record("Hold", {"client": client})

    def _let_go(self, client: int) -> None:
        self._core.let_go(client)
        del self._calls.session_of[client]
        self._record("LetGo", {"client": client})
        self._writable.notify_all()

    def _exit(self, member: Member, *, lost: bool) -> None:
        for client in sorted(self._core.holders):
            if self._calls.session_of[client] == member.session:
                self._let_go(client)
                self._lost_holds += lost

    def _wire(self) -> _Wire:
        return self._core.latest.number, self._core.latest.phase, self._core.latest.mode

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "order": core.latest.number,
            "phase": core.latest.phase,
            "mode": core.latest.mode,
            "quiet": sorted(core.quiet),
            "seen": [[rank, core.seen[rank]] for rank in sorted(core.seen)],
            "holders": sorted(core.holders),
        }
