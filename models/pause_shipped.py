"""Pausing the transfer loops as FastDeploy's pull request 6202 does it. The twin of ``tla/pause/PauseShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced

__all__ = ("RACES", "Config", "PauseShipped", "Race", "State")

NOT_LOADED = -1


class State(NamedTuple):
    """All variables of the spec."""

    pc: tuple[str, ...]
    sig: bool
    flag: tuple[bool, ...]
    slot: tuple[bool, ...]
    counter: tuple[int, ...]
    mine: tuple[int, ...]
    pooled: tuple[int, ...]
    queued: tuple[int, ...]
    jobs: tuple[int, ...]
    queue: int
    read: frozenset[int]
    more: bool
    control: str


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped protocol works."""

    ranks: int = 2
    tasks: int = 1
    clears: bool = False
    mortal: frozenset[int] = frozenset()
    atomic: bool = True
    one_branch: bool = True
    counts_after: bool = True
    starts_active: bool = True
    answers: bool = True
    reads_slots: bool = True
    agrees: bool = True
    counts_queued: bool = True

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxTasks": self.tasks,
            "Clears": self.clears,
            "Mortal": self.mortal,
            "Atomic": self.atomic,
            "OneBranch": self.one_branch,
            "CountsAfter": self.counts_after,
            "StartsActive": self.starts_active,
            "Answers": self.answers,
            "ReadsSlots": self.reads_slots,
            "Agrees": self.agrees,
            "CountsQueued": self.counts_queued,
        }


class PauseShipped(Model[State]):
    """Next-state relation. Each method is one step, or None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config = config or Config()
        self.name = "pause as shipped"
        self.ranks = range(config.ranks)
        of_rank: dict[str, Callable[[State, int], State | None]] = {
            "Top": self.top,
            "Look": self.look,
            "Drain": self.drain,
            "CountLoad": self.count_load,
            "CountStore": self.count_store,
            "Get": self.get,
            "Kill": self.kill,
            "Start": self.start,
            "EndLoad": self.end_load,
            "EndStore": self.end_store,
            "SetFlag": self.set_flag,
        }
        alone: dict[str, Callable[[State], State | None]] = {
            "Meet0": lambda s: self._meet(s, "meet 0", "look"),
            "Meet1": lambda s: self._meet(s, "meet 1", self._takes if s.more else "top"),
            "Meet3": lambda s: self._meet(s, "meet 3", "top"),
            "CallPause": lambda s: s._replace(control="pausing") if s.control == "run" else None,
            "PauseReturns": self.pause_returns,
            "CallResume": self.call_resume,
            "ResumeReturns": lambda s: s._replace(control="done") if s.control == "resuming" and all(s.slot) else None,
            "Clear": self.clear,
        }
        self.actions = {name: partial(each, name, "rank", self.ranks, step) for name, step in of_rank.items()}
        self.actions |= {name: partial(once, name, step) for name, step in alone.items()}
        self.invariants = {
            "CountExact": self._count_exact,
            "PausedMeansStill": lambda s: s.control != "paused" or not any((*s.jobs, *s.queued)),
            "PausedInStep": lambda s: s.control != "paused" or not s.read,
            "SameRound": lambda s: not {"meet 0", "meet 1"} <= set(s.pc),
        }
        self.action_properties = {}
        self.sometimes = {
            "it was paused and resumed": lambda s: s.control == "done",
            "a pause waits for a task": lambda s: s.control == "pausing" and any(s.jobs),
        }
        self.sometimes_steps = {}
        self._takes = "get" if config.counts_after else "count"
        self._ends = "meet 3" if config.agrees else "top"

    def initial(self) -> Iterable[State]:
        """All loops begin their first round."""
        n = self.config.ranks
        none = (NOT_LOADED,) * n
        return (
            State(
                pc=("top",) * n,
                sig=False,
                flag=(False,) * n,
                slot=(self.config.starts_active,) * n,
                counter=(0,) * n,
                mine=none,
                pooled=none,
                queued=(0,) * n,
                jobs=(0,) * n,
                queue=self.config.tasks,
                read=frozenset(),
                more=False,
                control="run",
            ),
        )

    def _count_exact(self, s: State) -> bool:
        return all(
            s.counter[r] == s.jobs[r] + (s.pc[r] == "get" and not self.config.counts_after)
            for r in self.ranks
            if s.pc[r] != "dead" and s.mine[r] == s.pooled[r] == NOT_LOADED
        )

    # -- the loop of a rank ---------------------------------------------------------------------------------------

    def top(self, s: State, r: int) -> State | None:
        """A round begins; rank 0 publishes."""
        if r == 0 and self.config.one_branch and "look" in s.pc:
            return None
        return _when(s, r, "top", "meet 0" if self.config.agrees else "look", sig=s.flag[0] if r == 0 else s.sig)

    def _meet(self, s: State, at: str, to: str) -> State | None:
        return s._replace(pc=(to,) * len(s.pc)) if set(s.pc) == {at} else None

    def look(self, s: State, r: int) -> State | None:
        """The rank reads the decision; one that is active says so."""
        if s.sig if self.config.agrees else s.flag[r]:
            return _when(s, r, "look", "drain")
        alone = self._takes if s.queue > 0 and r not in s.read else "top"
        more = s.queue > 0 if r == 0 else s.more
        return _when(s, r, "look", "meet 1" if self.config.agrees else alone, slot=replaced(s.slot, r, True), more=more)

    def drain(self, s: State, r: int) -> State | None:
        """In a pause: its own tasks have ended."""
        return _when(s, r, "drain", "top", slot=replaced(s.slot, r, False)) if s.counter[r] == 0 else None

    def count_load(self, s: State, r: int) -> State | None:
        """The loop loads its counter."""
        if self.config.atomic or s.mine[r] != NOT_LOADED:
            return None
        return _when(s, r, "count", "count", mine=replaced(s.mine, r, s.counter[r]))

    def count_store(self, s: State, r: int) -> State | None:
        """The loop stores its counter."""
        if not self.config.atomic and s.mine[r] == NOT_LOADED:
            return None
        value = (s.counter[r] if self.config.atomic else s.mine[r]) + self.config.counts_queued
        changed = {"counter": replaced(s.counter, r, value), "mine": replaced(s.mine, r, NOT_LOADED)}
        if self.config.counts_after:
            return _when(s, r, "count", self._ends, **changed, **self._submit(s, r))
        return _when(s, r, "count", "get", **changed)

    def get(self, s: State, r: int) -> State | None:
        """The rank takes the first task. There may be none, after a clear."""
        if s.queue == 0 or r in s.read:
            return _when(s, r, "get", "top")
        read = s.read | {r}
        last = len(read) == len(s.pc)
        taken: dict[str, Any] = {
            "read": frozenset() if last else read,
            "queue": s.queue - last,
            "more": s.more and not last,
        }
        if self.config.counts_after:
            return _when(s, r, "get", "count", **taken)
        return _when(s, r, "get", self._ends, **taken, **self._submit(s, r))

    def _submit(self, s: State, r: int) -> dict[str, Any]:
        if self.config.counts_queued:
            return {"jobs": replaced(s.jobs, r, s.jobs[r] + 1)}
        return {"queued": replaced(s.queued, r, s.queued[r] + 1)}

    def kill(self, s: State, r: int) -> State | None:
        """The process dies, and its tasks with it. Its slot stays as it is."""
        if r not in self.config.mortal or s.pc[r] == "dead":
            return None
        slot = replaced(s.slot, r, False) if self.config.answers else s.slot
        return s._replace(
            pc=replaced(s.pc, r, "dead"), jobs=replaced(s.jobs, r, 0), queued=replaced(s.queued, r, 0), slot=slot
        )

    # -- the pool -------------------------------------------------------------------------------------------------

    def start(self, s: State, r: int) -> State | None:
        """A task that was not counted starts."""
        if s.queued[r] == 0:
            return None
        return s._replace(
            queued=replaced(s.queued, r, s.queued[r] - 1),
            jobs=replaced(s.jobs, r, s.jobs[r] + 1),
            counter=replaced(s.counter, r, s.counter[r] + 1),
        )

    def end_load(self, s: State, r: int) -> State | None:
        """A task has ended; its thread loads the counter."""
        if self.config.atomic or s.jobs[r] == 0 or s.pooled[r] != NOT_LOADED:
            return None
        return s._replace(pooled=replaced(s.pooled, r, s.counter[r]))

    def end_store(self, s: State, r: int) -> State | None:
        """Its thread stores the counter."""
        if s.jobs[r] == 0 or (not self.config.atomic and s.pooled[r] == NOT_LOADED):
            return None
        value = (s.counter[r] if self.config.atomic else s.pooled[r]) - 1
        return s._replace(
            counter=replaced(s.counter, r, value),
            jobs=replaced(s.jobs, r, s.jobs[r] - 1),
            pooled=replaced(s.pooled, r, NOT_LOADED),
        )

    # -- the control threads --------------------------------------------------------------------------------------

    def set_flag(self, s: State, r: int) -> State | None:
        """A rank's control thread says that there is a pause."""
        may = s.control == "pausing" and not s.flag[r]
        return s._replace(flag=replaced(s.flag, r, True)) if may else None

    def pause_returns(self, s: State) -> State | None:
        """The control threads see that nothing runs."""
        still = not any(s.slot) if self.config.reads_slots else not any(s.counter)
        return s._replace(control="paused") if s.control == "pausing" and all(s.flag) and still else None

    def call_resume(self, s: State) -> State | None:
        """The pause ends."""
        return s._replace(control="resuming", flag=(False,) * len(s.flag)) if s.control == "paused" else None

    def clear(self, s: State) -> State | None:
        """Somebody empties the queue."""
        return s._replace(queue=0, read=frozenset()) if self.config.clears and s.queue > 0 else None


def _when(s: State, r: int, at: str, to: str, **change: Any) -> State | None:
    return s._replace(pc=replaced(s.pc, r, to), **change) if s.pc[r] == at else None


@dataclass(frozen=True)
class Race:
    """A safety race: an environment in which it shows, and the property that fails."""

    config: Config
    violates: str


_ONE = Config(ranks=1)

# P6.3 (a killed rank's slot) is liveness, and left to TLC.
RACES: dict[str, Race] = {
    "B28": Race(replace(_ONE, atomic=False, tasks=2), "CountExact"),
    "P5.1": Race(Config(one_branch=False, tasks=0), "SameRound"),
    "P5.3": Race(replace(_ONE, counts_after=False, clears=True), "CountExact"),
    "P5.9": Race(replace(_ONE, starts_active=False), "PausedMeansStill"),
    "B29": Race(replace(_ONE, reads_slots=False), "PausedMeansStill"),
    "B30": Race(Config(agrees=False), "PausedInStep"),
    "B43": Race(replace(_ONE, counts_queued=False), "PausedMeansStill"),
}
