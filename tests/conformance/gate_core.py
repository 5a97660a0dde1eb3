"""Level V3 on the gate's core: every edge of the model's graph is taken by it, and every refusal refuses.

Requests, skips and crashes are invisible to the host, so the core has no such calls: the driver remembers them. An
answer's payload says which request was meant, so that what the core keeps and returns can be read as the model's
history.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from fdcomm.core.gate import Ended, Put
from fdcomm.core.gate import Gate as Core
from fdcomm.core.gate import Round as CoreRound
from models.gate import Answer, Config, Gate, Round, State
from models.gate_state import AWAY, DEAD, LIVE, LOST
from models.graph import Edge, build
from models.kernel import Action
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "GateDriver", "difference", "drive_core", "free", "key_of", "step_of")

Payload: TypeAlias = tuple[int, int]
Make = Callable[[int, int, int], Core[Payload]]
_NOW = 5.0


def key_of(number: int) -> str:
    """Return the key of that number."""
    return f"request {number}"


def free(config: Config) -> Gate:
    """Return the model in which any live rank may answer any key, and everybody may leave and crash."""
    everyone = frozenset(range(config.ranks))
    return Gate(
        replace(config, max_issues=None, skippers=frozenset(), leavers=everyone, mortal=everyone, silent=everyone)
    )


class GateDriver:
    """A core under test, and what its callers know."""

    def __init__(self, config: Config, make: Make = Core[Payload]) -> None:
        self.core = make(config.ranks, config.capacity, config.max_late)
        self.ranks = config.ranks
        self.issued: tuple[int, ...] = ()
        self.todo: list[frozenset[int]] = [frozenset()] * config.ranks
        self.dead: set[int] = set()
        self.collected: frozenset[int] = frozenset()
        self.ended: frozenset[int] = frozenset()

    def copy(self) -> GateDriver:
        """Return an independent driver in the same state."""
        twin = copy.copy(self)
        twin.core = core = copy.copy(self.core)
        core.live, core.lost = set(core.live), set(core.lost)
        core.rounds = [CoreRound(r.key, r.opened_at, dict(r.answers), set(r.without)) for r in core.rounds]
        core.late = [deque(owed, owed.maxlen) for owed in core.late]
        twin.todo, twin.dead = list(self.todo), set(self.dead)
        return twin

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core = self.core
        status = tuple(
            (DEAD if rank in self.dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
            for rank in range(core.ranks)
        )
        return State(
            issued=self.issued,
            todo=tuple(self.todo),
            status=status,
            rounds=tuple(Round(_number(r.key), _answers(r.answers), frozenset(r.without)) for r in core.rounds),
            late=tuple(tuple(_number(key) for key in owed) for owed in core.late),
            collected=self.collected,
            ended=self.ended,
        )

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        core, name = self.core, action.name
        rank, issue = action.param("rank"), action.param("issue")
        if name == "Issue":
            key = action.param("key")
            assert key is not None
            self.issued = (*self.issued, key)
            self.todo = [t if r in core.lost else t | {len(self.issued)} for r, t in enumerate(self.todo)]
        elif name in ("Collect", "EndLost", "EndTimeout"):
            return self._engine(name)
        elif rank is not None and name == "Crash":
            self.dead.add(rank)
        elif rank is not None and issue is not None:
            return self._answer(name, rank, issue)
        else:
            assert rank is not None
            self.dead.discard(rank)
            if name in ("Fence", "Vanish"):
                self.todo[rank] = frozenset()
            call = getattr(core, name.lower())
            return call(rank)
        return None

    def _answer(self, name: str, rank: int, issue: int) -> object:
        key = key_of(self.issued[issue - 1])
        result: object = None
        over = True
        if name == "PutAnswer":
            result = self.core.put_answer(rank, key, (rank, issue), _NOW)
        elif name == "RefuseLate":
            result = self.core.refuse_late(rank, key)
            over = issue in self.ended
        if over:
            self.todo[rank] -= {issue}
        return result

    def _engine(self, name: str) -> object:
        before = {r.key: r for r in self.core.rounds}
        if name == "Collect":
            done = self.core.collect()
            if done is None:
                return None
            self.collected |= _issues(done.answers)
            return done.key, dict(sorted(done.answers.items()))
        ended = self.core.end_lost() if name == "EndLost" else self.core.end_timeout()
        if ended is not None:
            self.ended |= _issues(before[ended.key].answers)
        return ended


def _number(key: object) -> int:
    return int(str(key).removeprefix("request "))


def _answers(answers: dict[int, Payload]) -> frozenset[Answer]:
    if any(rank != payload[0] for rank, payload in answers.items()):
        raise Deviation(f"an answer is kept under another rank: {answers}")
    return frozenset(Answer(*payload) for payload in answers.values())


def _issues(answers: dict[int, Payload]) -> frozenset[int]:
    return frozenset(issue for _, issue in answers.values())


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    name = action.name
    gone = [r for r in before.rounds if r not in after.rounds]
    ranks = range(len(before.status))
    if name == "PutAnswer":
        key = before.issued[(action.param("issue") or 0) - 1]
        return Put(next(len(r.answered) == len(ranks) for r in after.rounds if r.key == key))
    if name in ("RefuseLate", "Reappear"):
        return True
    if name == "Collect":
        return key_of(gone[0].key), {a.rank: tuple(a) for a in sorted(gone[0].answers)}
    if name in ("EndLost", "EndTimeout"):
        missing = tuple(rank for rank in ranks if rank not in gone[0].answered)
        return Ended(key_of(gone[0].key), _NOW, missing, tuple(sorted(gone[0].without)))
    return None


def drive_core(config: Config, make: Make = Core[Payload]) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Gate(config))
    anything = free(config)
    return take_every_edge(
        graph,
        lambda path: replay(GateDriver(config, make), path),
        _take,
        lambda driver, state: probes(driver.core, state, anything),
    )


def _take(driver: GateDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(core: Core[Payload], state: State, anything: Gate) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    enabled = {(a.name, *(value for _, value in a.params)) for a, _ in anything.steps(state)}
    for rank, status in enumerate(state.status):
        here = status in (LIVE, DEAD)
        if here:
            yield f"Join({rank})", partial(core.join, rank), None
        else:
            yield f"Leave({rank})", partial(core.leave, rank), None
            yield f"Fence({rank})", partial(core.fence, rank), None
        if status != LOST:
            yield f"Reappear({rank})", partial(core.reappear, rank), (False,)
        if status != AWAY:
            yield f"Vanish({rank})", partial(core.vanish, rank), None
        for key in range(1, anything.config.keys + 2):
            name = key_of(key)
            possible = ("PutAnswer", rank, key) in enabled or (here and key > anything.config.keys)
            if not possible:
                put = partial(core.put_answer, rank, name, (rank, 0), _NOW)
                yield f"PutAnswer({rank}, {name})", put, (None,) if here else None
            if ("RefuseLate", rank, key) not in enabled:
                refuse = partial(core.refuse_late, rank, name)
                yield f"RefuseLate({rank}, {name})", refuse, (False,) if here else None
    engine = (("Collect", core.collect), ("EndLost", core.end_lost), ("EndTimeout", core.end_timeout))
    for name, call in engine:
        if (name,) not in enabled:
            yield name, call, (None,)
