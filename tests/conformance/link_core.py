"""Level V3 on the link core: every edge of the model's graph is taken by it, and every refusal refuses.

The handle and the network are invisible to the core: the driver remembers them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from fdcomm.core.link import Link as Core
from models.graph import Edge, build
from models.kernel import Action
from models.link import Config, Link, State
from models.link_state import ENDED, Request, initial_state, numbers
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "LinkDriver", "difference", "drive_core", "probes", "step_of")

Make: TypeAlias = "Callable[[int], Core]"
_ARRIVALS = ("Begin", "Repeat", "Stale", "Refuse")


class LinkDriver:
    """A core under test, and the handle, the network and the history around it, which are the model's."""

    def __init__(self, config: Config, make: Make = Core) -> None:
        self.config = config
        self.core = make(config.window)
        self.model = Link(config)
        self.around = initial_state(config)
        self.ran = [0] * config.calls

    def copy(self) -> LinkDriver:
        """Return an independent driver in the same state."""
        other = copy.copy(self)
        other.core, other.ran = copy.deepcopy(self.core), list(self.ran)
        return other

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core, all_calls = self.core, range(1, self.config.calls + 1)
        done = {n for n, state in core.known.items() if state == "done"}
        if set(core.answers) != done:
            raise Deviation(f"the core has answers of {sorted(core.answers)}, and done are {sorted(done)}")
        return self.around._replace(
            session=core.session,
            top=core.top,
            known=tuple(core.known.get(n, "none") for n in all_calls),
            ran=tuple(self.ran),
        )

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        name, core = action.name, self.core
        before = self.state()
        self.around = next(after for step, after in self.model.actions[name](before) if step == action)
        given = dict(action.params)
        if name in _ARRIVALS:
            verdict = core.arrive(given["number"], numbers(given["open"]), given["top"])
            return verdict, core.answers.get(given["number"])
        if name == "Depart":
            return core.depart()
        if name == "Finish":
            core.finish(given["number"], f"answer {given['number']}")
            self.ran[given["number"] - 1] += 1
        if name == "Fence":
            core.fence()
        return None


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    if action.name in _ARRIVALS:
        n = action.params[0][1]
        keeps = action.name == "Repeat" and after.known[n - 1] == "done"
        ended = action.name == "Refuse" and before.known[n - 1] == "done"
        return action.name, f"answer {n}" if keeps or ended else None
    return before.session == "open" if action.name == "Depart" else None


def drive_core(config: Config, make: Make = Core) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Link(config))
    return take_every_edge(graph, lambda path: replay(LinkDriver(config, make), path), _take, probes)


def _take(driver: LinkDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(driver: LinkDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, which must raise ProtocolViolationError; and the read."""
    core = driver.core
    for n, known in enumerate(state.known, 1):
        if known != "running" or state.session != "open":
            yield f"Finish({n})", partial(core.finish, n, "answer"), None
        wanted = n > state.top or known == "new"
        yield f"unknown({n})", partial(core.unknown, [n]), ([n] if wanted else [],)
    if state.session != "open":
        yield "Fence", core.fence, None
    if state.session in ENDED:
        yield "Depart", core.depart, (False,)
        yield "Begin(1) of an ended session", partial(core.arrive, 1, {1}, 1), ("Refuse",)
    for request in (Request(1, frozenset(), 1), Request(2, frozenset({2}), 1), Request(0, frozenset({0}), 1)):
        yield f"{request}", partial(core.arrive, *request), None
    many = frozenset(range(1, core.window + 2))
    yield f"{len(many)} open calls", partial(core.arrive, 1, many, max(many)), None
