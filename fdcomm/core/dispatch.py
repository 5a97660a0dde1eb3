"""The dispatch protocol as a pure object: no lock, no I/O, no clock.

One method per action of ``spec/dispatch.toml`` (``tla/dispatch/Dispatch.tla``); the host calls each inside one
critical section. A method whose guard does not hold changes nothing: it returns None where the caller may wait for
the guard, and raises a typed error where waiting cannot help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fdcomm.core.members import Members
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Call", "Dispatch", "Entry", "Taken")

B = TypeVar("B")


@dataclass(slots=True)
class Entry(Generic[B]):
    """A retained batch. Invariant: ``taken`` is never all ranks (it would have been pruned)."""

    id: int
    epoch: int
    batch: B
    taken: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Call(Generic[B]):
    """A put call that waits for its turn."""

    producer: int
    id: int
    batch: B


@dataclass(frozen=True, slots=True)
class Taken(Generic[B]):
    """What one get took: the batch, its id and epoch, and whether this was the last rank to take it."""

    id: int
    epoch: int
    batch: B
    all_read: bool


class Dispatch(Members, Generic[B]):
    """State of one dispatch channel: ``ranks`` readers, any number of producers, at most ``depth`` batches.

    A rank is ``away`` (nobody reads for it), ``live`` or ``lost`` (fenced). The spec's ``dead`` is not visible here:
    the host cannot tell it from ``live`` until it fences.
    """

    def __init__(self, ranks: int, depth: int = 1) -> None:
        if ranks < 1:
            raise ConfigError(f"num_client={ranks} must be at least 1")
        if depth < 1:
            raise ConfigError(f"depth={depth} must be at least 1")
        super().__init__(ranks)
        self.depth = depth
        self.calls = 0
        self.epoch = 0
        # Invariant WaitingInOrder: ids increase, and are larger than every id in the log.
        self.waiting: list[Call[B]] = []
        # Invariants Bounded, InStep: at most `depth` entries; an entry goes only when all have taken it, or by a
        # clear while nobody has.
        self.log: list[Entry[B]] = []
        self.rank_seen = [0] * ranks
        self.prod_seen: dict[int, int] = {}

    # -- reads ---------------------------------------------------------------------------------------------------

    def exist_tasks(self) -> bool:
        """Return True while some rank has a batch to take (the spec's ``exist``)."""
        return bool(self.log)

    def oldest_ticket(self) -> int:
        """Return the id of the oldest batch that some rank has not taken, or 0."""
        return self.log[0].id if self.log else 0

    def num_tasks(self) -> int:
        """Return how many batches are retained."""
        return len(self.log)

    def task_ticket(self, rank: int) -> int:
        """Return the id of the oldest batch that the rank has not taken, or 0."""
        entry = self._next(rank)
        return entry.id if entry else 0

    def missing(self) -> tuple[int, ...]:
        """Return the ranks that a full log waits for: those that have not taken the oldest entry."""
        if not self.log:
            return ()
        return tuple(rank for rank in range(self.ranks) if rank not in self.log[0].taken)

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: a reader claims the rank. Returning after a loss, it skips what others have started without it."""
        self._require_rank(rank)
        if rank in self.live:
            raise ProtocolViolationError(f"Join: rank {rank} is already live")
        if rank in self.lost:
            self.lost.discard(rank)
            for entry in self.log:
                if entry.taken:
                    entry.taken.add(rank)
            self._prune()
        self.live.add(rank)
        self.rank_seen[rank] = self.epoch

    def leave(self, rank: int) -> None:
        """Leave: the reader closed. What it has not taken waits for the rank's next reader."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)

    def fence(self, rank: int) -> None:
        """Fence: the reader's process is gone."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self.lost.add(rank)

    def connect(self, producer: int) -> None:
        """Connect: a producer handle opens. It has seen the current epoch."""
        if producer in self.prod_seen:
            raise ProtocolViolationError(f"Connect: producer {producer} is already connected")
        self.prod_seen[producer] = self.epoch

    def disconnect(self, producer: int) -> None:
        """Disconnect: the handle closed, with no call waiting."""
        self._require_up(producer, "Disconnect")
        if any(call.producer == producer for call in self.waiting):
            raise ProtocolViolationError(f"Disconnect: producer {producer} has a call waiting")
        del self.prod_seen[producer]

    def fence_producer(self, producer: int) -> None:
        """FenceProducer: the handle's process is gone; its waiting calls are withdrawn (invariant NoGhostCall)."""
        self._require_up(producer, "FenceProducer")
        self._withdraw(lambda call: call.producer == producer)
        del self.prod_seen[producer]

    # -- put -----------------------------------------------------------------------------------------------------

    def call_put(self, producer: int, batch: B) -> int:
        """CallPut: queue a put call and return its id, which names the batch from then on."""
        self._require_up(producer, "CallPut")
        self.calls += 1
        self.waiting.append(Call(producer, self.calls, batch))
        return self.calls

    def can_put(self, call_id: int) -> bool:
        """Guard of PutTasks: the call is the oldest one, no rank is lost, and there is room."""
        oldest = bool(self.waiting) and self.waiting[0].id == call_id
        return oldest and not self.lost and len(self.log) < self.depth

    def put_tasks(self, call_id: int) -> Entry[B] | None:
        """PutTasks: retain the batch of the call. Returns None when the guard does not hold."""
        if not self.can_put(call_id):
            return None
        call = self.waiting.pop(0)
        entry = Entry(call.id, self.epoch, call.batch)
        self.log.append(entry)
        self.prod_seen[call.producer] = self.epoch
        return entry

    def put_lost(self, call_id: int) -> tuple[int, ...]:
        """PutLost: give the call up because ranks are lost; returns them, or () when the guard does not hold."""
        if not self.lost or not self.is_waiting(call_id):
            return ()
        self._withdraw(lambda call: call.id == call_id)
        return tuple(sorted(self.lost))

    def put_timeout(self, call_id: int) -> bool:
        """PutTimeout: give the call up; False when it is gone, could be served, or must end with PutLost instead."""
        if self.lost or not self.is_waiting(call_id) or self.can_put(call_id):
            return False
        self._withdraw(lambda call: call.id == call_id)
        return True

    def is_waiting(self, call_id: int) -> bool:
        """Return True while the call has not been answered or withdrawn."""
        return any(call.id == call_id for call in self.waiting)

    # -- get -----------------------------------------------------------------------------------------------------

    def get_tasks(self, rank: int, ticket: int = 0) -> Taken[B] | None:
        """GetTasks: take the rank's oldest batch; None when it has none, or when it is not the one of ``ticket``."""
        self._require_live(rank, "GetTasks")
        entry = self._next(rank)
        if entry is None or ticket not in (0, entry.id):
            return None
        entry.taken.add(rank)
        self.rank_seen[rank] = max(self.rank_seen[rank], entry.epoch)
        all_read = len(entry.taken) == self.ranks
        self._prune()
        return Taken(entry.id, entry.epoch, entry.batch, all_read)

    # -- clear ---------------------------------------------------------------------------------------------------

    def clear_rank(self, rank: int) -> tuple[int, ...]:
        """ClearRank: the clear of a reading handle. Returns the ids that it dropped."""
        self._require_live(rank, "ClearRank")
        dropped = self._clear(self.rank_seen[rank])
        self.rank_seen[rank] = self.epoch
        return dropped

    def clear_producer(self, producer: int) -> tuple[int, ...]:
        """ClearProducer: the clear of any other handle. Returns the ids that it dropped."""
        self._require_up(producer, "ClearProducer")
        dropped = self._clear(self.prod_seen[producer])
        self.prod_seen[producer] = self.epoch
        return dropped

    # -- helpers -------------------------------------------------------------------------------------------------

    def _clear(self, seen: int) -> tuple[int, ...]:
        if seen < self.epoch:
            return ()
        dropped = tuple(entry.id for entry in self.log if not entry.taken)
        self.log = [entry for entry in self.log if entry.taken]
        self.epoch += 1
        return dropped

    def _next(self, rank: int) -> Entry[B] | None:
        return next((entry for entry in self.log if rank not in entry.taken), None)

    def _prune(self) -> None:
        self.log = [entry for entry in self.log if len(entry.taken) < self.ranks]

    def _withdraw(self, which: Callable[[Call[B]], bool]) -> None:
        self.waiting = [call for call in self.waiting if not which(call)]

    def _require_up(self, producer: int, action: str) -> None:
        if producer not in self.prod_seen:
            raise ProtocolViolationError(f"{action}: producer {producer} is not connected")
