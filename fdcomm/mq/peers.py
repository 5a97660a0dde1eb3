"""Whom a consumer has heard of: the connections of each producer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fdcomm.mq.frames import id_of
from fdcomm.mq.payloads import Payloads

__all__ = ("Peer", "Peers")


class Peer(NamedTuple):
    """A connection: whose it is, its number, and the producer's id as names of files have it."""

    producer: bytes
    connection: int
    name: str


class Peers:
    """The connections by their routing ids, and by producer and number."""

    def __init__(self) -> None:
        self._by_id: dict[bytes, Peer] = {}
        self._ids: dict[bytes, dict[int, bytes]] = {}

    def of(self, routing_id: bytes) -> Peer | None:
        """Return whose a routing id is; None: something else's."""
        found = self._by_id.get(routing_id)
        if found is None and (named := id_of(routing_id)) is not None:
            found = self._by_id[routing_id] = Peer(*named, named[0].hex())
            self._ids.setdefault(found.producer, {})[found.connection] = routing_id
        return found

    def routing_id(self, producer: bytes, connection: int) -> bytes:
        """Return the routing id of a connection."""
        return self._ids[producer][connection]

    def gone(self, payloads: Payloads, send: Callable[[bytes, bytes], bool]) -> Iterator[bytes]:
        """Yield the producers that are gone: what their connections have brought can be read by now."""
        for producer, connections in self._ids.items():
            with payloads.of_gone(producer.hex()) as gone:
                # A connection that takes no message is over.
                if gone and not any(send(routing_id, bytes(8)) for routing_id in connections.values()):
                    yield producer

    def forget(self, producer: bytes) -> None:
        """Nothing comes of this producer any more."""
        for routing_id in self._ids.pop(producer, {}).values():
            self._by_id.pop(routing_id, None)
