"""Adding to a shared word, and comparing and setting it, under a lock: twin of ``tla/word/Counter.tla``.

Without the guard Locked it is what ``value[0] += 1`` on shared memory is: a load, and later a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from models.kernel import Model, each, replaced

__all__ = ("Config", "Counter", "State")

NOBODY = -1


class State(NamedTuple):
    """All variables of the spec."""

    value: int
    lock: int
    pc: tuple[str, ...]
    old: tuple[int, ...]
    left: tuple[int, ...]
    added: int


@dataclass(frozen=True)
class Config:
    """Constants of the spec. Processes 0 .. adders-1 add 1; the others set the value to 10 where it is 0."""

    adders: int = 2
    setters: int = 0
    adds: int = 1
    mortal: frozenset[int] = frozenset()
    locked: bool = True
    frees: bool = field(default=True)

    def without(self, *guards: str) -> Config:
        """Return this without some of the guards of the contract."""
        if not set(guards) <= {"Locked", "DeathFrees"}:
            raise ValueError(f"there is no guard {' or '.join(guards)}")
        return replace(
            self,
            locked=self.locked and "Locked" not in guards,
            frees=self.frees and "DeathFrees" not in guards,
        )

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "Adders": self.adders,
            "Comparers": self.setters,
            "Adds": self.adds,
            "Mortal": self.mortal,
            "Locked": self.locked,
            "DeathFrees": self.frees,
        }


class Counter(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        removed = [name for name, on in (("Locked", config.locked), ("DeathFrees", config.frees)) if not on]
        self.name = "word.add" + "".join(f" without {name}" for name in removed)
        everybody = range(config.adders + config.setters)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Lock": (everybody, self.lock),
            "LoadOld": (everybody, self.load_old),
            "StoreSum": (range(config.adders), self.store_sum),
            "StoreIf": (everybody[config.adders :], self.store_if),
            "Unlock": (everybody, self.unlock),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.invariants = {"NothingLost": lambda s: s.value == s.added, "Returns": self.returns}
        self.action_properties = {}
        self.sometimes = {"all is done": lambda s: all(pc in ("over", "dead") for pc in s.pc)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """The value is 0."""
        size = self.config.adders + self.config.setters
        left = (self.config.adds,) * self.config.adders + (1,) * self.config.setters
        yield State(0, NOBODY, ("idle",) * size, (0,) * size, left, 0)

    def lock(self, s: State, p: int) -> State | None:
        """The call begins: it has the lock."""
        if s.pc[p] != "idle" or (self.config.locked and s.lock != NOBODY):
            return None
        return s._replace(lock=p if self.config.locked else NOBODY, pc=replaced(s.pc, p, "load"))

    def load_old(self, s: State, p: int) -> State | None:
        """The value as it is."""
        if s.pc[p] != "load":
            return None
        differs = p >= self.config.adders and s.value != 0
        return s._replace(old=replaced(s.old, p, s.value), pc=replaced(s.pc, p, "unlock" if differs else "store"))

    def store_sum(self, s: State, p: int) -> State | None:
        """One store: whoever is killed before it has changed nothing, and after it everything."""
        if s.pc[p] != "store":
            return None
        return s._replace(value=s.old[p] + 1, added=s.added + 1, pc=replaced(s.pc, p, "unlock"))

    def store_if(self, s: State, p: int) -> State | None:
        """The value was the expected one, and still is."""
        if s.pc[p] != "store":
            return None
        return s._replace(value=10, added=s.added + 10, pc=replaced(s.pc, p, "unlock"))

    def unlock(self, s: State, p: int) -> State | None:
        """The call returns."""
        if s.pc[p] != "unlock":
            return None
        pc = "over" if s.left[p] == 1 else "idle"
        return s._replace(
            lock=NOBODY, pc=replaced(s.pc, p, pc), old=replaced(s.old, p, 0), left=replaced(s.left, p, s.left[p] - 1)
        )

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL: the kernel frees the lock."""
        if s.pc[p] == "dead":
            return None
        lock = NOBODY if s.lock == p and self.config.frees else s.lock
        return s._replace(
            lock=lock, pc=replaced(s.pc, p, "dead"), old=replaced(s.old, p, 0), left=replaced(s.left, p, 0)
        )

    def returns(self, s: State) -> bool:
        """Nobody waits for a lock that a dead process has."""
        return s.lock == NOBODY or s.pc[s.lock] != "dead"
