"""The life of a segment as ``spec/signal.toml`` has it: one action for each system call that others can see.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from models import signal_properties as properties
from models.kernel import Action, Model, Step, each, replaced
from models.signal_create import Create, Place
from models.signal_state import NOBODY, NOTHING, REMOVED, Config, Guards, State, initial_state

__all__ = ("Config", "Guards", "Signal", "State")

Steps: TypeAlias = Iterator[Step[State]]
OneStep: TypeAlias = Callable[[State, int], State | None]


class Signal(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("signal")
        self.processes = range(self.config.processes)
        create = Create(self.config)
        self.actions = {
            "CallCreate": self.call_create,
            "CallClear": self.call_clear,
            "CallAttach": self._each("CallAttach", self.call_attach),
            "GiveUp": self._each("GiveUp", self.give_up),
            "Close": self.close,
            **{name: self._each(name, step) for name, step in create.steps().items()},
            "DropGuard": self._each("DropGuard", self.drop_guard),
            "Look": self._each("Look", self.look),
            "MarkGone": self._each("MarkGone", self.mark_gone),
            "Unlink": self._each("Unlink", self.unlink),
            "Open": self._each("Open", self.open),
            "ShareGuard": self._each("ShareGuard", self.share_guard),
            "Validate": self._each("Validate", self.validate),
            "Crash": self._each("Crash", self.crash),
            "Restart": self._each("Restart", self.restart),
            "ForeignCreate": self.foreign_create,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """There is no file."""
        return (initial_state(self.config),)

    def _each(self, name: str, step: OneStep) -> Callable[[State], Steps]:
        return partial(each, name, "process", self.processes, step)

    # -- calls ---------------------------------------------------------------------------------------------------

    def call_create(self, s: State) -> Steps:
        """A create begins, if a file is left for it."""
        if not Place(self.config, s).free:
            return
        for p in sorted(self.config.creators):
            if s.pc[p] != "idle":
                continue
            for insist in (False, True) if p in self.config.insisters else (False,):
                after = s._replace(pc=replaced(s.pc, p, "wait"), insist=replaced(s.insist, p, insist))
                yield Action("CallCreate", (("process", p), ("insist", int(insist)))), after

    def call_clear(self, s: State) -> Steps:
        """The owner clears."""
        for p in self.processes:
            for i in sorted(s.owned[p]) if s.pc[p] == "idle" else ():
                after = s._replace(pc=replaced(s.pc, p, "clear-wait"), seen=replaced(s.seen, p, i))
                yield Action("CallClear", (("process", p), ("file", i))), after

    def call_attach(self, s: State, p: int) -> State | None:
        """An attach begins."""
        if s.pc[p] != "idle" or p not in self.config.attachers:
            return None
        return s._replace(pc=replaced(s.pc, p, "open"))

    def give_up(self, s: State, p: int) -> State | None:
        """The wait for the guard has taken too long."""
        if s.pc[p] not in ("wait", "clear-wait", "share"):
            return None
        return _idle(s, p)

    def close(self, s: State) -> Steps:
        """A handle goes: an attached one first, then the owner's, with its lock."""
        for p in self.processes:
            files: Iterable[int] = ()
            if s.pc[p] == "idle":
                files = sorted(s.owned[p] | s.attached[p])
            elif s.pc[p] == "close":
                files = (s.seen[p],)
            for i in files:
                after = _idle(s, p)
                if s.pc[p] == "idle" and i in s.attached[p]:
                    after = after._replace(attached=replaced(s.attached, p, s.attached[p] - {i}))
                else:
                    lock = replaced(s.lock, i - 1, NOBODY) if s.lock[i - 1] == p else s.lock
                    after = after._replace(owned=replaced(s.owned, p, s.owned[p] - {i}), lock=lock)
                yield Action("Close", (("process", p), ("file", i))), after

    # -- the end of create, clear and the second look ----------------------------------------------------------------

    def drop_guard(self, s: State, p: int) -> State | None:
        """Whoever is inside comes out."""
        guard = NOBODY if s.guard == p else s.guard
        seen = s.seen[p]
        if s.pc[p] == "clear-leave":
            return s._replace(guard=guard, pc=replaced(s.pc, p, "close"))
        if s.pc[p] == "attach-leave":
            return s._replace(shared=s.shared - {p}, pc=replaced(s.pc, p, "check" if seen else "idle"))
        if s.pc[p] != "leave":
            return None
        stale = bool(seen) and seen not in s.owned[p] and s.lock[seen - 1] == p
        after = _idle(s, p)._replace(guard=guard, lock=replaced(s.lock, seen - 1, NOBODY) if stale else s.lock)
        if not self.guards.LockFirst and s.made[p]:
            return after._replace(pc=replaced(s.pc, p, "late-lock"))
        return after._replace(made=replaced(s.made, p, NOTHING))

    # -- clear ---------------------------------------------------------------------------------------------------

    def look(self, s: State, p: int) -> State | None:
        """Is the name still mine?"""
        if s.pc[p] != "look":
            return None
        if s.name != s.seen[p] and self.guards.InodeChecked:
            return s._replace(pc=replaced(s.pc, p, "clear-leave"))
        return s._replace(pc=replaced(s.pc, p, "mark" if self.guards.ClearMarks else "unlink"))

    def mark_gone(self, s: State, p: int) -> State | None:
        """Who holds the segment is told."""
        if s.pc[p] != "mark":
            return None
        return s._replace(mark=replaced(s.mark, s.seen[p] - 1, REMOVED), pc=replaced(s.pc, p, "unlink"))

    def unlink(self, s: State, p: int) -> State | None:
        """The name goes."""
        if s.pc[p] != "unlink":
            return None
        return s._replace(name=NOTHING, pc=replaced(s.pc, p, "clear-leave"))

    # -- attach --------------------------------------------------------------------------------------------------

    def open(self, s: State, p: int) -> State | None:
        """What is at the name?"""
        if s.pc[p] == "again":
            step = "attach-leave"
        elif s.pc[p] == "open":
            step = "check" if s.name else "share"
        else:
            return None
        return s._replace(seen=replaced(s.seen, p, s.name), pc=replaced(s.pc, p, step))

    def share_guard(self, s: State, p: int) -> State | None:
        """Nothing was there: no create may be under way when it looks again."""
        if s.pc[p] != "share" or s.guard != NOBODY:
            return None
        return s._replace(shared=s.shared | {p}, pc=replaced(s.pc, p, "again"))

    def validate(self, s: State, p: int) -> State | None:
        """A whole segment is attached."""
        if s.pc[p] != "check":
            return None
        file = s.seen[p]
        held = s.attached[p] | ({file} if s.content[file - 1] == "whole" else frozenset())
        return _idle(s, p)._replace(attached=replaced(s.attached, p, held))

    # -- environment -----------------------------------------------------------------------------------------------

    def crash(self, s: State, p: int) -> State | None:
        """The kernel takes back locks and handles; files and names stay."""
        if s.pc[p] == "dead" or p not in self.config.mortal:
            return None
        nothing = frozenset[int]()
        return _idle(s, p)._replace(
            pc=replaced(s.pc, p, "dead"),
            lock=tuple(NOBODY if holder == p else holder for holder in s.lock),
            guard=NOBODY if s.guard == p else s.guard,
            shared=s.shared - {p},
            made=replaced(s.made, p, NOTHING),
            owned=replaced(s.owned, p, nothing),
            attached=replaced(s.attached, p, nothing),
            crashed=True,
        )

    def restart(self, s: State, p: int) -> State | None:
        """A new incarnation."""
        return s._replace(pc=replaced(s.pc, p, "idle")) if s.pc[p] == "dead" else None

    def foreign_create(self, s: State) -> Steps:
        """Other software makes the name, once."""
        place = Place(self.config, s)
        if self.config.foreign and s.name == NOTHING and "foreign" not in s.content and place.free:
            after = s._replace(name=place.used + 1, content=replaced(s.content, place.used, "foreign"))
            yield Action("ForeignCreate"), after


def _idle(s: State, p: int) -> State:
    """The call of ``p`` is over."""
    return s._replace(
        pc=replaced(s.pc, p, "idle"), insist=replaced(s.insist, p, False), seen=replaced(s.seen, p, NOTHING)
    )
