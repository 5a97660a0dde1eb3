"""The loop of the workers on top of dispatch; the twin of ``tla/dispatch/WorkerLoop.tla``.

Rank 0 looks, tells the others by a shared word and a barrier, and all ranks take the batch and run it together. With
``tickets`` the word is the number of the batch that rank 0 saw; else it is FastDeploy's flag, on its queue or on ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from models.kernel import Action, Model, Step, replaced
from models.worker_loop_properties import INVARIANTS, SOMETIMES

__all__ = ("Config", "Entry", "State", "WorkerLoop")


class Entry(NamedTuple):
    """A batch in the queue."""

    id: int
    taken: frozenset[int]


class State(NamedTuple):
    """All variables of the spec."""

    log: tuple[Entry, ...]
    exist: bool
    epoch: int
    seen: tuple[int, ...]
    calls: int
    word: int
    looked: int
    change: bool
    changes: int
    pc: tuple[str, ...]
    ran: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    depth: int = 1
    max_calls: int = 2
    max_loops: int = 2
    max_clears: int = 1
    engine_clears: bool = False
    shipped: bool = False
    tickets: bool = True
    meets: str = "always"
    own_read: bool = True
    second_look: bool = True
    idle_get_ends: bool = True

    def constants(self) -> dict[str, int | bool | str]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "Depth": self.depth,
            "MaxCalls": self.max_calls,
            "MaxLoops": self.max_loops,
            "MaxClears": self.max_clears,
            "EngineClears": self.engine_clears,
            "Shipped": self.shipped,
            "Tickets": self.tickets,
            "Meets": self.meets,
            "OwnRead": self.own_read,
            "SecondLook": self.second_look,
            "IdleGetEnds": self.idle_get_ends,
        }


Steps: TypeAlias = Iterator[Step[State]]


class WorkerLoop(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        loop = " as shipped" if config.shipped else "" if config.tickets else " with FastDeploy's flag"
        self.name = "worker loop" + loop
        self.everyone = frozenset(range(config.ranks))
        self.actions = {
            "Put": self.put,
            "EngineClear": self.engine_clear,
            "Look": self.look,
            "Tell": self.tell,
            "FirstBarrier": self.first_barrier,
            "SecondBarrier": self.second_barrier,
            "ClearData": self.clear_data,
            "Idle": self.idle,
            "GetTasks": self.get_tasks,
            "MarkEmpty": self.mark_empty,
        }
        self.invariants = dict(INVARIANTS)
        self.action_properties = {}
        self.sometimes = dict(SOMETIMES)
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No batch, and everybody before the first barrier but rank 0, who looks."""
        n = self.config.ranks
        pc = tuple(map(_start, range(n)))
        return (State((), False, 0, (0,) * n, 0, 0, 0, False, 0, pc, ((),) * n),)

    # -- the engine ----------------------------------------------------------------------------------------------

    def put(self, s: State) -> Steps:
        """A batch is put when there is room."""
        if len(s.log) < self.config.depth and s.calls < self.config.max_calls:
            log = (*s.log, Entry(s.calls + 1, frozenset()))
            yield Action("Put"), s._replace(calls=s.calls + 1, log=log, exist=True)

    def engine_clear(self, s: State) -> Steps:
        """The engine clears, too."""
        if self.config.engine_clears and s.changes < self.config.max_clears:
            yield Action("EngineClear"), self._cleared(s)._replace(changes=s.changes + 1)

    # -- the workers ---------------------------------------------------------------------------------------------

    def look(self, s: State) -> Steps:
        """Rank 0 looks for work, and the weights change in this loop or not."""
        if s.pc[0] != "look" or len(s.ran[0]) >= self.config.max_loops:
            return
        config = self.config
        own = _next(s.log, 0)
        others = s.log[0].id if s.log and not own else 0
        if config.tickets:
            says, word, looked = False, own, 0
        elif config.shipped or not config.own_read:
            says, word, looked = s.exist, s.word, 0
        else:
            says = own != 0 or (config.second_look and others != 0 and s.looked == others)
            word, looked = s.word, others
        for change in (False, True) if s.changes < config.max_clears else (False,):
            pc = replaced(s.pc, 0, "tell" if says else "first barrier")
            changes = s.changes + change
            yield _rank("Look", 0), s._replace(word=word, looked=looked, change=change, changes=changes, pc=pc)

    def tell(self, s: State) -> Steps:
        """Rank 0 raises the flag: a step of its own, some time after the look."""
        if s.pc[0] == "tell":
            yield _rank("Tell", 0), s._replace(word=1, pc=replaced(s.pc, 0, "first barrier"))

    def first_barrier(self, s: State) -> Steps:
        """All ranks know the word."""
        if set(s.pc) == {"first barrier"}:
            yield Action("FirstBarrier"), s._replace(pc=("clear" if s.change else "test",) * len(s.pc))

    def clear_data(self, s: State) -> Steps:
        """After a change of the weights each rank clears."""
        for rank, label in enumerate(s.pc):
            if label == "clear":
                first = self.config.shipped or s.seen[rank] == s.epoch
                after = self._cleared(s) if first else s
                seen = replaced(s.seen, rank, after.epoch)
                yield _rank("ClearData", rank), after._replace(seen=seen, pc=replaced(s.pc, rank, "test"))

    def idle(self, s: State) -> Steps:
        """A rank that was not told runs nothing."""
        for rank, label in enumerate(s.pc):
            if label == "test" and s.word == 0:
                ran = replaced(s.ran, rank, (*s.ran[rank], 0))
                yield _rank("Idle", rank), s._replace(ran=ran, pc=replaced(s.pc, rank, self._end(rank, 0)))

    def get_tasks(self, s: State) -> Steps:
        """A rank that was told takes what is there, or the batch of the ticket, or nothing."""
        config = self.config
        for rank, label in enumerate(s.pc):
            if label != "test" or s.word == 0:
                continue
            index, batch = 0, _next(s.log, rank)
            if config.shipped:
                batch = s.log[0].id if s.log else 0
            elif config.tickets and batch != s.word:
                batch = 0
            log, last = s.log, not s.log and (config.shipped or config.idle_get_ends)
            if batch:
                index = next(i for i, entry in enumerate(s.log) if entry.id == batch)
                taken = s.log[index].taken | {rank}
                last = taken == self.everyone
                kept = () if last else (Entry(batch, taken),)
                log = (*s.log[:index], *kept, *s.log[index + 1 :])
            exist = (s.exist and not last) if config.shipped else bool(log)
            go = "mark" if last and not config.tickets else self._end(rank, batch)
            ran = replaced(s.ran, rank, (*s.ran[rank], batch))
            yield _rank("GetTasks", rank), s._replace(log=log, exist=exist, ran=ran, pc=replaced(s.pc, rank, go))

    def mark_empty(self, s: State) -> Steps:
        """The rank that was told that all have read lowers the flag."""
        for rank, label in enumerate(s.pc):
            if label == "mark":
                pc = replaced(s.pc, rank, self._end(rank, s.ran[rank][-1]))
                yield _rank("MarkEmpty", rank), s._replace(word=0, pc=pc)

    def second_barrier(self, s: State) -> Steps:
        """The ranks meet at the end of the loop."""
        if set(s.pc) == {"second barrier"}:
            yield Action("SecondBarrier"), s._replace(pc=tuple(map(_start, range(len(s.pc)))))

    def _end(self, rank: int, batch: int) -> str:
        waits = self.config.meets == "always" or (self.config.meets == "idle" and batch == 0)
        return "second barrier" if waits else _start(rank)

    def _cleared(self, s: State) -> State:
        if self.config.shipped:
            return s._replace(log=())
        log = tuple(entry for entry in s.log if entry.taken)
        return s._replace(epoch=s.epoch + 1, log=log, exist=bool(log))


def _start(rank: int) -> str:
    return "first barrier" if rank else "look"


def _next(log: tuple[Entry, ...], rank: int) -> int:
    return next((entry.id for entry in log if rank not in entry.taken), 0)


def _rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))
