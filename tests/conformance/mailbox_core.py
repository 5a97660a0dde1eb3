"""Level V3 on the mailbox core: every edge of the model's graph is taken by it, and every refusal refuses.

Whether clients live, and what they have got, is invisible to the core: the driver remembers it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from fdcomm.core.mailbox import Mailbox as Core
from models.graph import Edge, build
from models.kernel import Action
from models.mailbox import Config, Given, Mailbox, State
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "MailboxDriver", "difference", "drive_core", "probes", "step_of")

Make: TypeAlias = "Callable[[int], Core]"


class MailboxDriver:
    """A core under test, and what its callers and the clients know."""

    def __init__(self, config: Config, make: Make = Core) -> None:
        self.core = make(config.capacity)
        self.clients = ["live"] * config.clients
        self.owner = [0] * config.requests
        self.made = [0] * config.requests
        self.fin = [False] * config.requests
        self.flying: list[tuple[int, ...]] = [()] * config.requests
        self.sent: list[tuple[Given, ...]] = [()] * config.requests
        self.dropped = [0] * config.requests

    def copy(self) -> MailboxDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core, requests = self.core, range(1, len(self.made) + 1)
        entries = [core.open.get(request) for request in requests]
        cached = tuple(tuple(entry.cached) if entry else () for entry in entries)
        if core.kept != sum(map(len, cached)):
            raise Deviation(f"the core counts {core.kept} results that it keeps, and has {cached}")
        flying = [entry.flying if entry else () for entry in entries]
        if flying != self.flying:
            raise Deviation(f"being sent are {self.flying}, and the core has {flying}")
        for request, entry in enumerate(entries, 1):
            if entry is not None and (entry.client or 0) != self.owner[request - 1]:
                raise Deviation(f"request {request} is client {self.owner[request - 1]}'s, not {entry.client}'s")
        return State(
            clients=tuple(self.clients),
            owner=tuple(self.owner),
            stage=tuple(core.stage(request) for request in requests),
            made=tuple(self.made),
            fin=tuple(self.fin),
            cached=cached,
            flights=tuple((batch,) if batch else () for batch in self.flying),
            sent=tuple(self.sent),
            dropped=tuple(self.dropped),
            closed=core.closed,
        )

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        name, core = action.name, self.core
        if name in ("Die", "Notice"):
            self.clients[action.params[0][1] - 1] = {"Die": "dead", "Notice": "gone"}[name]
            return None
        if name == "Close":
            lost = core.close()
            for number, items in lost.items():
                self.dropped[int(str(number)) - 1] += len(items)
            return {number: len(items) for number, items in lost.items()}
        request = action.params[0][1]
        i = request - 1
        if name == "Handle":
            self.owner[i] = action.params[1][1]
            return self._fly(i, core.handle(request, action.params[1][1]))
        if name == "Put":
            self.made[i] += 1
            self.fin[i] = action.params[1][1] == 1
            return self._fly(i, core.put(request, self.made[i], self.fin[i]))
        if name == "Sent":
            self.sent[i] += tuple(Given(item, self.owner[i]) for item in self.flying[i])
            self.flying[i] = ()
            return self._fly(i, core.sent(request))
        end = {"Lost": core.lost, "Late": core.late, "Expire": core.expire}[name]
        lost_items = end(request)
        self.flying[i] = ()
        self.dropped[i] += len(lost_items)
        return lost_items

    def _fly(self, i: int, batch: tuple[int, ...]) -> object:
        if batch and self.flying[i]:
            raise Deviation(f"request {i + 1} is being sent, and {batch} is given out")
        self.flying[i] = batch or self.flying[i]
        return batch


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    if action.name in ("Die", "Notice"):
        return None
    if action.name == "Close":
        return {number: len(items) for number, items in enumerate(before.cached, 1) if items}
    i = action.params[0][1] - 1
    if action.name in ("Lost", "Late", "Expire"):
        return tuple(item for batch in before.flights[i] for item in batch) + before.cached[i]
    began = action.name == "Sent" or not before.flights[i]
    return after.flights[i][0] if after.flights[i] and began else ()


def drive_core(config: Config, make: Make = Core) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Mailbox(config))
    return take_every_edge(graph, lambda path: replay(MailboxDriver(config, make), path), _take, probes)


def _take(driver: MailboxDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(driver: MailboxDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, which must raise ProtocolViolationError."""
    core = driver.core
    for request, stage in enumerate(state.stage, 1):
        i = request - 1
        ended = state.closed or stage != "open"
        room = (state.owner[i] != 0 and not state.flights[i]) or sum(map(len, state.cached)) < core.capacity
        yield (
            f"has_room({request})",
            partial(core.has_room, request),
            (room,) if not ended else (core.kept < core.capacity,),
        )
        if ended or state.owner[i]:
            yield f"Handle({request}, 1)", partial(core.handle, request, 1), None
            yield f"Handle({request}, 2)", partial(core.handle, request, 2), None
        if ended or state.fin[i] or not room:
            yield f"Put({request})", partial(core.put, request, 9, False), None
        if not state.flights[i]:
            yield f"Sent({request})", partial(core.sent, request), None
            yield f"Lost({request})", partial(core.lost, request), None
            yield f"Late({request})", partial(core.late, request), None
        idle = not ended and not state.flights[i] and (state.owner[i] or state.cached[i])
        if not idle:
            yield f"Expire({request})", partial(core.expire, request), None
    if state.closed:
        yield "Close", core.close, None
