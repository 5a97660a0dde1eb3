"""Transfer tasks of one replica, started by all ranks or by none, and their results. Spec: ``spec/transfer.toml``."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.core.transfer_state import Task
from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError
from fdcomm.host.members import Member, Place
from fdcomm.host.transfer_clients import TransferClients, client_of

__all__ = ("TransferChannel",)

_SHOWN: Final = 64
"""A view names at most so many tasks of each state."""


class TransferChannel(TransferClients):
    """The host's part of the transfer protocol: what ranks do, beside what clients do."""

    def __init__(self, place: Place, ranks: int) -> None:
        super().__init__(place, ranks)
        self._given: dict[int, Task[bytes]] = {}

    # -- ranks ---------------------------------------------------------------------------------------------------

    def next_task(self, session: int, timeout: float | None) -> int:
        """Wait until the rank may admit a job for a task (after Join, the first time); 0: not within ``timeout``."""
        core, operation = self._core, "transfer.next"
        with self._readable:
            self._rank(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while not (number := core.offer()):
                if deadline.expired():
                    return 0
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            return number

    def accept(self, session: int, timeout: float | None) -> tuple[int, str, bytes] | None:
        """Accept, then Start or BackOff; or Return. The rank has admitted a job; None: it has no task for it.

        Waits for the other ranks, up to ``timeout``; not for one that refuses.
        """
        core, operation = self._core, "transfer.accept"
        self._runtime.point("Accept.enter")
        with self._readable:
            rank = self._rank(session, operation)
            if core.return_(rank):
                self._record("Return", {"rank": rank})
                self._wake_all()
                return None
            if not core.accept(rank):
                return None
            self._record("Accept", {"rank": rank})
            deadline = Deadline(timeout, self._runtime.monotonic)
            if (task := core.start()) is not None:
                self._given.update(dict.fromkeys(range(core.ranks), task))
                self._record("Start", {}, {"number": task.number})
            self._wake_all()
            while (given := self._given.pop(rank, None)) is None:
                if core.back_off(rank, late=deadline.expired()):
                    self._record("BackOff", {"rank": rank})
                    self._wake_all()
                    return None
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            return given.number, given.kind, given.payload

    def refuse(self, session: int) -> None:
        """Refuse, unless the rank has refused already."""
        with self._readable:
            rank = self._rank(session, "transfer.refuse")
            if self._core.votes[rank] == "no":
                return
            self._core.refuse(rank)
            self._record("Refuse", {"rank": rank})
            self._wake_all()

    def report(self, session: int, number: int, ok: bool, said: bytes) -> bool:
        """ReportOk or ReportFailed of a handler that has ended. False: the task has ended meanwhile; Settle."""
        core, operation = self._core, "transfer.report"
        self._runtime.point("Report.enter")
        with self._readable:
            rank = self._starter(session, operation)
            counted = (core.report_ok if ok else core.report_failed)(rank, number, said)
            if counted:
                self._record("ReportOk" if ok else "ReportFailed", {"rank": rank, "number": number})
                self._wake_all()
            else:
                self._settle(rank, number)
            return counted

    def overdue(self, session: int, number: int, said: bytes) -> bool:
        """Overdue: the handler runs on. False: the task has ended meanwhile. Either way :meth:`settle` comes later."""
        operation = "transfer.overdue"
        self._runtime.point("Overdue.enter")
        with self._readable:
            rank = self._starter(session, operation)
            counted = self._core.overdue(rank, number, said)
            if counted:
                self._record("Overdue", {"rank": rank, "number": number})
                self._wake_all()
            return counted

    def settle(self, session: int, number: int) -> None:
        """Settle: the handler has ended of an overdue task, or of one that has ended without the rank's report."""
        self._runtime.point("Settle.enter")
        with self._readable:
            self._settle(self._starter(session, "transfer.settle"), number)

    def leave(self, session: int) -> None:
        """Leave: the rank's loop is closed. The session goes on. Does nothing where it is not live here."""
        with self._readable:
            member = self._member(session, "transfer.leave")
            if member.rank is None:
                return
            rank, member.rank = member.rank, None
            self._given.pop(rank, None)
            self._core.leave(rank)
            self._record("Leave", {"rank": rank})
            self._wake_all()

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "view")
            core = self._core
            unsettled = [task for task in core.busy.values() if task.state != "started"]
            return {
                "issued": core.issued,
                "queued": list(core.queued)[:_SHOWN],
                "waiting": len(core.queued),
                "started": [(t.number, t.kind, core.awaited(t)) for t in list(core.started.values())[:_SHOWN]],
                "unsettled": [(t.number, tuple(sorted(t.busy))) for t in unsettled[:_SHOWN]],
                "votes": list(core.votes),
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": self._away(),
                "results": sum(len(box.results) for box in core.clients.values()),
                "in_hand": sum(box.hand is not None for box in core.clients.values()),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _rank(self, session: int, operation: str) -> int:
        member = self._member(session, operation)
        joins = member.rank is None
        rank = self._claim(member, operation)
        if joins:
            self._wake_all()  # the others may have waited for it
        return rank

    def _starter(self, session: int, operation: str) -> int:
        """Return the rank whose loop the session has."""
        member = self._member(session, operation)
        if member.rank is None:
            raise ProtocolViolationError(f"{operation}: this session has started no task", operation=operation)
        return member.rank

    def _settle(self, rank: int, number: int) -> None:
        if self._core.settle(rank, number):
            self._record("Settle", {"rank": rank, "number": number})
            self._wake_all()

    def _exit(self, member: Member, *, lost: bool) -> None:
        if member.rank is not None:
            self._given.pop(member.rank, None)
        if self._core.gone(client_of(member)):
            self._record("Gone", {"client": client_of(member)})

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "issued": core.issued,
            "queued": list(core.queued),
            "started": [
                [t.number, sorted(t.values), sorted(t.errors), sorted(t.without)] for t in core.started.values()
            ],
            "votes": list(core.votes),
            "results": [
                [client, [[t.number, t.state] for t in box.results]] for client, box in sorted(core.clients.items())
            ],
            "lost": sorted(core.lost),
            "busy": [[t.number, sorted(t.busy)] for t in core.busy.values()],
            "held": [[client, sorted(box.held)] for client, box in sorted(core.clients.items())],
        }
