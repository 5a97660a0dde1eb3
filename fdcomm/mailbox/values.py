"""What a mailbox tells about its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ("MailboxStatistics", "Piece", "Undelivered")


class Piece(NamedTuple):
    """Results that were put with one call, encoded, and how many they are."""

    message: Any
    results: int


class Undelivered(NamedTuple):
    """Results that reach nobody. ``why``: lost (the client is gone), late, expired, closed."""

    request: str
    results: int
    why: str


@dataclass(frozen=True)
class MailboxStatistics:
    """A snapshot. ``open``: requests that have not ended. ``kept``: calls whose results wait. Others count results,
    handles that were refused, and messages that could not be decoded."""

    open: int
    kept: int
    sent: int
    undelivered: int
    refused_handles: int
    undecodable: int
