"""The loop of the workers on top of dispatch; the twin of ``tla/dispatch/WorkerLoop.tla``.

Rank 0 looks, tells the others by a shared word and a barrier, and all ranks take the batch and run it together. As
shipped the word says only that there is work (race P1.6); ours is a ticket, the number of the batch that rank 0 saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from models.kernel import Action, Model, Step

__all__ = ("Config", "State", "WorkerLoop")

T = TypeVar("T")


class State(NamedTuple):
    """All variables of the spec."""

    batch: int
    taken: frozenset[int]
    exist: bool
    epoch: int
    seen: tuple[int, ...]
    calls: int
    word: int
    change: bool
    changes: int
    pc: tuple[str, ...]
    ran: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    ranks: int = 2
    max_calls: int = 2
    max_loops: int = 2
    max_clears: int = 1
    engine_clears: bool = False
    shipped: bool = False
    tickets: bool = True

    def constants(self) -> dict[str, int | bool]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxCalls": self.max_calls,
            "MaxLoops": self.max_loops,
            "MaxClears": self.max_clears,
            "EngineClears": self.engine_clears,
            "Shipped": self.shipped,
            "Tickets": self.tickets,
        }


Steps: TypeAlias = Iterator[Step[State]]


class WorkerLoop(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "worker loop" + (" as shipped" if config.shipped else "" if config.tickets else " without tickets")
        self.everyone = frozenset(range(config.ranks))
        self.actions = {
            "Put": self.put,
            "EngineClear": self.engine_clear,
            "Look": self.look,
            "FirstBarrier": self.first_barrier,
            "SecondBarrier": self.second_barrier,
            "ClearData": self.clear_data,
            "Idle": self.idle,
            "GetTasks": self.get_tasks,
            "MarkEmpty": self.mark_empty,
        }
        self.invariants = {"InStepPerLoop": _in_step_per_loop, "RunOnce": _run_once}
        self.action_properties = {}
        self.sometimes = {
            "a batch was run by all": lambda s: any(set(loop) != {0} and len(set(loop)) == 1 for loop in _loops(s)),
            "a loop was idle": lambda s: any(set(loop) == {0} for loop in _loops(s)),
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No batch, and everybody before the first barrier but rank 0, who looks."""
        n = self.config.ranks
        pc = ("look", *("first barrier",) * (n - 1))
        return (State(0, self.everyone, False, 0, (0,) * n, 0, 0, False, 0, pc, ((),) * n),)

    # -- the engine ----------------------------------------------------------------------------------------------

    def put(self, s: State) -> Steps:
        """A batch is put when the one before it is gone."""
        free = s.taken == self.everyone if self.config.shipped else s.batch == 0
        if free and s.calls < self.config.max_calls:
            yield Action("Put"), s._replace(calls=s.calls + 1, batch=s.calls + 1, taken=frozenset(), exist=True)

    def engine_clear(self, s: State) -> Steps:
        """The engine clears, too."""
        if self.config.engine_clears and s.changes < self.config.max_clears:
            after = self._wiped(s) if self.config.shipped else self._cleared(s)
            yield Action("EngineClear"), after._replace(changes=s.changes + 1)

    # -- the workers ---------------------------------------------------------------------------------------------

    def look(self, s: State) -> Steps:
        """Rank 0 looks for work, and the weights change in this loop or not."""
        if s.pc[0] != "look" or len(s.ran[0]) >= self.config.max_loops:
            return
        ticket = 0 if 0 in s.taken else s.batch
        told = 1 if s.exist else s.word
        word = told if self.config.shipped else ticket
        for change in (False, True) if s.changes < self.config.max_clears else (False,):
            yield (
                _rank("Look", 0),
                s._replace(word=word, change=change, changes=s.changes + change, pc=_at(s.pc, 0, "first barrier")),
            )

    def first_barrier(self, s: State) -> Steps:
        """All ranks know the word."""
        if set(s.pc) == {"first barrier"}:
            yield Action("FirstBarrier"), s._replace(pc=("clear" if s.change else "test",) * len(s.pc))

    def clear_data(self, s: State) -> Steps:
        """After a change of the weights each rank clears."""
        for rank, label in enumerate(s.pc):
            if label != "clear":
                continue
            if self.config.shipped:
                after = self._wiped(s)
            else:
                after = self._cleared(s) if s.seen[rank] == s.epoch else s._replace(exist=s.batch != 0)
                after = after._replace(seen=_at(s.seen, rank, after.epoch))
            yield _rank("ClearData", rank), after._replace(pc=_at(s.pc, rank, "test"))

    def idle(self, s: State) -> Steps:
        """A rank that was not told runs nothing."""
        for rank, label in enumerate(s.pc):
            if label == "test" and s.word == 0:
                yield _rank("Idle", rank), self._ran(s, rank, 0, "second barrier")

    def get_tasks(self, s: State) -> Steps:
        """A rank that was told takes what is there (shipped), or the batch of the ticket, or nothing."""
        shipped = self.config.shipped
        for rank, label in enumerate(s.pc):
            if label != "test" or s.word == 0:
                continue
            wanted = s.batch == s.word or not self.config.tickets
            takes = s.batch != 0 and (shipped or (rank not in s.taken and wanted))
            all_taken = s.taken | {rank} == self.everyone
            after = self._ran(s, rank, s.batch if takes else 0, "mark" if shipped and all_taken else "second barrier")
            if shipped or takes:
                after = after._replace(taken=s.taken | {rank})
                if all_taken:
                    after = after._replace(batch=0, exist=False)
            yield _rank("GetTasks", rank), after

    def mark_empty(self, s: State) -> Steps:
        """As shipped: the rank that was told that all have read writes EMPTY."""
        for rank, label in enumerate(s.pc):
            if label == "mark":
                yield _rank("MarkEmpty", rank), s._replace(word=0, pc=_at(s.pc, rank, "second barrier"))

    def second_barrier(self, s: State) -> Steps:
        """Running is collective: nobody begins the next loop alone."""
        if set(s.pc) == {"second barrier"}:
            yield Action("SecondBarrier"), s._replace(pc=("look", *("first barrier",) * (len(s.pc) - 1)))

    def _ran(self, s: State, rank: int, batch: int, label: str) -> State:
        return s._replace(ran=_at(s.ran, rank, (*s.ran[rank], batch)), pc=_at(s.pc, rank, label))

    def _wiped(self, s: State) -> State:
        return s._replace(batch=0, taken=self.everyone)

    def _cleared(self, s: State) -> State:
        batch = s.batch if s.taken else 0
        return s._replace(epoch=s.epoch + 1, batch=batch, exist=batch != 0)


def _loops(s: State) -> Iterator[tuple[int, ...]]:
    """What the ranks ran, loop by loop, as far as all have come."""
    return zip(*s.ran, strict=False)


def _in_step_per_loop(s: State) -> bool:
    return all(a == b for ran in s.ran for other in s.ran for a, b in zip(ran, other, strict=False))


def _run_once(s: State) -> bool:
    runs = ([batch for batch in ran if batch] for ran in s.ran)
    return all(len(ran) == len(set(ran)) for ran in runs)


def _rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))


def _at(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])
