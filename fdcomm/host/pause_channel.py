"""Pause and resume of one replica's ranks. Spec: ``spec/pause.toml``."""

from __future__ import annotations

from typing import Any

from fdcomm.core.pause import MODES, Mode, Pause
from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError
from fdcomm.host import pause_refusals as refusals
from fdcomm.host.members import Channel, Member, Place

__all__ = ("PauseChannel",)

_Wire = tuple[int, str, str]


class PauseChannel(Channel):
    """The host's part: numbers orders, collects the ranks' reports, keeps those who hold a pause."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core = Pause(ranks)
        self._lost_holds = 0
        super().__init__(place, self._core, {"ranks": ranks})

    # -- ranks ---------------------------------------------------------------------------------------------------

    def join(self, session: int) -> _Wire:
        """Join. Returns the order in force: (number, phase, mode)."""
        with self._readable:
            self._claim(self._member(session, "pause.join"), "pause.join")
            return self._wire()

    def next_order(self, session: int, number: int, quiet: bool, timeout: float | None) -> _Wire | None:
        """Take (noted), and Quiet if the rank says so; then wait for a newer order. None: none came in time."""
        core, operation = self._core, "pause.next_order"
        self._runtime.point("Quiet.enter")
        with self._readable:
            rank = self._rank(session, operation)
            self._note(rank, number)
            if quiet and core.report_quiet(rank, number):
                self._record("Quiet", {"rank": rank, "order": number})
                self._wake_all()
            deadline = Deadline(timeout, self._runtime.monotonic)
            while core.latest.number == number:
                if deadline.expired():
                    return None
                self._readable.wait(deadline.remaining())
                self._rank(session, operation)
            return self._wire()

    def report(self, session: int, number: int, quiet: bool) -> None:
        """Take (noted), and Quiet if the rank says so. Never waits."""
        operation = "pause.report"
        with self._readable:
            rank = self._rank(session, operation)
            self._note(rank, number)
            if quiet and self._core.report_quiet(rank, number):
                self._record("Quiet", {"rank": rank, "order": number})
                self._wake_all()

    # -- clients -------------------------------------------------------------------------------------------------

    def pause(self, session: int, mode: Mode, hold: bool, timeout: float | None) -> int:
        """CallPause, then PauseReturns or PauseEnded; with ``hold`` also Hold, in the same critical section.

        Returns:
            The number of the order that began the pause.

        Raises:
            CommTimeoutError: ``missing`` names the ranks in which jobs still run. The pause stays ordered.
            PauseEndedError: It was cancelled, or had ended before this call looked.
        """
        core, operation = self._core, "pause"
        if mode not in MODES:
            raise ProtocolViolationError(f"pause: mode={mode!r} is none of {', '.join(MODES)}", operation=operation)
        with self._readable:
            member = self._member(session, operation)
            ordered = core.pause(mode)
            began = core.began
            self._record("CallPause", {"client": member.producer, "mode": mode}, {"ordered": ordered})
            self._readable.notify_all()
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                reached = core.is_paused(began)
                if reached is None:
                    self._record("PauseEnded", {"client": member.producer})
                    raise refusals.pause_ended(operation, deadline.waited())
                if reached:
                    self._record("PauseReturns", {"client": member.producer})
                    if hold:
                        self._hold(member, operation)
                    return began
                if deadline.expired():
                    self._record("PauseTimeout", {"client": member.producer})
                    raise refusals.not_quiet(operation, core.missing(), deadline.waited())
                self._readable.wait(deadline.remaining())
                self._member(session, operation)

    def resume(self, session: int, began: int | None, timeout: float | None) -> None:
        """CallResume, then ResumeReturns.

        Args:
            session: The caller's session.
            began: The pause that is meant, as :meth:`pause` returned it; None means whichever is in force.
            timeout: Seconds for all of it; None waits for ever.

        Raises:
            StalePauseError: That pause is over, and another is in force.
            CommTimeoutError: The pause was not reached, or is held, or ranks have not taken the order.
        """
        core, operation = self._core, "resume"
        with self._readable:
            member = self._member(session, operation)
            if member.producer in core.holders:
                raise refusals.holds_itself(operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                if began is not None and core.latest.phase == "pause" and core.began != began:
                    raise refusals.stale_pause(operation, began, core.began)
                paused = core.latest.phase == "pause"
                number = core.resume()
                if number is not None:
                    break
                if deadline.expired():
                    raise refusals.cannot_resume(operation, core.missing(), len(core.holders), deadline.waited())
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            self._record("CallResume", {"client": member.producer}, {"ordered": paused})
            self._readable.notify_all()
            self._await_resumed(member, number, deadline, operation)

    def cancel(self, session: int, timeout: float | None) -> bool:
        """CancelPause, then ResumeReturns. Returns False when no pause is under way."""
        core, operation = self._core, "pause.cancel"
        with self._readable:
            member = self._member(session, operation)
            number = core.cancel()
            if number is None:
                return False
            self._record("CancelPause", {"client": member.producer})
            self._readable.notify_all()
            self._await_resumed(member, number, Deadline(timeout, self._runtime.monotonic), operation)
            return True

    def hold(self, session: int, began: int | None) -> None:
        """Hold.

        Raises:
            NotPausedError: No pause has been reached, or another than ``began``.
        """
        core, operation = self._core, "pause.hold"
        with self._readable:
            member = self._member(session, operation)
            if began is not None and core.began != began:
                raise refusals.not_paused(operation, ())
            self._hold(member, operation)

    def let_go(self, session: int) -> None:
        """LetGo."""
        with self._readable:
            self._let_go(self._member(session, "pause.let_go"))

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "view")
            core = self._core
            return {
                "order": core.latest.number,
                "phase": core.latest.phase,
                "mode": core.latest.mode,
                "still": core.still,
                "missing": core.missing(),
                "holders": len(core.holders),
                "lost_holds": self._lost_holds,
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _await_resumed(self, member: Member, number: int, deadline: Deadline, operation: str) -> None:
        while True:
            behind = self._core.not_resumed(number)
            if not behind:
                self._record("ResumeReturns", {"client": member.producer})
                return
            if deadline.expired():
                self._record("ResumeTimeout", {"client": member.producer})
                raise refusals.not_resumed(operation, behind, deadline.waited())
            self._readable.wait(deadline.remaining())
            self._member(member.session, operation)

    def _note(self, rank: int, number: int) -> None:
        if self._core.seen[rank] < number:
            self._core.taken(rank, number)
            self._record("Take", {"rank": rank, "order": number})
            self._wake_all()

    def _rank(self, session: int, operation: str) -> int:
        member = self._member(session, operation)
        if member.rank is None:
            raise ProtocolViolationError(f"{operation}: this session has not joined", operation=operation)
        return member.rank

    def _hold(self, member: Member, operation: str) -> None:
        if member.producer in self._core.holders:
            raise refusals.holds_itself(operation)
        if not self._core.hold(member.producer):
            raise refusals.not_paused(operation, self._core.missing())
        self._record("Hold", {"client": member.producer})

    def _let_go(self, member: Member) -> bool:
        if not self._core.let_go(member.producer):
            return False
        self._record("LetGo", {"client": member.producer})
        self._wake_all()
        return True

    def _exit(self, member: Member, *, lost: bool) -> None:
        if self._let_go(member) and lost:
            self._lost_holds += 1

    def _wire(self) -> _Wire:
        latest = self._core.latest
        return latest.number, latest.phase, latest.mode

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
