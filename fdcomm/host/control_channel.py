"""Requests to all ranks of one replica, and their combined answers. Spec: ``spec/control.toml``."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.core.control import Control, Request
from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, ProtocolViolationError, RequestCancelledError, StaleAnswerError
from fdcomm.host.members import AnswerChannel, Member, Place

__all__ = ("ControlChannel",)

_Answers = list["bytes | None"]
"""The answer of each rank, in rank order; None where there is none."""

_ENDS: Final = {"done": "Collect", "lost": "EndLost", "late": "EndTimeout"}


class ControlChannel(AnswerChannel):
    """The host's part of the control protocol."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core: Control[bytes] = Control(ranks)
        self._tokens: dict[int, int] = {}
        super().__init__(place, self._core, {"ranks": ranks, "capacity": self._core.capacity})

    # -- clients -------------------------------------------------------------------------------------------------

    def ask(
        self, session: int, payload: bytes, timeout: float | None, token: int = 0
    ) -> tuple[int, str, _Answers, tuple[int, ...]]:
        """Ask, then Collect, EndLost or EndTimeout. ``token`` is what :meth:`cancel` may name.

        Returns:
            ``(number, end, answers, missing)``; ``end`` is "done", "lost" or "late", ``missing`` the ranks that gave
            no answer.

        Raises:
            CommTimeoutError: There was no room for another request; nobody was asked.
            RequestCancelledError: Withdraw.
        """
        core, operation = self._core, "control.ask"
        self._runtime.point("Ask.enter")
        with self._readable:
            member = self._member(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while (request := core.ask(payload, member.producer)) is None:
                if deadline.expired():
                    raise CommTimeoutError(
                        f"{operation}: {core.capacity} requests are open, and none ended in {deadline.waited():.1f} s; "
                        "nobody was asked",
                        operation=operation,
                        waited_s=deadline.waited(),
                    )
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            number = request.number
            self._tokens = {n: known for n, known in self._tokens.items() if n in core.open} | {number: token}
            self._record("Ask", {"client": member.producer}, {"number": number})
            self._readable.notify_all()
            while not self._ends(request, late=deadline.expired()):
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            answers: _Answers = [request.answers.get(rank) for rank in range(core.ranks)]
            missing = tuple(rank for rank in range(core.ranks) if rank not in request.answers)
            return number, request.state, answers, missing

    def cancel(self, session: int, token: int | None = None) -> tuple[int, ...]:
        """Withdraw what this session has asked (with that token, if one is given) and is open; return the numbers."""
        with self._readable:
            numbers = self._withdraw(self._member(session, "control.cancel"), token)
            self._wake_all()
            return numbers

    # -- ranks ---------------------------------------------------------------------------------------------------

    def take(self, session: int, timeout: float | None) -> tuple[int, bytes] | None:
        """Take (after Join, the first time). None: nothing was asked in time."""
        core, operation = self._core, "control.take"
        self._runtime.point("Take.enter")
        with self._readable:
            rank = self._claim(self._member(session, operation), operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while (request := core.take(rank)) is None:
                if deadline.expired():
                    return None
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            self._record("Take", {"rank": rank}, {"number": request.number})
            return request.number, request.payload

    def answer(self, session: int, number: int, answer: bytes) -> None:
        """Answer, or RefuseLate.

        Raises:
            StaleAnswerError: The request has ended meanwhile; the answer was dropped.
        """
        operation = "control.answer"
        self._runtime.point("Answer.enter")
        with self._readable:
            member = self._member(session, operation)
            if member.rank is None:
                raise ProtocolViolationError(f"{operation}: this session has taken no request", operation=operation)
            if not self._core.answer(member.rank, number, answer):
                self._record("RefuseLate", {"rank": member.rank, "number": number})
                raise StaleAnswerError(
                    f"{operation}: request {number} has ended; nobody waits for the answer of rank {member.rank}",
                    operation=operation,
                    request=number,
                )
            self._record("Answer", {"rank": member.rank, "number": number})
            self._readable.notify_all()

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "view")
            core = self._core
            return {
                "asked": core.asked,
                "open": [(r.number, sorted(r.answers), core.awaited(r)) for r in core.open.values()],
                "doing": list(core.doing),
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _ends(self, request: Request[bytes], *, late: bool) -> bool:
        """End the request if it is due. True: it has ended."""
        core, number = self._core, request.number
        if request.state == "withdrawn":
            raise RequestCancelledError(
                f"control.ask: request {number} was cancelled through its own handle; a rank that has taken it may "
                "still do it",
                operation="control.ask",
                request=number,
            )
        ended = core.collect(number) or core.end_lost(number) or (core.end_timeout(number) if late else None)
        if ended is None:
            return False
        self._record(_ENDS[ended.state], {"number": number})
        self._writable.notify_all()
        return True

    def _withdraw(self, member: Member, token: int | None = None) -> tuple[int, ...]:
        mine = [
            request.number
            for request in self._core.open.values()
            if request.client == member.producer and token in (None, self._tokens[request.number])
        ]
        for number in mine:
            self._core.withdraw(number)
            self._record("Withdraw", {"number": number})
        return tuple(mine)

    def _exit(self, member: Member, *, lost: bool) -> None:
        self._withdraw(member)

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "asked": core.asked,
            "open": [[r.number, sorted(r.answers), sorted(r.without)] for r in core.open.values()],
            "served": list(core.served),
            "doing": list(core.doing),
            "lost": sorted(core.lost),
        }
