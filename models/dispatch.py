"""The dispatch protocol as ``spec/dispatch.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import dispatch_properties as properties
from models.dispatch_state import AWAY, DEAD, DOWN, LIVE, LOST, UP, Call, Config, Entry, Guards, State, initial_state
from models.kernel import Action, Model, Step, replaced

__all__ = ("Call", "Config", "Dispatch", "Entry", "Guards", "State")

Steps: TypeAlias = Iterator[Step[State]]


class Dispatch(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        guards = self.config.guards
        self.name = guards.title("dispatch")
        self.guards = guards
        self.everyone = frozenset(range(self.config.ranks))
        self.actions = {
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
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
        if not guards.LowerInside:
            self.actions["LowerExist"] = self.lower_exist
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties()
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody reads, every producer is connected, nothing was put."""
        return (initial_state(self.config),)

    # -- ranks ---------------------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """A reader claims a rank. After a loss it skips what others have started without it."""
        for rank, status in enumerate(s.status):
            if status not in (AWAY, LOST):
                continue
            log = s.log
            if status == LOST and self.guards.JoinSkips:
                log = self.prune(e._replace(taken=e.taken | {rank}) if e.taken else e for e in s.log)
            yield (
                _rank("Join", rank),
                s._replace(
                    status=replaced(s.status, rank, LIVE),
                    rankSeen=replaced(s.rankSeen, rank, s.epoch),
                    log=log,
                    exist=bool(log) if log != s.log else s.exist,
                ),
            )

    def leave(self, s: State) -> Steps:
        """The reader of a rank closed."""
        for rank, status in enumerate(s.status):
            if status == LIVE and rank in self.config.leavers:
                yield _rank("Leave", rank), s._replace(status=replaced(s.status, rank, AWAY))

    def crash(self, s: State) -> Steps:
        """The reader's process is gone; the host has not noticed."""
        for rank, status in enumerate(s.status):
            if status == LIVE and rank in self.config.mortal:
                yield _rank("Crash", rank), s._replace(status=replaced(s.status, rank, DEAD))

    def fence(self, s: State) -> Steps:
        """The host notices."""
        for rank, status in enumerate(s.status):
            if status == DEAD and self.guards.FenceFrees:
                yield _rank("Fence", rank), s._replace(status=replaced(s.status, rank, LOST))

    # -- producers -----------------------------------------------------------------------------------------------

    def connect(self, s: State) -> Steps:
        """A producer handle opens."""
        for p, life in enumerate(s.producer):
            if life == DOWN:
                yield (
                    _producer("Connect", p),
                    s._replace(producer=replaced(s.producer, p, UP), prodSeen=replaced(s.prodSeen, p, s.epoch)),
                )

    def disconnect(self, s: State) -> Steps:
        """A producer handle closes, with no call waiting."""
        for p, life in enumerate(s.producer):
            if life == UP and p in self.config.quitters and not any(call.producer == p for call in s.waiting):
                yield _producer("Disconnect", p), s._replace(producer=replaced(s.producer, p, DOWN))

    def crash_producer(self, s: State) -> Steps:
        """The producer's process is gone; its waiting calls stay until the host notices."""
        for p, life in enumerate(s.producer):
            if life == UP and p in self.config.mortal_producers:
                yield _producer("CrashProducer", p), s._replace(producer=replaced(s.producer, p, DEAD))

    def fence_producer(self, s: State) -> Steps:
        """The host notices, and withdraws the calls."""
        for p, life in enumerate(s.producer):
            if life == DEAD:
                waiting = s.waiting
                if self.guards.FenceWithdraws:
                    waiting = tuple(call for call in waiting if call.producer != p)
                yield _producer("FenceProducer", p), s._replace(producer=replaced(s.producer, p, DOWN), waiting=waiting)

    # -- put -----------------------------------------------------------------------------------------------------

    def call_put(self, s: State) -> Steps:
        """A put call arrives; it names the batch."""
        config = self.config
        if config.max_calls is not None and s.calls >= config.max_calls:
            return
        for p, life in enumerate(s.producer):
            pending = sum(call.producer == p for call in s.waiting)
            if life == UP and (config.per_producer is None or pending < config.per_producer):
                call = Call(p, s.calls + 1)
                yield _call("CallPut", call), s._replace(calls=call.id, waiting=(*s.waiting, call))

    def put_tasks(self, s: State) -> Steps:
        """The oldest call's batch is retained."""
        if LOST in s.status or len(s.log) >= self.config.depth:
            return
        for call in s.waiting[:1] if self.guards.PutsInOrder else s.waiting:
            yield (
                _call("PutTasks", call),
                s._replace(
                    waiting=_without(s.waiting, call),
                    log=(*s.log, Entry(call.id, s.epoch, frozenset())),
                    prodSeen=replaced(s.prodSeen, call.producer, s.epoch),
                    exist=True,
                ),
            )

    def put_lost(self, s: State) -> Steps:
        """A call is given up because a rank is lost."""
        if LOST in s.status:
            for call in s.waiting:
                yield _call("PutLost", call), s._replace(waiting=_without(s.waiting, call))

    def put_timeout(self, s: State) -> Steps:
        """A call that cannot be served now is given up."""
        if LOST not in s.status:
            full = len(s.log) >= self.config.depth
            for index, call in enumerate(s.waiting):
                if full or index > 0:
                    yield _call("PutTimeout", call), s._replace(waiting=_without(s.waiting, call))

    # -- get -----------------------------------------------------------------------------------------------------

    def get_tasks(self, s: State) -> Steps:
        """A rank takes the oldest batch that it has not taken."""
        guards = self.guards
        may_read = (LIVE, DEAD) if guards.FencedCannotRead else (LIVE, DEAD, LOST)
        for rank, status in enumerate(s.status):
            if status not in may_read:
                continue
            unread = (i for i, e in enumerate(s.log) if rank not in e.taken or not guards.GuardOwnRead)
            index = next(unread, None)
            if index is not None:
                entry = s.log[index]
                log = self.prune(replaced(s.log, index, entry._replace(taken=entry.taken | {rank})))
                yield (
                    _rank("GetTasks", rank),
                    s._replace(
                        log=log,
                        exist=bool(log) or not guards.LowerInside,
                        got=replaced(s.got, rank, (*s.got[rank], entry.id)),
                        rankSeen=replaced(s.rankSeen, rank, max(s.rankSeen[rank], entry.epoch)),
                    ),
                )
            elif not guards.IdleGetKeepsExist:
                yield _rank("GetTasks", rank), s._replace(exist=False)

    def lower_exist(self, s: State) -> Steps:
        """Only without LowerInside: the exist word is lowered after the critical section that emptied the log."""
        if s.exist and not s.log:
            yield Action("LowerExist"), s._replace(exist=False)

    # -- clear ---------------------------------------------------------------------------------------------------

    def clear_rank(self, s: State) -> Steps:
        """The clear of a reading handle."""
        for rank, status in enumerate(s.status):
            if status == LIVE and (after := self.cleared(s, s.rankSeen[rank])) is not None:
                yield _rank("ClearRank", rank), after._replace(rankSeen=replaced(s.rankSeen, rank, after.epoch))

    def clear_producer(self, s: State) -> Steps:
        """The clear of any other handle."""
        for p, life in enumerate(s.producer):
            if life == UP and (after := self.cleared(s, s.prodSeen[p])) is not None:
                yield _producer("ClearProducer", p), after._replace(prodSeen=replaced(s.prodSeen, p, after.epoch))

    def cleared(self, s: State, seen: int) -> State | None:
        """Log, epoch and exist after the clear of a handle that has seen ``seen``; None beyond the model's bound."""
        if seen < s.epoch and self.guards.ClearOncePerEpoch:
            return s
        if self.config.max_epoch is not None and s.epoch >= self.config.max_epoch:
            return None
        log = tuple(entry for entry in s.log if entry.taken and self.guards.ClearKeepsStarted)
        exist = bool(log) if self.guards.ClearLowersExist else s.exist
        return s._replace(log=log, epoch=s.epoch + 1, exist=exist)

    def prune(self, log: Iterable[Entry]) -> tuple[Entry, ...]:
        """Drop the entries that every rank has taken."""
        return tuple(entry for entry in log if entry.taken != self.everyone)


def _without(waiting: tuple[Call, ...], call: Call) -> tuple[Call, ...]:
    return tuple(other for other in waiting if other != call)


def _rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))


def _producer(name: str, producer: int) -> Action:
    return Action(name, (("producer", producer),))


def _call(name: str, call: Call) -> Action:
    return Action(name, (("producer", call.producer), ("id", call.id)))
