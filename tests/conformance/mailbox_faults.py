"""Faulty cores of the mailbox: each of these must be found."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from fdcomm.core.mailbox import Batch, Entry, Mailbox

__all__ = ("CORE",)


class SendsTwice(Mailbox):
    """What was taken to be sent stays in the cache."""

    def _begin(self, entry: Entry) -> Batch:
        batch = super()._begin(entry)
        entry.cached.extend(batch)
        self.kept += len(batch)
        return batch


class LooksOnce(Mailbox):
    """Who has sent does not look again."""

    def sent(self, request: Hashable) -> Batch:
        entry = self._flying("sent", request)
        entry.flying = ()
        if entry.finished and not entry.cached:
            self._end(request, "over")
        elif self.closed:
            self._end(request, "closed")
        return ()


class SecondClient(Mailbox):
    """The last handle counts."""

    def handle(self, request: Hashable, client: Hashable) -> Batch:
        entry = self.open.get(request)
        if entry is not None and entry.client is not None and not self.closed:
            entry.client = client
            return ()
        return super().handle(request, client)


class ForgetsEnds(Mailbox):
    """A request that is over is not remembered."""

    def _end(self, request: Hashable, how: str) -> Batch:
        lost = super()._end(request, how)
        self.ended.pop(request)
        return lost


class LosesCache(Mailbox):
    """Only the batch is told to be lost."""

    def _end(self, request: Hashable, how: str) -> Batch:
        flying = self.open[request].flying
        lost = super()._end(request, how)
        return flying or lost


class NoBound(Mailbox):
    """There is always room."""

    def has_room(self, request: Hashable) -> bool:
        return True


class ClosesFlights(Mailbox):
    """A close ends requests of which a batch is being sent."""

    def close(self) -> dict[Hashable, Batch]:
        lost = super().close()
        for request in list(self.open):
            self._end(request, "closed")
        return lost


class NeverOver(Mailbox):
    """The last result does not end its request."""

    def put(self, request: Hashable, item: Any, last: bool) -> Batch:
        batch = super().put(request, item, last)
        self.open[request].finished = False
        return batch


class ExpiresFlights(Mailbox):
    """A request is given up while a batch is being sent."""

    def expire(self, request: Hashable) -> Batch:
        self._require_open("expire", request)
        return self._end(request, "expired") if request in self.open else super().expire(request)


CORE = {
    kind.__name__: kind
    for kind in (
        SendsTwice,
        LooksOnce,
        SecondClient,
        ForgetsEnds,
        LosesCache,
        NoBound,
        ClosesFlights,
        NeverOver,
        ExpiresFlights,
    )
}
