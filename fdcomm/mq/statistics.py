"""Snapshots of queues and topics. Plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("ConsumerStatistics", "ProducerStatistics", "TopicStatistics")


@dataclass(frozen=True)
class ProducerStatistics:
    """A snapshot.

    Attributes:
        sent: Messages that were put.
        acknowledged: Messages that the consumer is done with.
        dropped: Messages that a broken connection may have lost, of a handle with ``delivery="forget"``.
        unacknowledged: The rest.
        resent: Messages that were sent again.
        connections: Connections so far.
        connected: There is one now.
        full: How often a put found no room.
    """

    sent: int
    acknowledged: int
    dropped: int
    unacknowledged: int
    resent: int
    connections: int
    connected: bool
    full: int


@dataclass(frozen=True)
class ConsumerStatistics:
    """A snapshot.

    Attributes:
        received: Messages that were returned by ``get``.
        duplicates: Messages that came again, and were dropped.
        skipped: Messages that an earlier consumer was done with, and whose producer had not heard of it.
        undecodable: Messages that could not be decoded. Each raised UndecodableError once.
        malformed: What was read and is no message of ours.
        acknowledged: Acknowledgements that were sent.
        reclaimed: Payloads of producers that are gone, which nobody could ask for any more.
        producers: Producers that are known.
    """

    received: int = 0
    duplicates: int = 0
    skipped: int = 0
    undecodable: int = 0
    malformed: int = 0
    acknowledged: int = 0
    reclaimed: int = 0
    producers: int = 0


@dataclass(frozen=True)
class TopicStatistics:
    """A snapshot.

    Attributes:
        published: Messages of this publisher.
        dropped: Messages that were not published because a subscriber was full (``when_full="drop"``).
        subscribers: Those that are connected now.
        received: Messages that this subscriber got.
        missed: Messages of its publisher that it did not get, since its subscription.
        publishers: How many publishers it has met, one after the other.
        undecodable: Messages that it could not decode.
        callback_errors: Calls of its callback that raised.
    """

    published: int = 0
    dropped: int = 0
    subscribers: int = 0
    received: int = 0
    missed: int = 0
    publishers: int = 0
    undecodable: int = 0
    callback_errors: int = 0
