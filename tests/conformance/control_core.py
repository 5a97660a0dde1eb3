"""Level V3 on the control core: every edge of the model's graph is taken by it, and every refusal refuses.

A crash is invisible to the host, so the core has no such call: the driver remembers it. An answer's payload says which
request was meant, so that what the core keeps can be read as the model's history.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeAlias

from fdcomm.core.control import Control as Core
from fdcomm.core.control import Request
from models.control import Config, Control, Given, State, answered
from models.control_state import AWAY, DEAD, LIVE, LOST
from models.graph import Edge, build
from models.kernel import Action
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("ControlDriver", "Coverage", "Deviation", "difference", "drive_core", "probes", "state_of", "step_of")

Payload: TypeAlias = Any
Make: TypeAlias = "Callable[[int, int], Core[Payload]]"


def state_of(
    core: Core[Any], requests: Iterable[Request[Any]], dead: set[int], read: Callable[[Any], tuple[int, int]]
) -> State:
    """Return the model's state of a core and its requests; ``read`` tells of an answer who gave it, and to what."""
    requests = list(requests)
    for request in requests:
        if any(rank != read(answer)[0] for rank, answer in request.answers.items()):
            raise Deviation(f"an answer is kept under another rank: {request.answers}")
        if (request.state == "open") != (core.open.get(request.number) is request):
            raise Deviation(f"request {request.number} is {request.state}, and open are {list(core.open)}")
    return State(
        asked=core.asked,
        state=tuple(request.state for request in requests),
        answers=tuple(frozenset(Given(*read(answer)) for answer in r.answers.values()) for r in requests),
        without=tuple(frozenset(request.without) for request in requests),
        status=tuple(
            (DEAD if rank in dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
            for rank in range(core.ranks)
        ),
        served=tuple(core.served),
        doing=tuple(core.doing),
    )


class ControlDriver:
    """A core under test, and what its callers know."""

    def __init__(self, config: Config, make: Make = Core[Payload]) -> None:
        self.core = make(config.ranks, config.capacity)
        self.requests: list[Request[Payload]] = []
        self.dead: set[int] = set()

    def copy(self) -> ControlDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        return state_of(self.core, self.requests, self.dead, lambda answer: answer)

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned, requests as their numbers."""
        core, name = self.core, action.name
        rank, number = action.param("rank"), action.param("number")
        result: object = None
        if name == "Ask":
            request = core.ask(f"request {core.asked + 1}", client=0)
            if request is not None:
                self.requests.append(request)
            result = request
        elif number is not None:
            calls = {"Collect": core.collect, "EndLost": core.end_lost, "EndTimeout": core.end_timeout}
            result = core.withdraw(number) if name == "Withdraw" else calls[name](number)
        elif rank is None:
            raise ValueError(f"{action} has no rank")
        elif name == "Crash":
            self.dead.add(rank)
        elif name in ("Answer", "RefuseLate"):
            result = core.answer(rank, core.doing[rank], (rank, core.doing[rank]))
        else:
            self.dead.discard(rank)
            result = getattr(core, name.lower())(rank)
        return result.number if isinstance(result, Request) else result


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    name, rank = action.name, action.param("rank")
    if name == "Ask":
        return after.asked
    if name == "Take" and rank is not None:
        return after.doing[rank]
    if name in ("Collect", "EndLost", "EndTimeout"):
        return action.param("number")
    return {"Answer": True, "RefuseLate": False, "Withdraw": True, "Reappear": True}.get(name)


def drive_core(config: Config, make: Make = Core[Payload]) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Control(config))
    return take_every_edge(
        graph,
        lambda path: replay(ControlDriver(config, make), path),
        _take,
        lambda driver, state: probes(driver.core, state, config),
    )


def _take(driver: ControlDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(core: Core[Payload], state: State, config: Config) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``state``, as far as the core can know that."""
    enabled = {(a.name, *(value for _, value in a.params)) for a, _ in Control(config).steps(state)}
    for rank, status in enumerate(state.status):
        here, doing = status in (LIVE, DEAD), state.doing[rank]
        if here:
            yield f"Join({rank})", partial(core.join, rank), None
        else:
            yield f"Leave({rank})", partial(core.leave, rank), None
            yield f"Fence({rank})", partial(core.fence, rank), None
        if status != AWAY:
            yield f"Vanish({rank})", partial(core.vanish, rank), None
        if status != LOST:
            yield f"Reappear({rank})", partial(core.reappear, rank), (False,)
        if doing or not here:
            yield f"Take({rank})", partial(core.take, rank), None
        elif status == LIVE and ("Take", rank) not in enabled:
            yield f"Take({rank})", partial(core.take, rank), (None,)
        for number in {0, doing + 1, doing - 1, state.asked + 1} | ({doing} if not here else set()):
            if number != doing or not doing:
                yield f"Answer({rank}, {number})", partial(core.answer, rank, number, (rank, number)), None
    if state.state.count("open") == config.capacity:
        yield "Ask", partial(core.ask, "too many", 0), (None,)
    for number in range(state.asked + 2):
        is_open = 0 < number <= state.asked and state.state[number - 1] == "open"
        calls = (("Collect", core.collect), ("EndLost", core.end_lost), ("EndTimeout", core.end_timeout))
        for name, call in calls:
            if (name, number) not in enabled:
                yield f"{name}({number})", partial(call, number), (None,) if is_open else None
        if not is_open:
            yield f"Withdraw({number})", partial(core.withdraw, number), (False,)
        else:
            request = core.open[number]
            waits = set(range(core.ranks)) - answered(state, number) - state.without[number - 1]
            yield f"awaited({number})", partial(core.awaited, request), (tuple(sorted(waits)),)
