"""The host's part of the link protocol as a pure object: no lock, no I/O, no clock. Contract: ``spec/link.toml``.

One object is one session of a handle on another machine. A call is known by its number; the first one opens the
session. What :meth:`Link.arrive` returns has to be done by the caller, who says at the end how that went.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Literal, TypeAlias

from fdcomm.errors import ProtocolViolationError

__all__ = ("ENDED", "Link", "Verdict")

Verdict: TypeAlias = Literal["Begin", "Repeat", "Stale", "Refuse"]
"""What a request is: a new call, one that has come before, one that was answered long ago, one of an ended session."""

ENDED: Final = ("closed", "fenced")


class Link:
    """What the host knows of a session's calls.

    Args:
        window: Most calls that may be open at once.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self.session = "new"
        self.top = 0
        self.known: dict[int, str] = {}
        self.answers: dict[int, Any] = {}

    # -- reads -------------------------------------------------------------------------------------------------------

    def unknown(self, open_calls: Collection[int]) -> list[int]:
        """Return which of these calls have not come yet: they have to be sent again."""
        return sorted(n for n in open_calls if n > self.top or self.known.get(n) == "new")

    # -- actions -----------------------------------------------------------------------------------------------------

    def arrive(self, number: int, open_calls: Collection[int], top: int) -> Verdict:
        """Begin, Repeat, Stale, Refuse: a request has come; say which of these it is.

        After ``Begin`` the caller does the call, and then calls :meth:`finish`. After ``Repeat`` it sends the answer
        again, if ``answers`` has one.

        Args:
            number: The call's number.
            open_calls: Numbers of the handle's open calls when the request was sent.
            top: How many calls the handle had made by then.

        Raises:
            ProtocolViolationError: No handle sends such a request. Nothing was changed.
        """
        self._check(number, open_calls, top)
        if self.session in ENDED or (self.session == "new" and number != 1):
            return "Refuse"
        self._hear(open_calls, top)
        self.session = "open"
        state = self.known.get(number)
        if state == "new":
            self.known[number] = "running"
            return "Begin"
        return "Stale" if state is None else "Repeat"

    def depart(self) -> bool:
        """Depart: the handle was closed. False: the session had ended, or never begun."""
        ends = self.session == "open"
        if ends:
            self.session = "closed"
        return ends

    def finish(self, number: int, answer: Any) -> None:
        """Finish: the call has taken effect. The answer is kept until the handle has it.

        Raises:
            ProtocolViolationError: It does not run, or the session has ended: nobody gets the answer.
        """
        if self.session != "open" or self.known.get(number) != "running":
            raise ProtocolViolationError(f"finish: call {number} does not run ({self.session} session)")
        self.known[number] = "done"
        self.answers[number] = answer

    def fence(self) -> None:
        """Fence: nothing was heard of the handle for too long.

        Raises:
            ProtocolViolationError: The session is not open.
        """
        if self.session != "open":
            raise ProtocolViolationError(f"fence: the session is {self.session}")
        self.session = "fenced"

    def _hear(self, open_calls: Collection[int], top: int) -> None:
        """Forget calls of which the handle has the answers, and expect those that it has made."""
        for number in [n for n, state in self.known.items() if state != "running" and n <= top]:
            if number not in open_calls:
                del self.known[number]
                self.answers.pop(number, None)
        for number in sorted(open_calls):
            if self.top < number <= top:
                self.known[number] = "new"
        self.top = max(self.top, top)

    def _check(self, number: int, open_calls: Collection[int], top: int) -> None:
        if not 1 <= number <= top or number not in open_calls:
            raise ProtocolViolationError(f"arrive: call {number} of {top} is not among the open ones")
        if len(open_calls) > self.window:
            raise ProtocolViolationError(f"arrive: {len(open_calls)} calls are open, and {self.window} may be")
        if min(open_calls) < 1 or max(open_calls) > top:
            raise ProtocolViolationError(f"arrive: there are calls of which {top} were made that are not 1 .. {top}")
