"""A lock between processes that is a file, which may be removed: twin of ``tla/word/IpcLock.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import NamedTuple

from models.guards import Removable
from models.kernel import Action, Model, each, replaced
from models.liveness import Fair, LeadsTo

__all__ = ("Config", "Guards", "IpcLock", "State", "fairness", "liveness")

NONE = 0
NO, SHARED, EXCLUSIVE = "no", "shared", "exclusive"


class State(NamedTuple):
    """All variables of the spec. Files are numbered as they are made; 0 is none."""

    path: int
    made: int
    fd: tuple[int, ...]
    locked: tuple[str, ...]
    pc: tuple[str, ...]
    left: tuple[int, ...]


@dataclass(frozen=True)
class Guards(Removable):
    """The removable guards of the contract, under its names. Everything True is the fixed variant."""

    ChecksFile: bool = True
    RemovesLocked: bool = True


@dataclass(frozen=True)
class Config:
    """Constants of the spec. ``sharers`` lock shared, the others exclusively; ``clearers`` may clear."""

    processes: int = 2
    calls: int = 1
    sharers: frozenset[int] = frozenset()
    clearers: frozenset[int] = frozenset({0})
    mortal: frozenset[int] = frozenset()
    guards: Guards = field(default_factory=Guards)

    def constants(self) -> dict[str, int | frozenset[int] | bool]:
        """Return the constants under their names in the spec."""
        return {
            "P": self.processes,
            "Calls": self.calls,
            "Sharers": self.sharers,
            "Clearers": self.clearers,
            "Mortal": self.mortal,
            **asdict(self.guards),
        }


class IpcLock(Model[State]):
    """Next-state relation. Each method is one step of one process, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.guards = config.guards
        self.name = config.guards.title("word.lock")
        everybody, clearers = range(config.processes), sorted(config.clearers)
        steps: dict[str, tuple[Iterable[int], Callable[[State, int], State | None]]] = {
            "Open": (everybody, self.open),
            "Take": (everybody, self.take),
            "CheckFile": (everybody, self.check_file),
            "Release": (everybody, self.release),
            "BeginClear": (clearers, self.begin_clear),
            "TryTake": (clearers, self.try_take),
            "Look": (clearers, self.look),
            "Remove": (clearers, self.remove),
            "CloseFile": (clearers, self.close_file),
            "Kill": (sorted(config.mortal), self.kill),
        }
        self.actions = {name: partial(each, name, "process", who, step) for name, (who, step) in steps.items()}
        self.invariants = {"Exclusion": self.exclusion}
        self.action_properties = {}
        self.sometimes = {
            "a lock is held": lambda s: "holds" in s.pc,
            "a file is removed": lambda s: s.path == NONE and s.made > 0,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """There is no file."""
        size = self.config.processes
        yield State(NONE, 0, (NONE,) * size, (NO,) * size, ("idle",) * size, (self.config.calls,) * size)

    def free(self, s: State, p: int, kind: str) -> bool:
        """The kernel would give p the lock of its file."""
        others = [s.locked[q] for q, fd in enumerate(s.fd) if q != p and fd == s.fd[p] and s.locked[q] != NO]
        return not others or (kind == SHARED and EXCLUSIVE not in others)

    def kind(self, p: int) -> str:
        """How p takes the lock."""
        return SHARED if p in self.config.sharers else EXCLUSIVE

    def open(self, s: State, p: int) -> State | None:
        """The file is opened, and made if there is none: one system call."""
        if s.pc[p] not in ("idle", "again") or not s.left[p]:
            return None
        made = s.made if s.path else s.made + 1
        return s._replace(
            path=s.path or made, made=made, fd=replaced(s.fd, p, s.path or made), pc=replaced(s.pc, p, "take")
        )

    def take(self, s: State, p: int) -> State | None:
        """The kernel gives the lock."""
        if s.pc[p] != "take" or not self.free(s, p, self.kind(p)):
            return None
        pc = "check" if self.guards.ChecksFile else "holds"
        return s._replace(locked=replaced(s.locked, p, self.kind(p)), pc=replaced(s.pc, p, pc))

    def check_file(self, s: State, p: int) -> State | None:
        """The name must still be this file's. If not, it starts again."""
        if s.pc[p] != "check":
            return None
        if s.path == s.fd[p]:
            return s._replace(pc=replaced(s.pc, p, "holds"))
        return _closed(s, p)._replace(pc=replaced(s.pc, p, "again"))

    def release(self, s: State, p: int) -> State | None:
        """The critical section is over."""
        if s.pc[p] != "holds":
            return None
        return _closed(s, p)._replace(pc=replaced(s.pc, p, "idle"), left=replaced(s.left, p, s.left[p] - 1))

    def begin_clear(self, s: State, p: int) -> State | None:
        """A clear, by a holder (whose critical section ends here) or by anybody else."""
        if s.pc[p] not in ("idle", "holds") or not s.path or not s.left[p]:
            return None
        left = replaced(s.left, p, s.left[p] - 1)
        if not self.guards.RemovesLocked:
            return s._replace(fd=replaced(s.fd, p, s.fd[p] or s.path), pc=replaced(s.pc, p, "remove"), left=left)
        if s.pc[p] == "holds" and p not in self.config.sharers:
            return s._replace(pc=replaced(s.pc, p, "look"), left=left)
        locked = replaced(s.locked, p, NO)
        return s._replace(
            fd=replaced(s.fd, p, s.fd[p] or s.path), locked=locked, pc=replaced(s.pc, p, "try"), left=left
        )

    def try_take(self, s: State, p: int) -> State | None:
        """It needs the lock, exclusively and at once. If somebody has it, the file stays."""
        if s.pc[p] != "try":
            return None
        free = self.free(s, p, EXCLUSIVE)
        locked = replaced(s.locked, p, EXCLUSIVE if free else NO)
        return s._replace(locked=locked, pc=replaced(s.pc, p, "look" if free else "close"))

    def look(self, s: State, p: int) -> State | None:
        """The name must still be this file's: another one is not ours to remove."""
        return (
            s._replace(pc=replaced(s.pc, p, "remove" if s.path == s.fd[p] else "close")) if s.pc[p] == "look" else None
        )

    def remove(self, s: State, p: int) -> State | None:
        """The name is gone."""
        return s._replace(path=NONE, pc=replaced(s.pc, p, "close")) if s.pc[p] == "remove" else None

    def close_file(self, s: State, p: int) -> State | None:
        """The clear is over."""
        return _closed(s, p)._replace(pc=replaced(s.pc, p, "idle")) if s.pc[p] == "close" else None

    def kill(self, s: State, p: int) -> State | None:
        """SIGKILL: the kernel closes the file, and so frees the lock."""
        return (
            None
            if s.pc[p] == "dead"
            else _closed(s, p)._replace(pc=replaced(s.pc, p, "dead"), left=replaced(s.left, p, 0))
        )

    def exclusion(self, s: State) -> bool:
        """Two hold the lock only if both share it."""
        holders = [p for p, pc in enumerate(s.pc) if pc == "holds"]
        return len(holders) < 2 or all(p in self.config.sharers for p in holders)


def _closed(s: State, p: int) -> State:
    return s._replace(fd=replaced(s.fd, p, NONE), locked=replaced(s.locked, p, NO))


def liveness(model: IpcLock) -> list[LeadsTo[State]]:
    """Return what must happen in the end: who asks for the lock gets it, also if holders are killed."""
    return [
        LeadsTo(f"Gets{p}", lambda s, p=p: s.pc[p] == "take", lambda s, p=p: s.pc[p] in ("holds", "dead"))  # type: ignore[misc]
        for p in range(model.config.processes)
    ]


def fairness(model: IpcLock) -> list[Fair[State]]:
    """Return the assumptions: everybody goes on who is not killed, and a lock is given who asks again and again."""
    names = tuple(name for name in model.actions if name not in ("Kill", "BeginClear", "Take"))
    found = [Fair(f"process {p}", partial(_is, names, p)) for p in range(model.config.processes)]
    takes = (Fair(f"Take {p}", partial(_is, ("Take",), p), strong=True) for p in range(model.config.processes))
    return [*found, *takes]


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
