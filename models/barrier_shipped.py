"""The barriers as FastDeploy uses them: objects without owners, reset by some ranks after each pass.

The twin of ``tla/barrier/BarrierShipped.tla``. One step is one critical section of a barrier object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from models.kernel import Model, each, replaced

__all__ = ("RACES", "BarrierShipped", "Config", "Race", "State")

FILLING, DRAINING, RESETTING = "filling", "draining", "resetting"
WORK, WAIT, RESET, ERROR, GONE = "work", "wait", "reset", "error", "gone"


class State(NamedTuple):
    """All variables of the spec."""

    state: tuple[str, ...]
    inside: tuple[frozenset[int], ...]
    pc: tuple[str, ...]
    turn: tuple[int, ...]
    task: tuple[int, ...]
    alive: tuple[bool, ...]
    slipped: frozenset[int]
    ghost: bool
    mixed: bool


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped use works."""

    ranks: int = 2
    turns: int = 2
    max_tasks: int = 2
    resetters: frozenset[int] = frozenset({0})
    mortal: frozenset[int] = frozenset()
    killed_waiting: bool = False
    failing: frozenset[int] = frozenset()
    skippers: frozenset[int] = frozenset()

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "Turns": self.turns,
            "MaxTasks": self.max_tasks,
            "Resetters": self.resetters,
            "Mortal": self.mortal,
            "KilledWaiting": self.killed_waiting,
            "Failing": self.failing,
            "Skippers": self.skippers,
        }


class BarrierShipped(Model[State]):
    """Next-state relation. Each method is one step of one rank, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "barrier as shipped"
        steps: dict[str, Callable[[State, int], State | None]] = {
            "Arrive": self.arrive,
            "Release": self.release,
            "Leave": self.leave,
            "Reset": self.reset,
            "Recover": self.recover,
            "Fail": self.fail,
            "Skip": self.skip,
            "Kill": self.kill,
        }
        self.actions = {
            name: partial(each, name, "rank", range(self.config.ranks), step) for name, step in steps.items()
        }
        self.invariants = {
            "NobodyThrownOut": lambda s: ERROR not in s.pc,
            "NoGhostArrival": lambda s: not s.ghost,
            "SameTask": lambda s: not s.mixed,
        }
        self.action_properties = {}
        last = self.config.max_tasks + 1
        self.sometimes = {"every task is done": lambda s: all(number == last for number in s.task)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Everybody is about to begin the first task."""
        n, turns = self.config.ranks, self.config.turns
        nobody = frozenset[int]()
        return (
            State(
                (FILLING,) * turns,
                (nobody,) * turns,
                (WORK,) * n,
                (0,) * n,
                (1,) * n,
                (True,) * n,
                nobody,
                False,
                False,
            ),
        )

    def _may_arrive(self, s: State, r: int) -> bool:
        free = s.state[s.turn[r]] == FILLING
        return s.alive[r] and s.pc[r] == WORK and s.task[r] <= self.config.max_tasks and free

    def arrive(self, s: State, r: int) -> State | None:
        """A rank that is not the last waits."""
        b = s.turn[r]
        if not self._may_arrive(s, r) or len(s.inside[b]) >= self.config.ranks - 1:
            return None
        return s._replace(inside=replaced(s.inside, b, s.inside[b] | {r}), pc=replaced(s.pc, r, WAIT))

    def release(self, s: State, r: int) -> State | None:
        """The last rank goes on, and the others may leave."""
        b = s.turn[r]
        if not self._may_arrive(s, r) or len(s.inside[b]) != self.config.ranks - 1:
            return None
        after = s._replace(
            state=replaced(s.state, b, DRAINING if s.inside[b] else FILLING),
            ghost=s.ghost or not all(s.alive[q] for q in s.inside[b]),
            mixed=s.mixed or any(s.task[q] != s.task[r] for q in s.inside[b]),
        )
        return self._after_pass(after, r)

    def leave(self, s: State, r: int) -> State | None:
        """Who was released or thrown out leaves the barrier."""
        b = s.turn[r]
        if s.pc[r] != WAIT or s.state[b] == FILLING:
            return None
        left = s.inside[b] - {r}
        after = s._replace(inside=replaced(s.inside, b, left), state=s.state if left else replaced(s.state, b, FILLING))
        if not s.alive[r]:
            return after._replace(pc=replaced(s.pc, r, GONE))
        if s.state[b] == DRAINING:
            return self._after_pass(after, r)
        return after._replace(pc=replaced(s.pc, r, ERROR))

    def reset(self, s: State, r: int) -> State | None:
        """Who waits is thrown out."""
        if not s.alive[r] or s.pc[r] != RESET:
            return None
        b = s.turn[r]
        hits = bool(s.inside[b]) and s.state[b] == FILLING
        after = s._replace(state=replaced(s.state, b, RESETTING) if hits else s.state, pc=replaced(s.pc, r, WORK))
        return self._onward(after, r)

    def recover(self, s: State, r: int) -> State | None:
        """A rank that was thrown out gives up its task."""
        if not s.alive[r] or s.pc[r] != ERROR:
            return None
        return _abandon(s._replace(pc=replaced(s.pc, r, WORK)), r)

    def fail(self, s: State, r: int) -> State | None:
        """The work fails between two barriers."""
        if not self._may_slip(s, r, self.config.failing) or s.turn[r] == 0:
            return None
        return _abandon(s._replace(slipped=s.slipped | {r}), r)

    def skip(self, s: State, r: int) -> State | None:
        """A task is left out."""
        if not self._may_slip(s, r, self.config.skippers) or s.turn[r] or s.task[r] >= self.config.max_tasks:
            return None
        return _abandon(s._replace(slipped=s.slipped | {r}), r)

    def kill(self, s: State, r: int) -> State | None:
        """No barrier notices."""
        if r not in self.config.mortal or not s.alive[r] or self.config.killed_waiting != (s.pc[r] == WAIT):
            return None
        return s._replace(alive=replaced(s.alive, r, False))

    def _may_slip(self, s: State, r: int, who: frozenset[int]) -> bool:
        return s.alive[r] and r in who - s.slipped and s.pc[r] == WORK

    def _after_pass(self, s: State, r: int) -> State:
        if r in self.config.resetters:
            return s._replace(pc=replaced(s.pc, r, RESET))
        return self._onward(s._replace(pc=replaced(s.pc, r, WORK)), r)

    def _onward(self, s: State, r: int) -> State:
        if s.turn[r] + 1 < self.config.turns:
            return s._replace(turn=replaced(s.turn, r, s.turn[r] + 1))
        return _abandon(s, r)


def _abandon(s: State, r: int) -> State:
    return s._replace(turn=replaced(s.turn, r, 0), task=replaced(s.task, r, s.task[r] + 1))


@dataclass(frozen=True)
class Race:
    """An environment in which a safety race shows, and the property that fails."""

    config: Config
    violates: str


_R = frozenset[int]

# The others (a wait that never returns) are liveness, and left to TLC.
RACES: dict[str, Race] = {
    "P4.2": Race(Config(turns=1), "NobodyThrownOut"),
    "P4.3": Race(Config(turns=1, resetters=_R({0, 1})), "NobodyThrownOut"),
    "G2": Race(Config(mortal=_R({1}), killed_waiting=True), "NoGhostArrival"),
    "B26": Race(Config(skippers=_R({0})), "SameTask"),
}
