"""Scenarios of the mailbox: the published steps, and ours with clients in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fdcomm.mailbox.results import Results
from fdcomm.mailbox.values import Undelivered
from tests.conformance.mailbox_wire import Wire, piece
from tests.races.one_process_race import OneProcessRace, name_of

__all__ = ("MailboxOurs", "MailboxRace", "SocketRace", "name_of")


class MailboxOurs:
    """The shipping bookkeeping of a server; time goes on when ``now`` does."""

    def __init__(self) -> None:
        self.now = 0.0
        self.wire = Wire()
        self.undelivered: list[Undelivered] = []
        self.results = Results(self.wire.send, capacity=10, ttl_s=5.0, undelivered=self.undelivered.append)
        self.results._clock = lambda: self.now

    def put(self, number: int, *, last: bool = False) -> str:
        """Put a result; return the name of its error."""
        return name_of(lambda: self.results.put("r", piece(number), last, 0.0))

    def handle(self, client: bytes = b"a") -> str:
        """A client asks; return the name of the error."""
        return name_of(lambda: self.results.handle("r", client, 0.0))

    def got(self) -> dict[bytes, list[int]]:
        """Return what each client has got."""
        return self.wire.got


@dataclass(frozen=True)
class MailboxRace(OneProcessRace):
    """A race of the bookkeeping: one process, one order of steps. ``shipped`` gets nothing."""

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return self.ours(MailboxOurs())


@dataclass(frozen=True)
class SocketRace(MailboxRace):
    """A race of sockets: plain ones of ZeroMQ as they were used, and ours. Neither gets anything."""

    ours: Callable[[], str]  # type: ignore[assignment]

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return self.ours()
