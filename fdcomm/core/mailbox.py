"""The mailbox protocol as a pure object: no lock, no I/O, no clock. Contract: ``spec/mailbox.toml``.

A request is known by its id, a client by the name that ZeroMQ's router gives it. What is returned to be sent has to be
sent by the caller, who then says how that went (:meth:`Mailbox.sent`, :meth:`Mailbox.lost`, :meth:`Mailbox.late`);
until then nobody else is given anything of the same request to send.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, TypeAlias

from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Batch", "Entry", "Mailbox")

Batch: TypeAlias = "tuple[Any, ...]"


class Entry:
    """What is known of one open request."""

    __slots__ = ("cached", "client", "finished", "flying")

    def __init__(self) -> None:
        self.client: Hashable | None = None
        self.finished = False
        self.cached: list[Any] = []
        self.flying: Batch = ()


class Mailbox:
    """Requests, who asked for them, and the results that wait.

    Args:
        capacity: Most results that are kept, of all requests together. One that can be sent at once is not kept.
        remember: Of so many ended requests it is remembered how they ended; calls about them are refused.
    """

    def __init__(self, capacity: int, remember: int = 65_536) -> None:
        if capacity < 0 or remember < 0:
            raise ConfigError(f"capacity={capacity} and remember={remember} must be at least 0")
        self.capacity = capacity
        self.remember = remember
        self.open: dict[Hashable, Entry] = {}
        self.ended: OrderedDict[Hashable, str] = OrderedDict()
        self.kept = 0
        self.closed = False

    # -- reads -------------------------------------------------------------------------------------------------------

    def stage(self, request: Hashable) -> str:
        """Return ``open``, or how the request ended: over, lost, late, expired, closed."""
        if request in self.open:
            return "open"
        return self.ended.get(request, "closed" if self.closed else "open")

    def owner(self, request: Hashable) -> Hashable | None:
        """Return the client of an open request."""
        entry = self.open.get(request)
        return None if entry is None else entry.client

    def has_room(self, request: Hashable) -> bool:
        """Return True if a result of the request can be sent at once, or kept."""
        entry = self.open.get(request)
        at_once = entry is not None and entry.client is not None and not entry.flying
        return at_once or self.kept < self.capacity

    # -- actions -----------------------------------------------------------------------------------------------------

    def handle(self, request: Hashable, client: Hashable) -> Batch:
        """Handle: a client asks for the results of a request. Return what is to be sent, perhaps nothing.

        Raises:
            ProtocolViolationError: The request has a client, or has ended. Nothing was changed.
        """
        self._require_open("handle", request)
        entry = self.open.get(request)
        if entry is not None and entry.client is not None:
            raise ProtocolViolationError(f"handle: request {request!r} has a client")
        entry = self._entry(request)
        entry.client = client
        return self._begin(entry)

    def put(self, request: Hashable, item: Any, last: bool) -> Batch:
        """Put: the next result of a request. Return what is to be sent, perhaps nothing.

        Raises:
            ProtocolViolationError: The request has ended, had its last result, or there is no room.
        """
        self._require_open("put", request)
        if not self.has_room(request):
            raise ProtocolViolationError(f"put: {self.kept} results are kept, and there is no room for more")
        entry = self.open.get(request)
        if entry is not None and entry.finished:
            raise ProtocolViolationError(f"put: request {request!r} had its last result")
        entry = self._entry(request)
        entry.cached.append(item)
        self.kept += 1
        entry.finished = last
        return self._begin(entry)

    def sent(self, request: Hashable) -> Batch:
        """Sent: the socket has taken the batch. Return what is to be sent next, perhaps nothing."""
        entry = self._flying("sent", request)
        entry.flying = ()
        if entry.finished and not entry.cached:
            self._end(request, "over")
            return ()
        if self.closed:
            self._end(request, "closed")
            return ()
        return self._begin(entry)

    def lost(self, request: Hashable) -> Batch:
        """Lost: the socket knows no such client. Return the results that are lost."""
        self._flying("lost", request)
        return self._end(request, "lost")

    def late(self, request: Hashable) -> Batch:
        """Late: the client took nothing for too long, or the socket was closed. Return the results that are lost."""
        self._flying("late", request)
        return self._end(request, "late")

    def expire(self, request: Hashable) -> Batch:
        """Expire: nothing has happened for too long. Return the results that are lost.

        Raises:
            ProtocolViolationError: The request is not open, a batch of it is being sent, or the mailbox is closed.
        """
        self._require_open("expire", request)
        entry = self.open.get(request)
        if entry is None or entry.flying:
            raise ProtocolViolationError(f"expire: request {request!r} is not idle")
        return self._end(request, "expired")

    def close(self) -> dict[Hashable, Batch]:
        """Close: nothing is accepted any more. Return the results that are lost, of each request that has some.

        Batches that are being sent may still arrive.

        Raises:
            ProtocolViolationError: It was closed before.
        """
        if self.closed:
            raise ProtocolViolationError("close: the mailbox was closed before")
        self.closed = True
        lost: dict[Hashable, Batch] = {}
        for request, entry in list(self.open.items()):
            dropped = tuple(entry.cached)
            entry.cached.clear()
            if not entry.flying:
                self._end(request, "closed")
            elif dropped:
                entry.finished = False  # its last result may be among the lost: then it is not over with this batch
            if dropped:
                lost[request] = dropped
        self.kept = 0
        return lost

    # -- within ------------------------------------------------------------------------------------------------------

    def _require_open(self, operation: str, request: Hashable) -> None:
        if self.closed or request in self.ended:
            raise ProtocolViolationError(f"{operation}: request {request!r} has ended ({self.stage(request)})")

    def _entry(self, request: Hashable) -> Entry:
        entry = self.open.get(request)
        if entry is None:
            entry = self.open[request] = Entry()
        return entry

    def _flying(self, operation: str, request: Hashable) -> Entry:
        entry = self.open.get(request)
        if entry is None or not entry.flying:
            raise ProtocolViolationError(f"{operation}: nothing of request {request!r} is being sent")
        return entry

    def _begin(self, entry: Entry) -> Batch:
        if entry.client is None or entry.flying or not entry.cached:
            return ()
        entry.flying = tuple(entry.cached)
        self.kept -= len(entry.cached)
        entry.cached.clear()
        return entry.flying

    def _end(self, request: Hashable, how: str) -> Batch:
        entry = self.open.pop(request)
        lost = (*entry.flying, *entry.cached)
        self.kept -= len(entry.cached)
        self.ended[request] = how
        while len(self.ended) > self.remember:
            self.ended.popitem(last=False)
        return lost
