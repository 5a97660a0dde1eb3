"""The bitmask protocol as ``spec/bitmask.toml`` has it; the twin of ``tla/bitmask/Bitmask.tla``.

Dispatch in another representation: a queue of tasks, and for each a number with one bit per rank. What is no matter of
the queue is as in ``models/dispatch.py`` and written again here, because the two are compared with each other.
``as_dispatch`` and ``as_bitmask`` are the mappings of the equivalence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import bitmask_properties, dispatch_state
from models.bitmask_state import Config, Guards, State, Task
from models.dispatch_state import AWAY, DEAD, DOWN, LIVE, LOST, UP, Call
from models.kernel import Action, Model, Step, replaced

__all__ = ("Bitmask", "Config", "Guards", "State", "Task", "as_bitmask", "as_dispatch")

Steps: TypeAlias = Iterator[Step[State]]


class Bitmask(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("bitmask")
        self.full = (1 << self.config.ranks) - 1
        self.actions = {
            "Join": self.join,
            "Leave": lambda s: self._life(s, "Leave", LIVE, AWAY, self.config.leavers),
            "Crash": lambda s: self._life(s, "Crash", LIVE, DEAD, self.config.mortal),
            "Fence": self.fence,
            "Connect": self.connect,
            "Disconnect": self.disconnect,
            "CrashProducer": self.crash_producer,
            "FenceProducer": self.fence_producer,
            "CallPut": self.call_put,
            "PutTasks": self.put_tasks,
            "PutLost": self.put_lost,
            "PutTimeout": self.put_timeout,
            "GetTasks": self.get_tasks,
            "ClearRank": self.clear_rank,
            "ClearProducer": self.clear_producer,
        }
        self.invariants = bitmask_properties.invariants(self.config)
        self.action_properties = {}
        self.sometimes = bitmask_properties.sometimes(self.config)
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody reads, every producer is connected, nothing was put."""
        ranks, producers = self.config.ranks, self.config.producers
        return (
            State(
                0, (), (), 0, (0,) * ranks, (0,) * producers, (AWAY,) * ranks, (UP,) * producers, False, ((),) * ranks
            ),
        )

    # -- readers and producers -----------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """A reader claims a rank. After a loss its bit is set wherever another rank's is."""
        for rank, status in enumerate(s.status):
            if status in (AWAY, LOST):
                queue = s.queue
                if status == LOST:
                    queue = self._whole(t._replace(mask=t.mask | 1 << rank) if t.mask else t for t in s.queue)
                after = s._replace(queue=queue, exist=bool(queue), status=replaced(s.status, rank, LIVE))
                yield _rank("Join", rank), after._replace(rankSeen=replaced(s.rankSeen, rank, s.epoch))

    def _life(self, s: State, name: str, before: str, after: str, who: Iterable[int]) -> Steps:
        for rank in sorted(who):
            if s.status[rank] == before:
                yield _rank(name, rank), s._replace(status=replaced(s.status, rank, after))

    def fence(self, s: State) -> Steps:
        """The host notices that a reader is gone."""
        if self.guards.FenceFrees:
            yield from self._life(s, "Fence", DEAD, LOST, range(self.config.ranks))

    def connect(self, s: State) -> Steps:
        """A producer handle opens."""
        for p, life in enumerate(s.producer):
            if life == DOWN:
                after = s._replace(producer=replaced(s.producer, p, UP), prodSeen=replaced(s.prodSeen, p, s.epoch))
                yield _producer("Connect", p), after

    def disconnect(self, s: State) -> Steps:
        """A producer handle without a waiting call closes."""
        for p in sorted(self.config.quitters):
            if s.producer[p] == UP and all(call.producer != p for call in s.waiting):
                yield _producer("Disconnect", p), s._replace(producer=replaced(s.producer, p, DOWN))

    def crash_producer(self, s: State) -> Steps:
        """A producer's process is gone."""
        for p in sorted(self.config.mortal_producers):
            if s.producer[p] == UP:
                yield _producer("CrashProducer", p), s._replace(producer=replaced(s.producer, p, DEAD))

    def fence_producer(self, s: State) -> Steps:
        """The host notices, and withdraws its calls."""
        for p, life in enumerate(s.producer):
            if life == DEAD:
                waiting = tuple(call for call in s.waiting if call.producer != p)
                yield _producer("FenceProducer", p), s._replace(waiting=waiting, producer=replaced(s.producer, p, DOWN))

    # -- put -----------------------------------------------------------------------------------------------------

    def call_put(self, s: State) -> Steps:
        """A put call arrives."""
        config = self.config
        if s.calls < config.max_calls:
            for p, life in enumerate(s.producer):
                if life == UP and sum(call.producer == p for call in s.waiting) < config.per_producer:
                    call = Call(p, s.calls + 1)
                    yield _call("CallPut", call), s._replace(calls=call.id, waiting=(*s.waiting, call))

    def put_tasks(self, s: State) -> Steps:
        """The oldest call's task is queued, with no bit set."""
        if s.waiting and LOST not in s.status and len(s.queue) < self.config.depth:
            call, *later = s.waiting
            queue = s.queue
            if queue and not self.guards.PutKeepsMask:
                queue = (queue[0]._replace(mask=0), *queue[1:])
            after = s._replace(waiting=tuple(later), queue=(*queue, Task(call.id, s.epoch, 0)), exist=True)
            yield _call("PutTasks", call), after._replace(prodSeen=replaced(s.prodSeen, call.producer, s.epoch))

    def put_lost(self, s: State) -> Steps:
        """A call is given up because a rank is lost."""
        if LOST in s.status:
            for index, call in enumerate(s.waiting):
                yield _call("PutLost", call), s._replace(waiting=s.waiting[:index] + s.waiting[index + 1 :])

    def put_timeout(self, s: State) -> Steps:
        """A call that cannot be served now is given up."""
        if LOST not in s.status:
            first = 0 if len(s.queue) == self.config.depth else 1
            for index, call in enumerate(s.waiting[first:], first):
                yield _call("PutTimeout", call), s._replace(waiting=s.waiting[:index] + s.waiting[index + 1 :])

    # -- get and clear -------------------------------------------------------------------------------------------

    def get_tasks(self, s: State) -> Steps:
        """A rank takes the oldest task without its bit."""
        for rank, status in enumerate(s.status):
            index = next((i for i, task in enumerate(s.queue) if not task.mask >> rank & 1), None)
            if status not in (LIVE, DEAD) or index is None:
                continue
            task = s.queue[index]
            queue = self._whole(replaced(s.queue, index, task._replace(mask=task.mask | 1 << rank)))
            after = s._replace(queue=queue, exist=bool(queue), got=replaced(s.got, rank, (*s.got[rank], task.id)))
            seen = max(s.rankSeen[rank], task.epoch)
            yield _rank("GetTasks", rank), after._replace(rankSeen=replaced(s.rankSeen, rank, seen))

    def clear_rank(self, s: State) -> Steps:
        """The clear of a reading handle."""
        for rank, status in enumerate(s.status):
            if status == LIVE and (after := self._cleared(s, s.rankSeen[rank])) is not None:
                yield _rank("ClearRank", rank), after._replace(rankSeen=replaced(s.rankSeen, rank, after.epoch))

    def clear_producer(self, s: State) -> Steps:
        """The clear of any other handle."""
        for p, life in enumerate(s.producer):
            if life == UP and (after := self._cleared(s, s.prodSeen[p])) is not None:
                yield _producer("ClearProducer", p), after._replace(prodSeen=replaced(s.prodSeen, p, after.epoch))

    def _cleared(self, s: State, seen: int) -> State | None:
        if seen != s.epoch:
            return s
        if s.epoch == self.config.max_epoch:
            return None
        queue = tuple(task for task in s.queue if task.mask and self.guards.ClearKeepsStarted)
        return s._replace(queue=queue, epoch=s.epoch + 1, exist=bool(queue))

    def _whole(self, queue: Iterable[Task]) -> tuple[Task, ...]:
        """Drop the tasks with all bits."""
        return tuple(task for task in queue if task.mask != self.full)


def as_dispatch(s: State) -> dispatch_state.State:
    """Return what a state is as dispatch: taken by the ranks whose bit is set."""
    ranks = range(len(s.status))
    log = tuple(
        dispatch_state.Entry(task.id, task.epoch, frozenset(r for r in ranks if task.mask >> r & 1)) for task in s.queue
    )
    return dispatch_state.State(s.calls, s.waiting, log, *s[3:])


def as_bitmask(s: dispatch_state.State) -> State:
    """Return what a state of dispatch is here: the bits of the ranks that have taken."""
    queue = tuple(Task(entry.id, entry.epoch, sum(1 << rank for rank in entry.taken)) for entry in s.log)
    return State(s.calls, s.waiting, queue, *s[3:])


def _rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))


def _producer(name: str, producer: int) -> Action:
    return Action(name, (("producer", producer),))


def _call(name: str, call: Call) -> Action:
    return Action(name, (("producer", call.producer), ("id", call.id)))
