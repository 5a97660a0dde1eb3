"""Level V3 on the status core: every edge of a model graph is taken by it, and what is not enabled is refused.

A crash is invisible to the host, so the core has no such call: the driver remembers who has crashed. The same holds
for ``goals`` and ``outcome`` of earlier requests and for ``holds``, which are history.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TypeAlias

from fdcomm.core.status import Goal, Report, Status
from fdcomm.errors import ConfigError, ProtocolViolationError
from models.graph import build
from models.kernel import Action
from models.status import Config, Reported, State
from models.status import Status as Model
from models.status_state import AWAY, DEAD, LIVE, LOST
from tests.conformance.driving import Coverage, Deviation, Probe, difference, where

__all__ = (
    "GOALS",
    "Coverage",
    "Deviation",
    "StatusDriver",
    "components_of",
    "difference",
    "drive_core",
    "probes",
    "refused",
)

Make: TypeAlias = Callable[[tuple[tuple[str, int, int], ...]], Status]
GOALS: tuple[Goal, Goal] = ("update", "clear")
_STEPS = ("Settle", "Fail", "NextStage", "Finish")


def name_of(component: int) -> str:
    """Return the name of a component."""
    return f"component {component}"


def components_of(config: Config) -> tuple[tuple[str, int, int], ...]:
    """Return the declaration of the model's components: the parts of each are its first ones."""
    return tuple((name_of(k), k // config.per_stage, len(config.parts_of(k))) for k in config.real)


class StatusDriver:
    """A core under test, and what it cannot know."""

    def __init__(self, config: Config, make: Make = Status) -> None:
        self.config = config
        self.core = make(components_of(config))
        self.dead: set[tuple[int, int]] = set()
        self.goals: list[str] = []
        self.ended: list[str] = []
        self.holds = [["full"] * config.parts for _ in range(config.components)]

    def copy(self) -> StatusDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the core is in."""
        there = [self.core.components[name_of(k)] for k in range(self.config.components)]
        request = self.core.request
        return State(
            asked=self.core.asked,
            goals=tuple(self.goals),
            outcome=(*self.ended, *([request.outcome] if request else [])),
            word=tuple(c.word for c in there),
            partial=tuple(c.partial for c in there),
            changing=frozenset(k for k, c in enumerate(there) if c.name in self.core.changing),
            reports=tuple(frozenset(Reported(p, report.ok) for p, report in c.reports.items()) for c in there),
            status=tuple(
                tuple(self._status(k, p) for p in range(self.config.parts)) for k in range(self.config.components)
            ),
            doing=tuple(tuple(c.doing.get(p, 0) for p in range(self.config.parts)) for c in there),
            holds=tuple(tuple(row) for row in self.holds),
        )

    def _status(self, component: int, part: int) -> str:
        there = self.core.components[name_of(component)]
        if part in there.live:
            return DEAD if (component, part) in self.dead else LIVE
        return LOST if part in there.lost else AWAY

    def step(self, action: Action) -> None:
        """Take one step, or raise AssertionError when the core says that it is not due."""
        core, name = self.core, action.name
        k, p = action.param("component") or 0, action.param("part") or 0
        if name == "Crash":
            self.dead.add((k, p))
        elif name == "Join":
            core.join(name_of(k), p)
            self.holds[k][p] = "full"
        elif name == "Fence":
            core.fence(name_of(k), p)
            self.dead.discard((k, p))
        elif name == "Ask":
            if core.request is not None:
                self.ended.append(core.request.outcome)
            goal = GOALS[action.param("goal") or 0]
            self.goals.append(goal)
            assert core.ask(goal) is core.request
        elif name == "Take":
            request = core.take(name_of(k), p)
            assert request is core.request is not None, f"{action} gave {request}"
        elif name == "Report":
            self._report(k, p, ok=bool(action.param("ok")))
        elif name == "Expire":
            assert core.expire() is core.request is not None
        else:
            assert self._follow(name, k), f"{action} is not due"

    def _report(self, k: int, p: int, *, ok: bool) -> None:
        number = self.core.components[name_of(k)].doing[p]
        before = dict(self.core.components[name_of(k)].reports)
        counts = self.core.report(name_of(k), p, number, Report(ok, "" if ok else "why"))
        after = self.core.components[name_of(k)].reports
        assert counts == (before != after), f"the report {'counts' if counts else 'does not count'}: {before}, {after}"
        self.holds[k][p] = ("full", "empty")[self.goals[number - 1] == "clear"] if ok else "mixed"

    def _follow(self, name: str, component: int) -> bool:
        core = self.core
        if name == "Settle":
            return core.settle(name_of(component))
        return {"Fail": core.fail, "NextStage": core.next_stage, "Finish": core.finish}[name]()


def probes(driver: StatusDriver, state: State, model: Model) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``state``, as far as the core can know that."""
    core = driver.core
    enabled = {name: [action for action, _ in model.actions[name](state)] for name in (*_STEPS, "Expire")}
    for k, p in model.everyone:
        name, here = name_of(k), state.status[k][p] in (LIVE, DEAD)
        number = state.doing[k][p]
        if here:
            yield f"Join({k}, {p})", _bind(core.join, name, p), None
            if number:
                yield f"Take({k}, {p})", _bind(core.take, name, p), None
            elif k not in state.changing or p in {report.part for report in state.reports[k]}:
                yield f"Take({k}, {p})", _bind(core.take, name, p), (None,)
        else:
            yield f"Fence({k}, {p})", _bind(core.fence, name, p), None
            yield f"Take({k}, {p})", _bind(core.take, name, p), None
        for other in range(1, state.asked + 2):
            if other != number or not here:
                yield f"Report({k}, {p}, {other})", _bind(core.report, name, p, other, Report(True)), None
    for k in range(driver.config.components):
        if Action("Settle", (("component", k),)) not in enabled["Settle"]:
            yield f"Settle({k})", _bind(core.settle, name_of(k)), (False,)
    calls = {"Fail": core.fail, "NextStage": core.next_stage, "Finish": core.finish}
    yield from ((name, call, (False,)) for name, call in calls.items() if not enabled[name])
    if not enabled["Expire"]:
        yield "Expire", core.expire, (None,)
    else:
        yield "Ask", _bind(core.ask, "clear"), None
    if not any(enabled[name] for name in _STEPS):
        yield "nothing is due", core.advance, (None,)
    yield "a component that there is not", _bind(core.take, "nothing", 0), None
    yield "a part that there is not", _bind(core.take, name_of(0), driver.config.parts), None


def refused(probe: Probe) -> str:
    """Make the call of a probe; return "" when it was refused as it should be, else what happened."""
    label, call, answer = probe
    try:
        value = call()
    except (ProtocolViolationError, ConfigError) as error:
        return "" if answer is None else f"{label} raised {error!r} instead of returning {answer[0]!r}"
    if answer is None:
        return f"{label} returned {value!r} instead of raising an error"
    return "" if value == answer[0] else f"{label} returned {value!r} instead of {answer[0]!r}"


def drive_core(config: Config, make: Make = Status) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    model = Model(config)
    graph = build(model)
    coverage = Coverage(states=len(graph.states), of=len(graph.edges))
    steps = graph.successors()
    drivers: dict[State, StatusDriver] = {}
    for state in graph.states:  # in the order of a breadth-first search
        path = graph.path(state).actions
        there = drivers[state] if state in drivers else StatusDriver(config, make)
        drivers[state] = there
        coverage.refusals += _visit(there, path, state, model)
        due = [action for action, _ in steps[state] if action.name in _STEPS]
        for action, after in steps[state]:
            mine = there.copy()
            _take(mine, path, action, after)
            drivers.setdefault(after, mine)
            coverage.edges += 1
            coverage.actions[action.name] += 1
        _advances(there.copy(), path, due, dict(steps[state]))
    return coverage


def _advances(driver: StatusDriver, path: tuple[Action, ...], due: list[Action], steps: dict[Action, State]) -> None:
    """What follows is one of the steps that are due, and leads where that leads."""
    taken = driver.core.advance()
    if taken is None:
        if due:
            raise Deviation(f"nothing follows where {', '.join(map(str, due))} is due {where(path)}")
        return
    name, component = taken
    action = next((a for a in due if a.name == name and component in ("", name_of(a.param("component") or 0))), None)
    if action is None or driver.state() != steps[action]:
        raise Deviation(
            f"{name} {component} followed where {', '.join(map(str, due)) or 'nothing'} is due {where(path)}"
        )


def _take(driver: StatusDriver, path: tuple[Action, ...], action: Action, after: State) -> None:
    try:
        driver.step(action)
    except Exception as error:
        raise Deviation(f"{action} raised {error!r} {where(path)}") from error
    found = driver.state()
    if found != after:
        raise Deviation(f"{difference(after, found)} {where((*path, action))}")


def _visit(driver: StatusDriver, path: tuple[Action, ...], state: State, model: Model) -> int:
    if driver.state() != state:
        raise Deviation(f"{difference(state, driver.state())} {where(path)}")
    tried = 0
    for probe in probes(driver, state, model):
        tried += 1
        if problem := refused(probe):
            raise Deviation(f"{problem} {where(path)}")
        if driver.state() != state:
            raise Deviation(f"{difference(state, driver.state())} after the refused {probe[0]} {where(path)}")
    return tried


def _bind(call: Callable[..., object], *args: object) -> Callable[[], object]:
    return lambda: call(*args)
