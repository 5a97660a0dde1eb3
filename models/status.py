"""The status protocol as ``spec/status.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import status_properties as properties
from models.kernel import Action, Model, Step, replaced, replaced_within
from models.status_state import (
    AWAY,
    CLEARED,
    CLEARING,
    DEAD,
    LIVE,
    LOST,
    NORMAL,
    UPDATING,
    Config,
    Guards,
    Reported,
    State,
    initial_state,
)

__all__ = ("Config", "Guards", "Reported", "State", "Status")

Steps: TypeAlias = Iterator[Step[State]]


class Status(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("status")
        self.components = range(self.config.components)
        self.real = self.config.real
        self.everyone = [(component, part) for component in self.real for part in self.config.parts_of(component)]
        self.actions = {
            "Join": self.join,
            "Crash": self.crash,
            "Fence": self.fence,
            "Ask": self.ask,
            "Take": self.take,
            "Report": self.report,
            "Settle": self.settle,
            "NextStage": self.next_stage,
            "Finish": self.finish,
            "Fail": self.fail,
            "Expire": self.expire,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        return (initial_state(self.config),)

    # -- life of the parts ---------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """A new process: restored, and it has done nothing of what is asked."""
        for k, p in self.everyone:
            if s.status[k][p] == AWAY or (s.status[k][p] == LOST and self.config.returns):
                after = s._replace(
                    status=replaced_within(s.status, k, p, LIVE), holds=replaced_within(s.holds, k, p, "full")
                )
                if self.guards.JoinMarks:
                    kept = frozenset(report for report in s.reports[k] if report.part != p)
                    after = after._replace(
                        partial=replaced(s.partial, k, s.partial[k] or s.word[k] != NORMAL),
                        reports=replaced(s.reports, k, kept),
                    )
                yield _of("Join", k, p), after

    def crash(self, s: State) -> Steps:
        """The process is gone; the host has not noticed."""
        for k, p in self.everyone:
            if s.status[k][p] == LIVE and p in self.config.mortal:
                yield _of("Crash", k, p), s._replace(status=replaced_within(s.status, k, p, DEAD))

    def fence(self, s: State) -> Steps:
        """The host notices: the part has failed, if it was to report."""
        for k, p in self.everyone:
            if s.status[k][p] == DEAD:
                reports = s.reports
                if self.guards.FenceFails and k in s.changing and p not in reported(s, k):
                    reports = replaced(reports, k, reports[k] | {Reported(p, False)})
                after = s._replace(
                    status=replaced_within(s.status, k, p, LOST),
                    doing=replaced_within(s.doing, k, p, 0),
                    reports=reports,
                )
                yield _of("Fence", k, p), after

    # -- requests ------------------------------------------------------------------------------------------------

    def ask(self, s: State) -> Steps:
        """A client wants all components cleared (1) or restored (0)."""
        full = self.config.max_asked is not None and s.asked >= self.config.max_asked
        if full or (self.guards.OneAtATime and is_open(s)):
            return
        for number, goal in enumerate(("update", "clear")):
            earlier = tuple("late" if outcome == "open" else outcome for outcome in s.outcome)
            outcome = "open" if self._todo(s, goal) else "done"
            after = s._replace(asked=s.asked + 1, goals=(*s.goals, goal), outcome=(*earlier, outcome))
            yield Action("Ask", (("goal", number),)), self._begin(after, goal)

    def _begin(self, s: State, goal: str) -> State:
        first = self._first(s, goal)
        way = CLEARING if goal == "clear" else UPDATING
        gone = [
            frozenset(Reported(p, False) for p in self.config.parts_of(k) if k in first and s.status[k][p] == LOST)
            for k in self.components
        ]
        return s._replace(
            changing=first,
            word=tuple(way if k in first else word for k, word in enumerate(s.word)),
            partial=tuple(k in first or partial for k, partial in enumerate(s.partial)),
            reports=tuple(gone) if self.guards.FenceFails else (frozenset(),) * len(self.components),
        )

    def _first(self, s: State, goal: str) -> frozenset[int]:
        missing = self._todo(s, goal)
        if not missing or not self.guards.Staged:
            return frozenset(missing)
        stages = [k // self.config.per_stage for k in missing]
        stage = min(stages) if goal == "clear" else max(stages)
        return frozenset(k for k in missing if k // self.config.per_stage == stage)

    def take(self, s: State) -> Steps:
        """An idle part takes what is asked of it."""
        for k, p in self.everyone:
            idle = s.status[k][p] == LIVE and s.doing[k][p] == 0
            if idle and k in s.changing and p not in reported(s, k):
                yield _of("Take", k, p), s._replace(doing=replaced_within(s.doing, k, p, s.asked))

    def report(self, s: State) -> Steps:
        """A part has done what it took, or has failed."""
        for k, p in self.everyone:
            number = s.doing[k][p]
            if s.status[k][p] not in (LIVE, DEAD) or not number:
                continue
            for ok in (False, True):
                content = ("empty" if s.goals[number - 1] == "clear" else "full") if ok else "mixed"
                keyed = number == s.asked or not self.guards.ReportsKeyed
                counts = k in s.changing and keyed and (ok or self.guards.FailureEnds)
                yield (
                    Action("Report", (("component", k), ("part", p), ("ok", int(ok)))),
                    s._replace(
                        doing=replaced_within(s.doing, k, p, 0),
                        holds=replaced_within(s.holds, k, p, content),
                        reports=replaced(s.reports, k, s.reports[k] | {Reported(p, ok)}) if counts else s.reports,
                    ),
                )

    def settle(self, s: State) -> Steps:
        """All parts of a component have done it."""
        for k in sorted(s.changing):
            if self._all_reported(s, k) and all(report.ok for report in s.reports[k]):
                yield (
                    Action("Settle", (("component", k),)),
                    s._replace(
                        word=replaced(s.word, k, CLEARED if s.goals[-1] == "clear" else NORMAL),
                        partial=replaced(s.partial, k, False),
                        changing=s.changing - {k},
                    ),
                )

    def next_stage(self, s: State) -> Steps:
        """The components of a stage are settled, and others are left."""
        if is_open(s) and not s.changing and self._todo(s, s.goals[-1]):
            yield Action("NextStage"), self._begin(s, s.goals[-1])

    def finish(self, s: State) -> Steps:
        """Nothing is left."""
        if is_open(s) and not s.changing and not self._todo(s, s.goals[-1]):
            yield Action("Finish"), self._end(s, "done")

    def fail(self, s: State) -> Steps:
        """All have reported, and what is left has failed: what was done is settled before."""
        failed = all(self._all_reported(s, k) and not all(report.ok for report in s.reports[k]) for k in s.changing)
        if is_open(s) and s.changing and failed:
            yield Action("Fail"), self._end(s, "failed")

    def expire(self, s: State) -> Steps:
        """The time is over, or the client is gone."""
        if is_open(s) and self.guards.ExpiryFrees:
            yield Action("Expire"), self._end(s, "late")

    def _all_reported(self, s: State, k: int) -> bool:
        return reported(s, k) == set(self.config.parts_of(k)) if self.guards.WaitsForAll else bool(s.reports[k])

    def _todo(self, s: State, goal: str) -> list[int]:
        """The components that have not the goal's word, or are partial."""
        end = CLEARED if goal == "clear" else NORMAL
        return [k for k in self.real if s.word[k] != end or s.partial[k]]

    @staticmethod
    def _end(s: State, how: str) -> State:
        return s._replace(outcome=(*s.outcome[:-1], how), changing=frozenset())


def reported(s: State, k: int) -> set[int]:
    """Return the parts of a component that have reported."""
    return {report.part for report in s.reports[k]}


def is_open(s: State) -> bool:
    """Return True while a request is open: the latest."""
    return bool(s.outcome) and s.outcome[-1] == "open"


def _of(name: str, component: int, part: int) -> Action:
    return Action(name, (("component", component), ("part", part)))
