"""Transfer tasks of one replica, started by all ranks or by none, and their results. Spec: ``spec/transfer.toml``."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.core.transfer import Task, Transfer
from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, PeerLostError, ProtocolViolationError
from fdcomm.host.members import AnswerChannel, Member, Place
from fdcomm.host.refusals import ranks_in_words

__all__ = ("TransferChannel",)

_Result = tuple[int, str, "list[tuple[int, bool, bytes]]", tuple[int, ...]]
"""Number, how it ended, what ranks reported (rank, ok, value or error), the ranks that did not."""

_SHOWN: Final = 64
"""A view names at most so many tasks of each state."""


class TransferChannel(AnswerChannel):
    """The host's part of the transfer protocol."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core: Transfer[bytes] = Transfer(ranks)
        self._given: dict[int, Task[bytes]] = {}
        self._kinds: dict[str, int] = {}
        super().__init__(place, self._core, {"ranks": ranks, "capacity": self._core.capacity})

    # -- clients -------------------------------------------------------------------------------------------------

    def issue(self, session: int, kind: str, payload: bytes, timeout: float | None) -> int:
        """Issue. Returns the task's number.

        Raises:
            PeerLostError: A rank is gone; nothing was issued.
            CommTimeoutError: No room came in time; nothing was issued.
        """
        core, operation = self._core, "transfer.issue"
        self._runtime.point("Issue.enter")
        with self._readable:
            member = self._member(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                if core.lost:
                    raise _issue_lost(operation, tuple(sorted(core.lost)), deadline.waited())
                task = core.issue(_client(member), kind, payload)
                if task is not None:
                    break
                if deadline.expired():
                    raise CommTimeoutError(
                        f"{operation}: {core.capacity} tasks wait to start, and none did in {deadline.waited():.1f} s; "
                        "nothing was issued",
                        operation=operation,
                        waited_s=deadline.waited(),
                    )
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            known = self._kinds.setdefault(kind, len(self._kinds) + 1)
            self._record("Issue", {"client": _client(member), "kind": known}, {"number": task.number})
            self._readable.notify_all()
            return task.number

    def withdraw(self, session: int) -> tuple[int, ...]:
        """Withdraw; return the numbers."""
        with self._readable:
            client = _client(self._member(session, "transfer.withdraw"))
            numbers = [task.number for task in self._core.withdraw(client)]
            if numbers:
                self._record("Withdraw", {"client": client}, {"numbers": numbers})
                self._wake_all()
            return tuple(numbers)

    def clear(self, session: int) -> tuple[int, ...]:
        """Clear; return the numbers, whoever issued them."""
        with self._readable:
            self._member(session, "transfer.clear")
            numbers = [task.number for task in self._core.clear()]
            if numbers:
                self._record("Clear", {}, {"numbers": numbers})
                self._wake_all()
            return tuple(numbers)

    def abandon(self, session: int, number: int) -> bool:
        """Abandon. False: the task has not started, has ended, or is another client's."""
        with self._readable:
            client = _client(self._member(session, "transfer.abandon"))
            if self._core.abandon(number, client) is None:
                return False
            self._record("Abandon", {"number": number})
            self._wake_all()
            return True

    def result(self, session: int, timeout: float | None) -> _Result | None:
        """HandOut. None: there is no result within ``timeout``; what was taken before is acknowledged at once."""
        core, operation = self._core, "transfer.result"
        self._runtime.point("HandOut.enter")
        with self._readable:
            client = _client(self._member(session, operation))
            deadline = Deadline(timeout, self._runtime.monotonic)
            while (task := core.hand_out(client)) is None:
                self._acknowledge(client)
                if deadline.expired():
                    return None
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            self._record("HandOut", {"client": client}, {"number": task.number})
            reports = [(rank, True, value) for rank, value in task.values.items()]
            reports += [(rank, False, error) for rank, error in task.errors.items()]
            return task.number, task.state, sorted(reports), tuple(sorted(task.without))

    def acknowledge(self, session: int) -> None:
        """Acknowledge, if there is something."""
        with self._readable:
            self._acknowledge(_client(self._member(session, "transfer.acknowledge")))

    def outstanding(self, session: int) -> int:
        """Return how many of this client's tasks were not acknowledged."""
        with self._readable:
            return self._core.outstanding(_client(self._member(session, "transfer.outstanding")))

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
        """ReportOk or ReportFailed. False: the task has ended meanwhile, and the report was dropped."""
        core, operation = self._core, "transfer.report"
        self._runtime.point("Report.enter")
        with self._readable:
            member = self._member(session, operation)
            if member.rank is None:
                raise ProtocolViolationError(f"{operation}: this session has started no task", operation=operation)
            if not (core.report_ok if ok else core.report_failed)(member.rank, number, said):
                return False
            self._record("ReportOk" if ok else "ReportFailed", {"rank": member.rank, "number": number})
            self._wake_all()
            return True

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
            return {
                "issued": core.issued,
                "queued": list(core.queued)[:_SHOWN],
                "waiting": len(core.queued),
                "started": [(t.number, t.kind, core.awaited(t)) for t in list(core.started.values())[:_SHOWN]],
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

    def _acknowledge(self, client: int) -> None:
        if self._core.acknowledge(client):
            self._record("Acknowledge", {"client": client})

    def _exit(self, member: Member, *, lost: bool) -> None:
        if member.rank is not None:
            self._given.pop(member.rank, None)
        if self._core.gone(_client(member)):
            self._record("Gone", {"client": _client(member)})

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
        }


def _client(member: Member) -> int:
    return member.producer + 1


def _issue_lost(operation: str, lost: tuple[int, ...], waited_s: float) -> PeerLostError:
    return PeerLostError(
        f"{operation}: {ranks_in_words(lost)} {'is' if len(lost) == 1 else 'are'} gone, so nothing was issued; restart "
        "them and issue again",
        operation=operation,
        missing=lost,
        waited_s=waited_s,
    )
