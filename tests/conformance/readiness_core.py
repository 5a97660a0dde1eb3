"""Level V3 on the readiness core: every edge of the model's graph is taken by it, and every refusal refuses.

What processes do by themselves (their stamps, their deaths, what a fenced one goes on to do) is invisible to the core,
so it has no such call: the driver remembers it, and what is history.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fdcomm.core.readiness import Readiness as Core
from fdcomm.core.readiness import Waiting as CoreWaiting
from models.graph import Edge, build
from models.kernel import Action
from models.readiness import Config, Readiness, State, Waiting
from models.readiness_state import AWAY, DEAD, LIVE, LOST
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = (
    "Coverage",
    "Deviation",
    "History",
    "Make",
    "ReadinessDriver",
    "components_of",
    "difference",
    "drive_core",
    "name_of",
    "names_of",
    "party_of",
    "probes",
    "result_of",
    "state_of",
)

Make = Callable[[Any], Core]


def name_of(component: int) -> str:
    """Return the name of a component."""
    return f"component {component}"


def components_of(config: Config) -> list[tuple[str, int, list[str]]]:
    """Return the declaration of the model's components: the parts of each are its first ones."""
    count = config.components
    sizes = [sum(1 for p in config.there if config.component_of(p) == k) for k in range(count)]
    needs = [[name_of(j) for j in range(count) if k * count + j in config.needs] for k in range(count)]
    return [(name_of(k), sizes[k], needs[k]) for k in range(count)]


def party_of(config: Config, part: int) -> tuple[str, int]:
    """Return a part as the core knows it."""
    return name_of(config.component_of(part)), part % config.parts


def names_of(config: Config, mask: int) -> list[str]:
    """Return the components of a mask."""
    return [name_of(k) for k in range(config.components) if mask >> k & 1]


class History:
    """What a core cannot know."""

    def __init__(self, config: Config) -> None:
        count = len(config.all)
        self.dead: set[int] = set()
        self.stamps: list[frozenset[int]] = [frozenset()] * count
        self.ghost = [0] * count
        self.serves = [0] * count
        self.waits: list[CoreWaiting] = []

    def note(self, name: str, p: int, inc: int) -> None:
        """Note what a step of part ``p``, whose incarnation was ``inc`` before it, does beside the core."""
        if name in ("Crash", "Cut"):
            self.dead.add(p)
        if name == "Cut":
            self.ghost[p] = inc
        if name in ("Crash", "Cut", "Leave", "Fail", "Withdraw"):
            self.serves[p] = 0
        if name == "Fence":
            self.dead.discard(p)
        if name == "Join":
            self.stamps[p] &= {inc}
        if name in ("Ready", "Beat"):
            self.stamps[p] |= {inc}
        if name == "Ready":
            self.serves[p] = inc
        if name == "Age":
            self.stamps[p] = frozenset()
        if name == "GhostBeat":
            self.stamps[p] |= {self.ghost[p]}
        if name == "LateWord":
            self.ghost[p] = 0


def state_of(core: Core, config: Config, history: History) -> State:
    """Return the model's state of a core and what it cannot know."""
    parts = {p: core.part(*party_of(config, p)) for p in config.there}

    def status(p: int) -> str:
        if p in parts and parts[p].here:
            return DEAD if p in history.dead else LIVE
        return LOST if p in parts and parts[p].lost else AWAY

    for wait in history.waits:
        if (wait.outcome == "open") != (core.open.get(wait.number) is wait):
            raise Deviation(f"wait {wait.number} is {wait.outcome}, and open are {list(core.open)}")
    of = {(name_of(config.component_of(p)), p % config.parts): p for p in config.there}
    number = {name_of(k): k for k in range(config.components)}
    return State(
        status=tuple(status(p) for p in config.all),
        inc=tuple(parts[p].inc if p in parts else 0 for p in config.all),
        said=tuple(parts[p].said if p in parts else "nothing" for p in config.all),
        stuck=tuple(p in parts and parts[p].stuck for p in config.all),
        stamps=tuple(history.stamps),
        ghost=tuple(history.ghost),
        serves=tuple(history.serves),
        waits=tuple(
            Waiting(
                1 + of[wait.by] if wait.by else 0,
                sum(1 << number[name] for name in wait.names),
                int(wait.patient),
                wait.outcome,
            )
            for wait in history.waits
        ),
    )


class ReadinessDriver:
    """A core under test."""

    def __init__(self, config: Config, make: Make = Core) -> None:
        self.config = config
        self.core = make(components_of(config))
        self.history = History(config)

    def copy(self) -> ReadinessDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        return state_of(self.core, self.config, self.history)

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        core, name = self.core, action.name
        if name == "Wait":
            by, mask, patient = (value for _, value in action.params)
            party = party_of(self.config, by - 1) if by else None
            wait = core.wait(names_of(self.config, mask), patient=bool(patient), by=party)
            self.history.waits.append(wait)
            return wait.number
        w = action.param("w")
        if w is not None:
            return {"Complete": core.complete, "GiveUp": core.give_up, "Expire": core.expire}[name](w)
        p = action.params[0][1]
        party = party_of(self.config, p)
        self.history.note(name, p, core.part(*party).inc)
        call = getattr(core, name.lower(), None)
        result = None if call is None else call(*party)
        return [wait.number for wait in result] if isinstance(result, list) else result


def result_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    name = action.name
    if name == "Wait":
        return len(after.waits)
    if name == "Join":
        return after.inc[action.params[0][1]]
    if name in ("Fence", "Leave"):
        return [w for w, wait in enumerate(after.waits, 1) if wait != before.waits[w - 1]]
    return True if name in ("Stall", "Recover", "Complete", "GiveUp", "Expire") else None


def drive_core(config: Config, make: Make = Core) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    model = Readiness(config)

    def take(driver: ReadinessDriver, edge: Edge[State]) -> None:
        before, action, after = edge
        expect(action, driver.step(action), result_of(action, before, after))

    return take_every_edge(
        build(model),
        lambda path: replay(ReadinessDriver(config, make), path),
        take,
        lambda driver, state: probes(driver.core, state, model),
    )


def probes(core: Core, state: State, model: Readiness) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``state``, as far as the core can know that."""
    config = model.config
    for p in config.there:
        here, said = state.status[p] in (LIVE, DEAD), state.said[p]
        party = party_of(config, p)
        wrong = {
            "Join": here,
            "Leave": not here,
            "Fence": not here,
            "Ready": said != "starting",
            "Fail": not here or said == "failed",
            "Withdraw": said not in ("ready", "failed"),
        }
        for name, refused in wrong.items():
            if refused:
                yield f"{name}({p})", partial(getattr(core, name.lower()), *party), None
        if said != "ready" or state.stuck[p]:
            yield f"Stall({p})", partial(core.stall, *party), (False,)
        if not state.stuck[p]:
            yield f"Recover({p})", partial(core.recover, *party), (False,)
        for mask in range(1, 2**config.components):
            if not model._may_wait(state, p, mask) and state.status[p] != DEAD:
                yield f"Wait({p}, {mask})", partial(core.wait, names_of(config, mask), by=party), None
    due = False
    for w in range(len(state.waits) + 2):
        wait = state.waits[w - 1] if 0 < w <= len(state.waits) else None
        is_open = wait is not None and wait.outcome == "open"
        awaited = config.awaited(wait.mask) if wait is not None else ()
        serves = is_open and all(state.said[p] == "ready" and not state.stuck[p] for p in awaited)
        gives_up = is_open and wait is not None and model._give_up(state, w - 1) is not None
        due = due or serves or gives_up
        if not serves:
            yield f"Complete({w})", partial(core.complete, w), (False,)
        if not gives_up:
            yield f"GiveUp({w})", partial(core.give_up, w), (False,)
        if not is_open:
            yield f"Expire({w})", partial(core.expire, w), (False,)
    if not due:
        yield "nothing is due", core.advance, (None,)
