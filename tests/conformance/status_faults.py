"""Planted faults: small mistakes in the status core or channel, each of which driving the edges must see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.core.status import Component, Report, Request, Status
from fdcomm.host.status_channel import StatusChannel
from tests.conformance.channel_faults import Change, silent, without

__all__ = ("CHANNEL", "CORE")


class _LateReportCounts(Status):
    def report(self, component: str, part: int, number: int, report: Report) -> bool:
        super().report(component, part, number, report)
        if component in self.changing:
            self._add(self.component(component, part), part, report)
            return True
        return False


class _LossForgotten(Status):
    def fence(self, component: str, part: int) -> None:
        kept = dict(self.component(component, part).reports)
        super().fence(component, part)
        self.component(component, part).reports = kept


class _JoinCountsAsDone(Status):
    def join(self, component: str, part: int) -> None:
        there = self.component(component, part)
        partial, reports = there.partial, dict(there.reports)
        super().join(component, part)
        there.partial, there.reports = partial, reports


class _LostAreWaitedFor(Status):
    def _begin(self, request: Request) -> None:
        super()._begin(request)
        for there in self.components.values():
            there.reports = {}


class _AllStagesAtOnce(Status):
    def _begin(self, request: Request) -> None:
        stages = {name: there.stage for name, there in self.components.items()}
        for there in self.components.values():
            there.stage = 0
        super()._begin(request)
        for name, stage in stages.items():
            self.components[name].stage = stage


class _StagesBackwards(Status):
    def _begin(self, request: Request) -> None:
        goal = request.goal
        for there in self.components.values():
            there.stage = -there.stage
        super()._begin(request)
        for there in self.components.values():
            there.stage = -there.stage
        request.goal = goal


class _FailsAtOnce(Status):
    def fail(self) -> bool:
        request = self.open
        if request is not None and any(self.components[name].failed for name in self.changing):
            self._end(request, "failed")
            return True
        return False


class _OldReportsStay(Status):
    def _begin(self, request: Request) -> None:
        kept = {name: dict(there.reports) for name, there in self.components.items()}
        super()._begin(request)
        for name, there in self.components.items():
            if name not in self.changing:
                there.reports = kept[name]


class _LateIsForgotten(Status):
    def expire(self) -> Request | None:
        request = super().expire()
        if request is not None:
            for there in self.components.values():
                there.partial = False
        return request


class _TakenTwice(Status):
    def take(self, component: str, part: int) -> Request | None:
        there: Component = self.component(component, part)
        if there.doing.get(part) == self.asked:
            del there.doing[part]
        return super().take(component, part)


CORE: dict[str, Callable[[tuple[tuple[str, int, int], ...]], Status]] = {
    "a late report counts": _LateReportCounts,
    "a loss is no failure": _LossForgotten,
    "a new process counts as cleared": _JoinCountsAsDone,
    "lost parts are waited for": _LostAreWaitedFor,
    "all stages at once": _AllStagesAtOnce,
    "stages in the wrong order": _StagesBackwards,
    "the first failure ends it": _FailsAtOnce,
    "reports of the request before stay": _OldReportsStay,
    "what was late counts as done": _LateIsForgotten,
    "an order is taken twice": _TakenTwice,
}


def _follows_nothing(original: Any) -> Any:
    def exit_(self: StatusChannel, member: Any, *, lost: bool) -> None:
        self._follow, kept = self._changed, self._follow  # type: ignore[method-assign]
        try:
            original(self, member, lost=lost)
        finally:
            self._follow = kept  # type: ignore[method-assign]

    return exit_


# Name -> method of the channel, and what becomes of it.
CHANNEL: dict[str, tuple[str, Change]] = {
    "a request wakes no part": ("ask", silent),
    "the last report wakes nobody": ("report", silent),
    "the end of a session wakes nobody": ("close_session", silent),
    "a loss has no consequence": ("_exit", _follows_nothing),
    "a time limit is not recorded": ("_record", without("Expire")),
    "a stage is not recorded": ("_record", without("NextStage")),
}
