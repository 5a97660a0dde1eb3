"""The status protocol as a pure object: components are cleared and restored, in stages, by one request at a time.

One method per action of ``spec/status.toml`` (``tla/status/Status.tla``). What follows from a report or a loss is
taken by :meth:`Status.advance`, one action a call, in the same critical section.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Component", "Goal", "Outcome", "Report", "Request", "Status")

Goal: TypeAlias = Literal["clear", "update"]
Outcome: TypeAlias = Literal["open", "done", "failed", "late"]
Step: TypeAlias = Literal["Settle", "Fail", "NextStage", "Finish"]

# What old readers see: FastDeploy's values, alike for all three components.
_NORMAL = 0
_END: dict[Goal, int] = {"clear": -2, "update": _NORMAL}
_WAY: dict[Goal, int] = {"clear": -1, "update": 1}


@dataclass(frozen=True, slots=True)
class Report:
    """What a part has said about a request: done, or why not."""

    ok: bool
    reason: str = ""


@dataclass(slots=True, eq=False)
class Component:
    """A component and its parts.

    Attributes:
        name: For people and calls.
        stage: A clear goes through the stages upwards, an update downwards.
        parts: How many parts it has.
        word: What old readers see.
        partial: The parts may differ.
        reports: Part -> report, for the open request.
        doing: Part -> the request that it has taken and not reported about.
        live: Parts that are there.
        lost: Parts whose process is gone.
    """

    name: str
    stage: int
    parts: int
    word: int = _NORMAL
    partial: bool = False
    reports: dict[int, Report] = field(default_factory=dict)
    doing: dict[int, int] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)

    @property
    def missing(self) -> tuple[int, ...]:
        """Parts that have not reported."""
        return tuple(part for part in range(self.parts) if part not in self.reports)

    @property
    def failed(self) -> bool:
        """Return True when a part has reported failure."""
        return any(not report.ok for report in self.reports.values())


@dataclass(slots=True, eq=False)
class Request:
    """A request, and how each part of each component did it, as far as it got."""

    number: int
    goal: Goal
    outcome: Outcome = "open"
    reports: dict[str, dict[int, Report]] = field(default_factory=dict)


class Status:
    """The components of one replica.

    Args:
        components: (name, stage, number of parts) of each.
    """

    def __init__(self, components: tuple[tuple[str, int, int], ...]) -> None:
        names = [name for name, _, _ in components]
        if not components or len(set(names)) < len(names):
            raise ConfigError(f"components must have different names, and there must be one: {components}")
        if any(parts < 1 for _, _, parts in components):
            raise ConfigError(f"every component needs a part: {components}")
        self.components = {name: Component(name, stage, parts) for name, stage, parts in components}
        self.asked = 0
        self.request: Request | None = None
        self.changing: set[str] = set()

    # -- parts ---------------------------------------------------------------------------------------------------

    def join(self, component: str, part: int) -> None:
        """Join: a new process, which has done nothing of what is asked."""
        there = self.component(component, part)
        if part in there.live:
            raise ProtocolViolationError(f"Join: part {part} of {component} is live")
        there.lost.discard(part)
        there.live.add(part)
        there.doing.pop(part, None)
        there.reports.pop(part, None)
        if there.word != _NORMAL:
            there.partial = True

    def fence(self, component: str, part: int) -> None:
        """Fence: the process is gone. If the part was to report, it has failed."""
        there = self._live(component, part, "Fence")
        there.live.discard(part)
        there.lost.add(part)
        there.doing.pop(part, None)
        if component in self.changing and part not in there.reports:
            self._add(there, part, Report(False, "its process is gone"))

    def take(self, component: str, part: int) -> Request | None:
        """Take: what is asked of the part now. None when there is nothing.

        Raises:
            ProtocolViolationError: The part has not reported about what it took before.
        """
        there = self._live(component, part, "Take")
        if part in there.doing:
            raise ProtocolViolationError(f"Take: part {part} of {component} has not reported about {there.doing[part]}")
        if component not in self.changing or part in there.reports or self.request is None:
            return None
        there.doing[part] = self.request.number
        return self.request

    def report(self, component: str, part: int, number: int, report: Report) -> bool:
        """Report: False when it is about a request that has ended, or has gone on without it.

        Raises:
            ProtocolViolationError: The part is not doing that request.
        """
        there = self._live(component, part, "Report")
        if there.doing.get(part) != number:
            raise ProtocolViolationError(f"Report: part {part} of {component} is not doing request {number}")
        del there.doing[part]
        if component not in self.changing or number != self.asked:
            return False
        self._add(there, part, report)
        return True

    # -- requests ------------------------------------------------------------------------------------------------

    @property
    def open(self) -> Request | None:
        """The request that is open."""
        return self.request if self.request is not None and self.request.outcome == "open" else None

    def ask(self, goal: Goal) -> Request:
        """Ask: begin a request. It is done at once when nothing is to change.

        Raises:
            ProtocolViolationError: One is open.
        """
        if self.open is not None:
            raise ProtocolViolationError(f"Ask: request {self.asked} is open")
        self.asked += 1
        self.request = Request(self.asked, goal)
        self._begin(self.request)
        if not self.changing:
            self.request.outcome = "done"
        return self.request

    def settle(self, component: str) -> bool:
        """Settle: all parts of a changing component have done it."""
        request, there = self.open, self.component(component, 0)
        if request is None or component not in self.changing or there.missing or there.failed:
            return False
        there.word, there.partial = _END[request.goal], False
        self.changing.discard(component)
        return True

    def fail(self) -> bool:
        """Fail: all have reported, and what is left has failed."""
        request = self.open
        left = [self.components[name] for name in self.changing]
        if request is None or not left or any(there.missing or not there.failed for there in left):
            return False
        self._end(request, "failed")
        return True

    def next_stage(self) -> bool:
        """NextStage: a stage is settled, and something is left to do."""
        request = self.open
        if request is None or self.changing or not self._todo(request.goal):
            return False
        self._begin(request)
        return True

    def finish(self) -> bool:
        """Finish: nothing is left to do."""
        request = self.open
        if request is None or self.changing or self._todo(request.goal):
            return False
        self._end(request, "done")
        return True

    def advance(self) -> tuple[Step, str] | None:
        """Take the first of Settle, Fail, NextStage and Finish that is due: its name and component. None: nothing."""
        for name in sorted(self.changing):
            if self.settle(name):
                return "Settle", name
        if self.fail():
            return "Fail", ""
        if self.next_stage():
            return "NextStage", ""
        return ("Finish", "") if self.finish() else None

    def expire(self) -> Request | None:
        """Expire: the time of the open request is over, or its client is gone."""
        request = self.open
        if request is not None:
            self._end(request, "late")
        return request

    def missing(self) -> dict[str, tuple[int, ...]]:
        """Return the parts that the open request waits for, by component."""
        return {name: self.components[name].missing for name in sorted(self.changing) if self.components[name].missing}

    def component(self, name: str, part: int) -> Component:
        """Return a component that has this part.

        Raises:
            ConfigError: There is none.
        """
        there = self.components.get(name)
        if there is None:
            raise ConfigError(f"{name!r} is no component; there are {', '.join(self.components)}")
        if not 0 <= part < there.parts:
            raise ConfigError(f"part={part} is outside 0 <= part < {there.parts} of {name}")
        return there

    # -- helpers -------------------------------------------------------------------------------------------------

    def _todo(self, goal: Goal) -> list[Component]:
        return [there for there in self.components.values() if there.partial or there.word != _END[goal]]

    def _begin(self, request: Request) -> None:
        todo = self._todo(request.goal)
        stages = [there.stage for there in todo] or [0]
        stage = min(stages) if request.goal == "clear" else max(stages)
        for there in self.components.values():
            there.reports = {}
        for there in todo:
            if there.stage == stage:
                self.changing.add(there.name)
                there.word, there.partial = _WAY[request.goal], True
                for part in sorted(there.lost):
                    self._add(there, part, Report(False, "its process is gone"))

    def _add(self, there: Component, part: int, report: Report) -> None:
        there.reports[part] = report
        if self.request is not None:
            self.request.reports.setdefault(there.name, {})[part] = report

    def _end(self, request: Request, how: Outcome) -> None:
        request.outcome = how
        self.changing.clear()

    def _live(self, component: str, part: int, action: str) -> Component:
        there = self.component(component, part)
        if part not in there.live:
            raise ProtocolViolationError(f"{action}: part {part} of {component} is not live")
        return there
