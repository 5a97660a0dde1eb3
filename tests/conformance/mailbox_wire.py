"""Clients in memory, for the bookkeeping of a mailbox: they live, take nothing, or are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fdcomm.errors import ClosedError, CommTimeoutError, UndeliverableError
from fdcomm.mailbox.values import Piece
from fdcomm.runtime import SYSTEM, Runtime

__all__ = ("Wire", "piece")


def piece(*results: int) -> Piece:
    """Return results as they are put."""
    return Piece(results, len(results))


class Wire:
    """What is sent, and to whom. ``during`` is called in the middle of each send, without a lock: others act then."""

    def __init__(self, runtime: Runtime = SYSTEM) -> None:
        self._changed = runtime.condition()
        self.got: dict[bytes, list[int]] = {}
        self.messages = 0
        self.gone: set[bytes] = set()
        self.slow: set[bytes] = set()
        self.closed = False
        self.during: Callable[[], None] = lambda: None

    def send(self, client: bytes, pieces: Sequence[Piece], seconds: float | None) -> None:
        """Send, as the socket of a server does."""
        del seconds
        with self._changed:
            if self.closed:
                raise ClosedError("the wire was closed")
            if client in self.gone:
                raise UndeliverableError("the client is gone")
            if client in self.slow:
                raise CommTimeoutError("the client takes nothing")
            self.messages += 1
            self.got.setdefault(client, []).extend(result for piece in pieces for result in piece.message)
        self.during()
