"""Several words that are written and read as one, by a sequence number: twin of ``tla/word/Sequence.tla``.

Writers are 0 .. writers-1, readers come after them. The k-th write of all stores k in every cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, Step, each, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("Config", "Guards", "Sequence", "State", "fairness", "liveness")

NOBODY = -1
SEQ = 0


class State(NamedTuple):
    """All variables of the spec. ``mem``: the sequence number, then the cells."""

    mem: tuple[int, ...]
    buf: tuple[tuple[tuple[int, int], ...], ...]
    lock: int
    pc: tuple[str, ...]
    next: tuple[int, ...]
    seen: tuple[int, ...]
    copy: tuple[tuple[int, ...], ...]
    left: tuple[int, ...]
    writes: int


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    Sequenced: bool = True
    InOrder: bool = True
    OneWriter: bool = True
    BeginsOdd: bool = True
    ProvesDeath: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec."""

    writers: int = 1
    readers: int = 1
    cells: int = 2
    writes: int = 1
    mortal: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "Writers": self.writers,
            "Readers": self.readers,
            "Cells": self.cells,
            "Writes": self.writes,
            "Mortal": self.mortal,
            **asdict(self.guards),
        }


class Sequence(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("word.sequence")
        self.writers = range(config.writers)
        self.readers = range(config.writers, config.writers + config.readers)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "LockWrite": (self.writers, self.lock_write),
            "LoadSeq": (self.writers, self.load_seq),
            "StoreOdd": (self.writers, self.store_odd),
            "StoreCell": (self.writers, self.store_cell),
            "StoreEven": (self.writers, self.store_even),
            "UnlockWrite": (self.writers, self.unlock_write),
            "Kill": (sorted(config.mortal), self.kill),
            "Freed": (sorted(config.mortal), self.freed),
            "SeeBefore": (self.readers, self.see_before),
            "CopyCell": (self.readers, self.copy_cell),
            "SeeAfter": (self.readers, self.see_after),
            "Prove": (self.readers, self.prove),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.actions["Flush"] = self.flush
        self.invariants = {"NoTornRead": self.no_torn_read, "TornOnlyByDeath": self.torn_only_by_death}
        self.action_properties = {}
        self.sometimes = {
            "a read was consistent": lambda s: any(s.pc[p] == "got" and s.copy[p][0] for p in self.readers),
            "a read meets a writer": lambda s: "odd" in s.pc,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was written."""
        size = self.config.writers + self.config.readers
        nothing: tuple[tuple[int, ...], ...] = ((),) * size
        left = (self.config.writes,) * self.config.writers + (0,) * self.config.readers
        pc = ("idle",) * self.config.writers + ("before",) * self.config.readers
        mem = (0,) * (1 + self.config.cells)
        yield State(mem, ((),) * size, NOBODY, pc, (0,) * size, (0,) * size, nothing, left, 0)

    # -- writing -------------------------------------------------------------------------------------------------

    def lock_write(self, s: State, p: int) -> State | None:
        """One writer at a time."""
        if s.pc[p] != "idle" or not s.left[p] or (self.guards.OneWriter and s.lock != NOBODY):
            return None
        number = s.writes + 1
        lock = p if self.guards.OneWriter else NOBODY
        return s._replace(lock=lock, pc=replaced(s.pc, p, "begin"), next=replaced(s.next, p, number), writes=number)

    def load_seq(self, s: State, p: int) -> State | None:
        """Odd: the writer before was killed in the middle of its write."""
        if s.pc[p] != "begin":
            return None
        pc = "odd store" if self.guards.Sequenced else "fill"
        return s._replace(pc=replaced(s.pc, p, pc), seen=replaced(s.seen, p, _load(s, p, SEQ)))

    def store_odd(self, s: State, p: int) -> State | None:
        """From here on no read is accepted."""
        if s.pc[p] != "odd store":
            return None
        odd = s.seen[p] + (1 - s.seen[p] % 2 if self.guards.BeginsOdd else 1)
        return _put(s, p, SEQ, odd)._replace(pc=replaced(s.pc, p, "fill"), seen=replaced(s.seen, p, odd))

    def store_cell(self, s: State, p: int) -> State | None:
        """The next cell."""
        done = len(s.copy[p])
        if s.pc[p] != "fill" or done == self.config.cells:
            return None
        return _put(s, p, 1 + done, s.next[p])._replace(copy=replaced(s.copy, p, (*s.copy[p], s.next[p])))

    def store_even(self, s: State, p: int) -> State | None:
        """Everything is written."""
        if s.pc[p] != "fill" or len(s.copy[p]) < self.config.cells:
            return None
        after = _put(s, p, SEQ, s.seen[p] + 1) if self.guards.Sequenced else s
        return after._replace(pc=replaced(s.pc, p, "unlock"), copy=replaced(s.copy, p, ()), seen=replaced(s.seen, p, 0))

    def unlock_write(self, s: State, p: int) -> State | None:
        """A system call: a full barrier."""
        if s.pc[p] != "unlock" or s.buf[p]:
            return None
        left = replaced(s.left, p, s.left[p] - 1)
        return s._replace(lock=NOBODY, pc=replaced(s.pc, p, "idle"), next=replaced(s.next, p, 0), left=left)

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL."""
        if s.pc[p] == "dead":
            return None
        return s._replace(
            pc=replaced(s.pc, p, "dead"),
            next=replaced(s.next, p, 0),
            seen=replaced(s.seen, p, 0),
            copy=replaced(s.copy, p, ()),
        )

    def freed(self, s: State, p: int) -> State | None:
        """The kernel frees the lock of the dead, after its stores have reached memory."""
        return s._replace(lock=NOBODY) if s.pc[p] == "dead" and s.lock == p and not s.buf[p] else None

    # -- reading -------------------------------------------------------------------------------------------------

    def see_before(self, s: State, p: int) -> State | None:
        """Odd: somebody writes, or was killed while he wrote."""
        if s.pc[p] not in ("before", "odd"):
            return None
        odd = self.guards.Sequenced and s.mem[SEQ] % 2 == 1
        if odd and s.pc[p] == "odd":
            return None  # it polls; nothing has changed
        seen = s.mem[SEQ] if self.guards.Sequenced and not odd else 0
        return s._replace(pc=replaced(s.pc, p, "odd" if odd else "copy"), seen=replaced(s.seen, p, seen))

    def copy_cell(self, s: State, p: int) -> State | None:
        """The next cell."""
        done = len(s.copy[p])
        if s.pc[p] != "copy" or done == self.config.cells:
            return None
        return s._replace(copy=replaced(s.copy, p, (*s.copy[p], s.mem[1 + done])))

    def see_after(self, s: State, p: int) -> State | None:
        """The number is still the same, so nobody has written: accepted. Otherwise once more."""
        if s.pc[p] != "copy" or len(s.copy[p]) < self.config.cells:
            return None
        if not self.guards.Sequenced or s.mem[SEQ] == s.seen[p]:
            return s._replace(pc=replaced(s.pc, p, "got"), seen=replaced(s.seen, p, 0))
        return s._replace(pc=replaced(s.pc, p, "before"), seen=replaced(s.seen, p, 0), copy=replaced(s.copy, p, ()))

    def prove(self, s: State, p: int) -> State | None:
        """The writers' lock is free, and the number still odd: its writer is dead, and no read can succeed."""
        if s.pc[p] != "odd" or s.lock != NOBODY or not self.guards.ProvesDeath:
            return None
        return s._replace(pc=replaced(s.pc, p, "torn" if s.mem[SEQ] % 2 else "before"))

    def flush(self, s: State) -> Iterator[Step[State]]:
        """The oldest store reaches memory; without InOrder, any one whose word has no older store."""
        for p in self.writers:
            for at, (word, value) in enumerate(s.buf[p]):
                older = s.buf[p][:at]
                if at == 0 or (not self.guards.InOrder and all(other != word for other, _ in older)):
                    rest = (*older, *s.buf[p][at + 1 :])
                    yield (
                        Action("Flush", (("process", p), ("at", at))),
                        s._replace(mem=replaced(s.mem, word, value), buf=replaced(s.buf, p, rest)),
                    )

    # -- claims --------------------------------------------------------------------------------------------------

    def no_torn_read(self, s: State) -> bool:
        """All cells that a read returns are of one write."""
        return all(len(set(s.copy[p])) <= 1 for p in self.readers if s.pc[p] == "got")

    def torn_only_by_death(self, s: State) -> bool:
        """A read says that a writer died only if one did."""
        return "torn" not in s.pc or "dead" in s.pc


def _load(s: State, p: int, word: int) -> int:
    own = [value for at, value in s.buf[p] if at == word]
    return own[-1] if own else s.mem[word]


def _put(s: State, p: int, word: int, value: int) -> State:
    return s._replace(buf=replaced(s.buf, p, (*s.buf[p], (word, value))))


def liveness(model: Sequence) -> list[LeadsTo[State]]:
    """Return what must happen in the end: a read gets the words of one write, or the news of a killed writer."""
    return [LeadsTo("ReadsEnd", lambda s: True, lambda s: all(s.pc[p] in ("got", "torn") for p in model.readers))]


def fairness(model: Sequence) -> list[Fair[State]]:
    """Return the assumptions: everybody goes on, who is not killed."""
    names = tuple(name for name in model.actions if name not in ("Flush", "Kill"))
    found = [Fair(f"process {p}", partial(_is, names, p)) for p in (*model.writers, *model.readers)]
    return [*found, *(Fair(f"Flush {p}", partial(_is, ("Flush",), p)) for p in model.writers)]


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
