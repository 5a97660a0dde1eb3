"""What clients do with transfer tasks: issue and withdraw them, take results. Spec: ``spec/transfer.toml``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fdcomm.core.transfer import Transfer
from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, PeerLostError
from fdcomm.host.members import AnswerChannel, Member, Place
from fdcomm.host.refusals import ranks_in_words

__all__ = ("TransferClients", "client_of")

_T = TypeVar("_T")
_Result = tuple[int, str, "list[tuple[int, bool, bytes]]", tuple[int, ...], tuple[int, ...]]
"""Number, how it ended, what ranks reported (rank, ok, value or error), ranks that did not, ranks that may be at it."""


def client_of(member: Member) -> int:
    """Return the number of a session's client."""
    return member.producer + 1


class TransferClients(AnswerChannel):
    """The calls of clients. What ranks do is ``fdcomm.host.transfer_channel``."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core: Transfer[bytes] = Transfer(ranks)
        self._kinds: dict[str, int] = {}
        super().__init__(place, self._core, {"ranks": ranks, "capacity": self._core.capacity})

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
                task = core.issue(client_of(member), kind, payload)
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
            self._record("Issue", {"client": client_of(member), "kind": known}, {"number": task.number})
            self._readable.notify_all()
            return task.number

    def withdraw(self, session: int) -> tuple[int, ...]:
        """Withdraw; return the numbers."""
        with self._readable:
            client = client_of(self._member(session, "transfer.withdraw"))
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
            client = client_of(self._member(session, "transfer.abandon"))
            if self._core.abandon(number, client) is None:
                return False
            self._record("Abandon", {"number": number})
            self._wake_all()
            return True

    def result(self, session: int, timeout: float | None) -> _Result | None:
        """HandOut. None: there is no result within ``timeout``; what was taken before is acknowledged at once."""

        def look(client: int) -> _Result | None:
            if (found := self._hand_out(client)) is None:
                self._acknowledge(client)
            return found

        self._runtime.point("HandOut.enter")
        return self._await(session, "transfer.result", timeout, look)

    def settled(self, session: int, timeout: float | None) -> int | None:
        """Settled; return the number. None: no task settles within ``timeout`` that this client waits for."""
        self._runtime.point("Settled.enter")
        return self._await(session, "transfer.settled", timeout, self._settled)

    def news(self, session: int, timeout: float | None) -> _Result | int | None:
        """Settled or HandOut, whichever there is; what was taken before is acknowledged at once."""

        def look(client: int) -> Any:
            box = self._core.clients.get(client)
            if box is None or not box.settled:
                found = self._hand_out(client)
                if found is not None:
                    return found
            self._acknowledge(client)
            return self._settled(client)

        self._runtime.point("HandOut.enter")
        found: _Result | int | None = self._await(session, "transfer.news", timeout, look)
        return found

    def acknowledge(self, session: int) -> None:
        """Acknowledge, if there is something."""
        with self._readable:
            self._acknowledge(client_of(self._member(session, "transfer.acknowledge")))

    def outstanding(self, session: int) -> int:
        """Return how many of this client's tasks were not acknowledged."""
        with self._readable:
            return self._core.outstanding(client_of(self._member(session, "transfer.outstanding")))

    # -- inside the critical section -----------------------------------------------------------------------------

    def _await(
        self, session: int, operation: str, timeout: float | None, look: Callable[[int], _T | None]
    ) -> _T | None:
        """Wait until a look at what there is for the client shows something. None: nothing within ``timeout``."""
        with self._readable:
            client = client_of(self._member(session, operation))
            deadline = Deadline(timeout, self._runtime.monotonic)
            while (found := look(client)) is None:
                if deadline.expired():
                    return None
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            return found

    def _hand_out(self, client: int) -> _Result | None:
        task = self._core.hand_out(client)
        if task is None:
            return None
        self._record("HandOut", {"client": client}, {"number": task.number})
        reports = [(rank, True, value) for rank, value in task.values.items()]
        reports += [(rank, False, error) for rank, error in task.errors.items()]
        return task.number, task.state, sorted(reports), tuple(sorted(task.without)), tuple(sorted(task.busy))

    def _settled(self, client: int) -> int | None:
        number = self._core.settled(client)
        if number is not None:
            self._record("Settled", {"client": client, "number": number})
        return number

    def _acknowledge(self, client: int) -> None:
        if self._core.acknowledge(client):
            self._record("Acknowledge", {"client": client})


def _issue_lost(operation: str, lost: tuple[int, ...], waited_s: float) -> PeerLostError:
    return PeerLostError(
        f"{operation}: {ranks_in_words(lost)} {'is' if len(lost) == 1 else 'are'} gone, so nothing was issued; restart "
        "them and issue again",
        operation=operation,
        missing=lost,
        waited_s=waited_s,
    )
