"""The transfer loop as FastDeploy has it: rounds of barriers, a flag, a published pause, and counters.

The twin of ``tla/transfer/TransferShipped.tla``. One step is one call on a shared object, or one load or store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from models.kernel import Model, each, once, replaced

__all__ = ("Config", "State", "TransferShipped")

BARRIERS = ("barrier0", "barrier1", "barrier2", "barrier3")


class State(NamedTuple):
    """All variables of the spec."""

    queue: tuple[int, ...]
    mask: frozenset[int]
    flag: bool
    signal: bool
    told: tuple[bool, ...]
    active: tuple[bool, ...]
    inflight: tuple[int, ...]
    pc: tuple[str, ...]
    pool: tuple[str, ...]
    backlog: tuple[tuple[int, ...], ...]
    issued: int
    done: frozenset[int]
    dropped: frozenset[int]
    pausing: str
    pauses: int
    reset: bool
    erred: frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped steps work."""

    ranks: int = 2
    max_tasks: int = 1
    max_pauses: int = 1
    goes_on: bool = False
    local: bool = False
    early: bool = False
    slow: bool = False
    clears: bool = False
    resets: bool = False
    raisers: frozenset[int] = frozenset()
    faulty: frozenset[int] = frozenset()

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "MaxTasks": self.max_tasks,
            "MaxPauses": self.max_pauses,
            "GoesOn": self.goes_on,
            "Local": self.local,
            "Early": self.early,
            "Slow": self.slow,
            "Clears": self.clears,
            "Resets": self.resets,
            "Raisers": self.raisers,
            "Faulty": self.faulty,
        }


class TransferShipped(Model[State]):
    """Next-state relation. Each method is one step of a rank, or of somebody else; None when it is not enabled."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = "transfer as shipped"
        self.ranks = range(self.config.ranks)
        steps: dict[str, tuple[bool, Callable[..., State | None]]] = {
            "Top": (True, self.top),
            "Meet0": (False, partial(_meet, BARRIERS[0], "look")),
            "Look": (True, self.look),
            "Drain": (True, self.drain),
            "Wake": (True, self.wake),
            "Peek": (True, self.peek),
            "Meet1": (False, partial(_meet, BARRIERS[1], "read")),
            "Read": (True, self.read),
            "Fault": (True, self.fault),
            "Get": (True, self.get),
            "GetFails": (True, self.get_fails),
            "Meet2": (False, partial(_meet, BARRIERS[2], "top")),
            "Meet3": (False, partial(_meet, BARRIERS[3], "top")),
            "Begin": (True, self.begin),
            "MeetFirst": (False, self.meet_first),
            "Run": (True, self.run),
            "Raise": (True, self.raise_),
            "MeetSecond": (False, self.meet_second),
            "Issue": (False, self.issue),
            "Clear": (False, self.clear),
            "Tell": (True, self.tell),
            "Wait": (False, self.wait),
            "Paused": (False, self.paused),
            "Reset": (False, self.begin_reset),
            "ResetEnds": (False, self.reset_ends),
            "Resume": (False, self.resume),
        }
        self.actions = {
            name: partial(each, name, "rank", self.ranks, step) if of_rank else partial(once, name, step)
            for name, (of_rank, step) in steps.items()
        }
        self.invariants = {
            "InStep": in_step,
            "CountsTasks": counts_tasks,
            "SwapTogether": lambda s: not ("second" in s.pool and "dead" in s.pool),
            "NothingDropped": lambda s: not s.dropped,
            "PausedIsQuiet": lambda s: s.pausing != "paused" or not any(s.backlog),
            "NoHalfHead": self.no_half_head,
            "ResetCanEnd": lambda s: not (s.reset and s.pausing == "paused" and s.queue and not any(s.active)),
        }
        self.action_properties = {}
        most = self.config.max_tasks
        self.sometimes = {"every task was done": lambda s: len(s.done) == most}
        if self.config.max_pauses:
            self.sometimes["it was paused"] = lambda s: s.pausing == "paused"
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Every loop is at the top of its first round."""
        n, nobody = self.config.ranks, frozenset[int]()
        no = (False,) * n
        pools = (("top",) * n, ("idle",) * n, ((),) * n)
        return (State((), nobody, False, False, no, no, (0,) * n, *pools, 0, nobody, nobody, "idle", 0, False, nobody),)

    # -- the loop ------------------------------------------------------------------------------------------------

    def top(self, s: State, r: int) -> State | None:
        """Rank 0 publishes what its own process was told."""
        if s.pc[r] != "top":
            return None
        signal = s.told[0] if r == 0 and not self.config.local else s.signal
        return _go(s, r, BARRIERS[0])._replace(signal=signal)

    def look(self, s: State, r: int) -> State | None:
        """Is it paused?"""
        if s.pc[r] != "look":
            return None
        if s.signal:
            return _go(s, r, "drain")
        return _go(s, r, _onwards(r))._replace(active=replaced(s.active, r, True))

    def drain(self, s: State, r: int) -> State | None:
        """It waits until nothing runs."""
        if s.pc[r] != "drain" or s.inflight[r]:
            return None
        after = _go(s, r, _onwards(r) if self.config.goes_on else "sleep")
        return after._replace(active=replaced(s.active, r, False))

    def wake(self, s: State, r: int) -> State | None:
        """It has slept."""
        if s.pc[r] != "sleep" or ("look" in s.pc and not self.config.slow):
            return None
        return _go(s, r, "top")

    def peek(self, s: State, r: int) -> State | None:
        """Rank 0 looks whether there are tasks."""
        return _go(s, r, BARRIERS[1])._replace(flag=s.flag or bool(s.queue)) if s.pc[r] == "peek" else None

    def read(self, s: State, r: int) -> State | None:
        """Are there tasks? The earlier texts count before they have one."""
        if s.pc[r] != "read":
            return None
        counts = s.flag and not self.config.goes_on
        inflight = replaced(s.inflight, r, s.inflight[r] + 1) if counts else s.inflight
        return _go(s, r, "get" if s.flag else BARRIERS[2])._replace(inflight=inflight)

    def fault(self, s: State, r: int) -> State | None:
        """An error that only this rank meets."""
        if r not in self.config.faulty - s.erred or s.pc[r] != "read":
            return None
        return _go(s, r, "top")._replace(erred=s.erred | {r})

    def held(self, s: State, r: int) -> bool:
        """In the first text a rank that was told to pause does not read."""
        return self.config.local and s.told[r]

    def get(self, s: State, r: int) -> State | None:
        """It reads a task, and submits it or drops it."""
        if s.pc[r] != "get" or self.held(s, r) or not s.queue or r in s.mask:
            return None
        last = len(s.mask | {r}) == self.config.ranks
        after = s._replace(
            mask=frozenset() if last else s.mask | {r},
            queue=s.queue[1:] if last else s.queue,
            flag=s.flag and not last,
        )
        if self.config.goes_on and s.signal:
            return _go(after, r, "top")._replace(dropped=s.dropped | {s.queue[0]})
        inflight = replaced(s.inflight, r, s.inflight[r] + 1) if self.config.goes_on else s.inflight
        backlog = replaced(s.backlog, r, (*s.backlog[r], s.queue[0]))
        return _go(after, r, BARRIERS[3])._replace(inflight=inflight, backlog=backlog)

    def get_fails(self, s: State, r: int) -> State | None:
        """There is none for this rank."""
        if s.pc[r] != "get" or self.held(s, r) or (s.queue and r not in s.mask):
            return None
        return _go(s, r, "top")

    # -- the threads that do the tasks ---------------------------------------------------------------------------

    def begin(self, s: State, r: int) -> State | None:
        """A thread begins a task."""
        return s._replace(pool=replaced(s.pool, r, "first")) if s.pool[r] == "idle" and s.backlog[r] else None

    def meet_first(self, s: State) -> State | None:
        """All have begun."""
        return s._replace(pool=("run",) * len(s.pool)) if set(s.pool) == {"first"} else None

    def run(self, s: State, r: int) -> State | None:
        """The transfer of one rank."""
        return s._replace(pool=replaced(s.pool, r, "second")) if s.pool[r] == "run" else None

    def raise_(self, s: State, r: int) -> State | None:
        """It raises, which ends the thread."""
        if r not in self.config.raisers - s.erred or s.pool[r] != "run":
            return None
        return s._replace(pool=replaced(s.pool, r, "dead"), erred=s.erred | {r})

    def meet_second(self, s: State) -> State | None:
        """All have done it; rank 0 posts the result."""
        if set(s.pool) != {"second"}:
            return None
        return s._replace(
            pool=("idle",) * len(s.pool),
            done=s.done | {s.backlog[0][0]},
            backlog=tuple(tasks[1:] for tasks in s.backlog),
            inflight=tuple(count - 1 for count in s.inflight),
        )

    # -- the prefix cache, and who pauses ------------------------------------------------------------------------

    def issue(self, s: State) -> State | None:
        """A task is queued."""
        if s.issued >= self.config.max_tasks or s.mask:
            return None
        return s._replace(issued=s.issued + 1, queue=(*s.queue, s.issued + 1))

    def clear(self, s: State) -> State | None:
        """The queue is cleared."""
        return s._replace(queue=()) if self.config.clears and not s.mask and s.queue else None

    def tell(self, s: State, r: int) -> State | None:
        """The process of a rank is told to pause."""
        if s.told[r] or s.pausing != "idle" or s.pauses >= self.config.max_pauses:
            return None
        return s._replace(told=replaced(s.told, r, True)) if self.config.early or all(s.active) else None

    def wait(self, s: State) -> State | None:
        """All were told."""
        if s.pausing != "idle" or s.pauses >= self.config.max_pauses or not all(s.told):
            return None
        return s._replace(pausing="wait", pauses=s.pauses + 1)

    def paused(self, s: State) -> State | None:
        """No word says that a rank is active."""
        return s._replace(pausing="paused") if s.pausing == "wait" and not any(s.active) else None

    def begin_reset(self, s: State) -> State | None:
        """The prefix cache waits for its tasks."""
        return s._replace(reset=True) if self.config.resets and s.pausing == "paused" and not s.reset else None

    def reset_ends(self, s: State) -> State | None:
        """All of them are done."""
        return s._replace(reset=False) if s.reset and len(s.done) == s.issued else None

    def resume(self, s: State) -> State | None:
        """The pause ends."""
        if s.pausing != "paused" or s.reset:
            return None
        return s._replace(pausing="idle", told=(False,) * len(s.told))

    def no_half_head(self, s: State) -> bool:
        """B10: no rank is held by its pause before a task that another has read."""
        return not any(
            s.pc[r] == "get" and self.held(s, r) and s.mask and r not in s.mask for r in range(self.config.ranks)
        )


def in_step(s: State) -> bool:
    """P5.1, P5.2, P5.7: the loops do not all wait, at different barriers."""
    return not all(pc in BARRIERS for pc in s.pc) or len(set(s.pc)) == 1


def counts_tasks(s: State) -> bool:
    """P5.3: what is counted has been submitted and has not ended, when no read is under way."""
    rows = zip(s.pc, s.inflight, s.backlog, strict=True)
    return all(count == len(tasks) for pc, count, tasks in rows if pc in ("top", BARRIERS[0]))


def _meet(barrier: str, then: str, s: State) -> State | None:
    return s._replace(pc=(then,) * len(s.pc)) if set(s.pc) == {barrier} else None


def _go(s: State, r: int, label: str) -> State:
    return s._replace(pc=replaced(s.pc, r, label))


def _onwards(r: int) -> str:
    return "peek" if r == 0 else BARRIERS[1]
