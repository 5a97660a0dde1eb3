"""The abstract broadcast that every delivery protocol refines: each rank takes each batch once, and in order.

It knows no calls, no flags and no processes. A retained batch leaves when every rank has taken or missed it; a clear
takes back only what nobody has started; a rank that came back after a loss misses what others started without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from models.kernel import Action, Model, Step

__all__ = ("Batch", "Broadcast", "State")


class Batch(NamedTuple):
    """A retained batch and the ranks that are done with it."""

    id: int
    done: frozenset[int]


class State(NamedTuple):
    """Retained batches, clears so far, and what each rank was given."""

    log: tuple[Batch, ...]
    epoch: int
    got: tuple[tuple[int, ...], ...]


Steps: TypeAlias = Iterator[Step[State]]


class Broadcast(Model[State]):
    """Next-state relation. Batches are named 1 .. ``max_id`` in the order of their publication; some may be unused."""

    def __init__(self, ranks: int, depth: int, max_id: int, max_epoch: int) -> None:
        self.name = "broadcast"
        self.ranks, self.depth, self.max_id, self.max_epoch = ranks, depth, max_id, max_epoch
        self.actions = {"Publish": self.publish, "Take": self.take, "Miss": self.miss, "Clear": self.clear}
        self.invariants = {
            "ExactlyOnceInOrder": lambda s: all(list(ids) == sorted(set(ids)) for ids in s.got),
            "Bounded": lambda s: len(s.log) <= depth,
        }
        self.action_properties = {}
        self.sometimes = {"every rank took the last batch": lambda s: all(max_id in ids for ids in s.got)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was published."""
        return (State((), 0, ((),) * self.ranks),)

    def publish(self, s: State) -> Steps:
        """A batch that is newer than all others is retained."""
        newest = max((*(batch.id for batch in s.log), *(id_ for ids in s.got for id_ in ids)), default=0)
        if len(s.log) < self.depth:
            for id_ in range(newest + 1, self.max_id + 1):
                yield Action("Publish", (("id", id_),)), s._replace(log=(*s.log, Batch(id_, frozenset())))

    def take(self, s: State) -> Steps:
        """A rank takes the oldest batch that it is not done with."""
        for rank in range(self.ranks):
            for index, batch in enumerate(s.log):
                if rank not in batch.done:
                    log = (*s.log[:index], batch._replace(done=batch.done | {rank}), *s.log[index + 1 :])
                    got = (*s.got[:rank], (*s.got[rank], batch.id), *s.got[rank + 1 :])
                    yield Action("Take", (("rank", rank),)), s._replace(log=self._retained(log), got=got)
                    break

    def miss(self, s: State) -> Steps:
        """A rank that was lost comes back: what others have started is not for it."""
        for rank in range(self.ranks):
            log = self._retained(b._replace(done=b.done | {rank}) if b.done else b for b in s.log)
            if log != s.log:
                yield Action("Miss", (("rank", rank),)), s._replace(log=log)

    def clear(self, s: State) -> Steps:
        """What nobody has started is taken back."""
        if s.epoch < self.max_epoch:
            yield Action("Clear"), s._replace(log=tuple(b for b in s.log if b.done), epoch=s.epoch + 1)

    def _retained(self, log: Iterable[Batch]) -> tuple[Batch, ...]:
        return tuple(batch for batch in log if len(batch.done) < self.ranks)
