"""The readiness protocol as ``spec/readiness.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

from models import readiness_properties as properties
from models.kernel import Action, Model, Step, each, replaced
from models.readiness_state import AWAY, DEAD, LIVE, LOST, Config, Guards, State, Waiting, initial_state

__all__ = ("Config", "Guards", "Readiness", "State", "Waiting")

Steps: TypeAlias = Iterator[Step[State]]


class Readiness(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("readiness")
        of_part: dict[str, Callable[[State, int], State | None]] = {
            "Join": self._join,
            "Crash": self._crash,
            "Cut": self._cut,
            "Fence": self._fence,
            "Leave": self._leave,
            "Ready": self._ready,
            "Fail": self._fail,
            "Withdraw": self._withdraw,
            "LateWord": self._late_word,
            "Age": self._age,
            "Beat": self._beat,
            "GhostBeat": self._ghost_beat,
            "Stall": self._stall,
            "Recover": self._recover,
        }
        of_wait: dict[str, Callable[[State, int], State | None]] = {
            "Complete": self._complete,
            "GiveUp": self._give_up,
            "Expire": self._expire,
        }
        self.actions = {
            **{name: partial(each, name, "p", self.config.there, step) for name, step in of_part.items()},
            "Wait": self.wait,
            **{name: partial(_each_wait, name, step) for name, step in of_wait.items()},
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        return (initial_state(self.config),)

    def fence(self, s: State) -> Steps:
        """The host notices that processes are gone."""
        return each("Fence", "p", self.config.there, self._fence, s)

    # -- life of the parts ---------------------------------------------------------------------------------------

    def _join(self, s: State, p: int) -> State | None:
        """A new process, which is not ready: it has said nothing."""
        full = self.config.max_inc is not None and s.inc[p] >= self.config.max_inc
        if s.status[p] not in (AWAY, LOST) or full:
            return None
        kept = s.said[p] if not self.guards.FenceResets and s.said[p] != "nothing" else "starting"
        return _of(
            s, p, status=LIVE, inc=s.inc[p] + 1, said=kept, stuck=False, stamps=s.stamps[p] & frozenset({s.inc[p]})
        )

    def _crash(self, s: State, p: int) -> State | None:
        """The process is gone; the host has not noticed."""
        return _of(s, p, status=DEAD, serves=0) if s.status[p] == LIVE and p in self.config.mortal else None

    def _cut(self, s: State, p: int) -> State | None:
        """The connection is gone, and the process runs on."""
        if s.status[p] != LIVE or p not in self.config.cuts or s.ghost[p]:
            return None
        return _of(s, p, status=DEAD, ghost=s.inc[p], serves=0)

    def _fence(self, s: State, p: int) -> State | None:
        """The host notices."""
        if s.status[p] != DEAD:
            return None
        said = "nothing" if self.guards.FenceResets else s.said[p]
        return _bereft(_of(s, p, status=LOST, said=said, stuck=False), p)

    def _leave(self, s: State, p: int) -> State | None:
        """The process ends in peace."""
        if s.status[p] != LIVE or p not in self.config.leavers:
            return None
        return _bereft(_of(s, p, status=AWAY, said="nothing", stuck=False, serves=0), p)

    # -- what a part says ----------------------------------------------------------------------------------------

    def _ready(self, s: State, p: int) -> State | None:
        """It serves from now on."""
        if s.status[p] != LIVE or s.said[p] != "starting":
            return None
        return _of(s, p, said="ready", stamps=s.stamps[p] | {s.inc[p]}, serves=s.inc[p])

    def _fail(self, s: State, p: int) -> State | None:
        """It cannot serve."""
        if s.status[p] != LIVE or p not in self.config.failing or s.said[p] not in ("starting", "ready"):
            return None
        return _of(s, p, said="failed", stuck=False, serves=0)

    def _withdraw(self, s: State, p: int) -> State | None:
        """It does not serve for a while, or tries again."""
        if s.status[p] != LIVE or p not in self.config.reloading or s.said[p] not in ("ready", "failed"):
            return None
        return _of(s, p, said="starting", stuck=False, serves=0)

    def _late_word(self, s: State, p: int) -> State | None:
        """A process that was fenced says "ready", and hears that it was."""
        if not s.ghost[p] or s.status[p] == DEAD:
            return None
        counts = not self.guards.WordsKeyed and s.status[p] == LIVE
        return _of(s, p, ghost=0, said="ready" if counts else s.said[p])

    # -- the loop of a ready part, and time ----------------------------------------------------------------------

    def _fresh(self, s: State, p: int) -> bool:
        return s.inc[p] in s.stamps[p] if self.guards.BeatsKeyed else bool(s.stamps[p])

    def _age(self, s: State, p: int) -> State | None:
        """The limit passes without a stamp."""
        ready = s.status[p] in (LIVE, DEAD) and s.said[p] == "ready"
        return _of(s, p, stamps=frozenset()) if ready and p in self.config.hangs and s.stamps[p] else None

    def _beat(self, s: State, p: int) -> State | None:
        """The loop comes round."""
        if s.status[p] != LIVE or s.said[p] != "ready" or s.inc[p] in s.stamps[p]:
            return None
        return _of(s, p, stamps=s.stamps[p] | {s.inc[p]})

    def _ghost_beat(self, s: State, p: int) -> State | None:
        """So does the loop of a process that was fenced."""
        ghost = s.ghost[p]
        if not ghost or ghost < s.inc[p] - 1 or s.said[p] != "ready" or ghost in s.stamps[p]:
            return None
        return _of(s, p, stamps=s.stamps[p] | {ghost})

    def _stall(self, s: State, p: int) -> State | None:
        """The host sees that the loop stands still."""
        ready = s.status[p] in (LIVE, DEAD) and s.said[p] == "ready" and not s.stuck[p]
        return _of(s, p, stuck=True) if self.guards.AgeCounts and ready and not self._fresh(s, p) else None

    def _recover(self, s: State, p: int) -> State | None:
        """The host sees that it goes on."""
        return _of(s, p, stuck=False) if s.stuck[p] and self._fresh(s, p) else None

    # -- waits ---------------------------------------------------------------------------------------------------

    def wait(self, s: State) -> Steps:
        """A client, or a part that is not ready, waits for components."""
        config = self.config
        if config.max_waits is not None and len(s.waits) >= config.max_waits:
            return
        for by in sorted(config.askers):
            for mask in sorted(config.masks):
                if by and not self._may_wait(s, by - 1, mask):
                    continue
                for patient in sorted(config.patience):
                    action = Action("Wait", (("by", by), ("mask", mask), ("patient", patient)))
                    yield action, s._replace(waits=(*s.waits, Waiting(by, mask, patient)))

    def _may_wait(self, s: State, p: int, mask: int) -> bool:
        mine = self.config.component_of(p)
        if p in self.config.without or s.status[p] != LIVE or s.said[p] == "ready":
            return False
        wanted = [k for k in range(self.config.components) if mask >> k & 1]
        return not self.guards.Ordered or all(k != mine and mine not in self.config.all_needs(k) for k in wanted)

    def _counts(self, s: State, p: int) -> bool:
        return s.said[p] == "ready" and not s.stuck[p] and (not self.guards.AgeCounts or self._fresh(s, p))

    def _complete(self, s: State, w: int) -> State | None:
        """Everything that the wait is for is ready."""
        awaited = self.config.awaited(s.waits[w].mask)
        if not self.guards.EveryPart:
            first = {self.config.component_of(p): p for p in reversed(awaited)}
            awaited = tuple(first.values())
        return _ended(s, w, "done") if all(self._counts(s, p) for p in awaited) else None

    def _give_up(self, s: State, w: int) -> State | None:
        """Some part of it has failed, or is lost."""
        trouble = any(
            (self.guards.FailureTells and s.said[p] == "failed") or (self.guards.LossTells and s.status[p] == LOST)
            for p in self.config.awaited(s.waits[w].mask)
        )
        return _ended(s, w, "failed") if trouble and not s.waits[w].patient else None

    def _expire(self, s: State, w: int) -> State | None:
        """The time is over, the call is cancelled, or its client is gone."""
        return _ended(s, w, "late")


def _of(s: State, p: int, **changed: Any) -> State:
    """Return the state with other values of one part."""
    return s._replace(**{name: replaced(getattr(s, name), p, value) for name, value in changed.items()})


def _bereft(s: State, p: int) -> State:
    """Return the state without the open waits of a part."""
    gone = (w._replace(outcome="gone") if w.by == 1 + p and w.outcome == "open" else w for w in s.waits)
    return s._replace(waits=tuple(gone))


def _ended(s: State, w: int, how: str) -> State:
    return s._replace(waits=replaced(s.waits, w, s.waits[w]._replace(outcome=how)))


def _each_wait(name: str, step: Callable[[State, int], State | None], s: State) -> Steps:
    for w, waiting in enumerate(s.waits):
        if waiting.outcome == "open" and (after := step(s, w)) is not None:
            yield Action(name, (("w", w + 1),)), after
