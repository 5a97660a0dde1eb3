"""Planted faults: small mistakes in the core or in the host, each of which driving the edges must see."""

from __future__ import annotations

from typing import Any

from fdcomm.core.dispatch import Call, Dispatch, Entry, Taken
from tests.conformance.channel_faults import Change, always_lost, nothing, twice

__all__ = ("CORE", "SERVICE")


class _ReadsTwice(Dispatch[str]):
    def _next(self, rank: int) -> Entry[str] | None:
        return self.log[0] if self.log else None


class _ClearDropsStarted(Dispatch[str]):
    def _clear(self, seen: int) -> tuple[int, ...]:
        if seen < self.epoch:
            return ()
        dropped = tuple(entry.id for entry in self.log)
        self.log = []
        self.epoch += 1
        return dropped


class _EveryClearCounts(Dispatch[str]):
    def _clear(self, seen: int) -> tuple[int, ...]:
        return super()._clear(self.epoch)


class _AnyCallFirst(Dispatch[str]):
    def can_put(self, call_id: int) -> bool:
        return self.is_waiting(call_id) and not self.lost and len(self.log) < self.depth


class _PutsDespiteLoss(Dispatch[str]):
    def can_put(self, call_id: int) -> bool:
        return bool(self.waiting) and self.waiting[0].id == call_id and len(self.log) < self.depth


class _OneTooMany(Dispatch[str]):
    def can_put(self, call_id: int) -> bool:
        return bool(self.waiting) and self.waiting[0].id == call_id and not self.lost and len(self.log) <= self.depth


class _GhostCall(Dispatch[str]):
    def fence_producer(self, producer: int) -> None:
        self._require_up(producer, "FenceProducer")
        del self.prod_seen[producer]


class _JoinTakesAll(Dispatch[str]):
    def join(self, rank: int) -> None:
        super().join(rank)
        for entry in self.log:
            entry.taken.discard(rank)


class _JoinSkipsUnstarted(Dispatch[str]):
    def join(self, rank: int) -> None:
        if rank in self.lost:
            for entry in self.log:
                entry.taken.add(rank)
        super().join(rank)


class _FencedReads(Dispatch[str]):
    def get_tasks(self, rank: int, ticket: int = 0) -> Taken[str] | None:
        was_lost = rank in self.lost
        self.live.add(rank)
        try:
            return super().get_tasks(rank, ticket)
        finally:
            if was_lost:
                self.live.discard(rank)


class _ForgetsEpoch(Dispatch[str]):
    def get_tasks(self, rank: int, ticket: int = 0) -> Taken[str] | None:
        seen = self.rank_seen[rank]
        taken = super().get_tasks(rank, ticket)
        self.rank_seen[rank] = seen
        return taken


class _PutForgetsEpoch(Dispatch[str]):
    def put_tasks(self, call_id: int) -> Entry[str] | None:
        seen = dict(self.prod_seen)
        entry = super().put_tasks(call_id)
        self.prod_seen = seen
        return entry


class _TicketIgnored(Dispatch[str]):
    def get_tasks(self, rank: int, ticket: int = 0) -> Taken[str] | None:
        return super().get_tasks(rank)


class _TimeoutTooEarly(Dispatch[str]):
    def put_timeout(self, call_id: int) -> bool:
        if not self.is_waiting(call_id):
            return False
        self._withdraw(lambda call: call.id == call_id)
        return True


class _WrongLast(Dispatch[str]):
    def get_tasks(self, rank: int, ticket: int = 0) -> Taken[str] | None:
        taken = super().get_tasks(rank, ticket)
        return taken and Taken(taken.id, taken.epoch, taken.batch, rank == self.ranks - 1)


class _SwapsBatches(Dispatch[str]):
    def call_put(self, producer: int, batch: str) -> int:
        number = super().call_put(producer, batch)
        if len(self.waiting) > 1:
            first, second = self.waiting[-2:]
            self.waiting[-2:] = [
                Call(first.producer, first.id, second.batch),
                Call(second.producer, second.id, first.batch),
            ]
        return number


CORE: dict[str, type[Dispatch[str]]] = {
    fault.__name__.strip("_"): fault
    for fault in (
        _ReadsTwice,
        _ClearDropsStarted,
        _EveryClearCounts,
        _AnyCallFirst,
        _PutsDespiteLoss,
        _OneTooMany,
        _GhostCall,
        _JoinTakesAll,
        _JoinSkipsUnstarted,
        _FencedReads,
        _ForgetsEpoch,
        _PutForgetsEpoch,
        _TicketIgnored,
        _TimeoutTooEarly,
        _WrongLast,
        _SwapsBatches,
    )
}


def _without_notify(original: Any) -> Any:
    """The method tells no put call of its change."""

    def changed(self: Any, *args: Any, **named: Any) -> Any:
        quiet = _Quiet(self._writable)
        self._writable = quiet
        try:
            return original(self, *args, **named)
        finally:
            self._writable = quiet.real

    return changed


class _Quiet:
    def __init__(self, real: Any) -> None:
        self.real = real

    def notify_all(self) -> None:
        """Nobody is told."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def _exist_only(original: Any) -> Any:
    def changed(self: Any) -> None:
        tickets = list(self._words[1:])
        original(self)
        for index, ticket in enumerate(tickets):
            self._words[1 + index] = ticket

    return changed


# name -> (method of DispatchChannel, what is done to it)
SERVICE: dict[str, tuple[str, Change]] = {
    "get wakes no put call": ("get_tasks", _without_notify),
    "clear wakes no put call": ("clear_data", _without_notify),
    "a lost member wakes nobody": ("_wake_all", nothing),
    "the words are not written": ("_publish", nothing),
    "the tickets are not written": ("_publish", _exist_only),
    "events are recorded twice": ("_record", twice),
    "nothing is recorded": ("_record", nothing),
    "a closed member counts as lost": ("_remove", always_lost),
}
