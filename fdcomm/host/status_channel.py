"""Clearing and restoring the components of one replica. Spec: ``spec/status.toml``."""

from __future__ import annotations

from typing import Any, Final, cast

from fdcomm.core.status import Goal, Report, Status
from fdcomm.deadline import Deadline
from fdcomm.errors import (
    ConfigError,
    DuplicateRankError,
    ProtocolViolationError,
    StaleReportError,
    StatusBusyError,
)
from fdcomm.host.members import Channel, Member, Place

__all__ = ("StatusChannel",)

DEFAULT_COMPONENTS: Final = (("model_weights", 0), ("kv_cache", 0), ("prefix_tree", 1))
"""FastDeploy's components and their stages: the prefix tree is cleared after the cache, and restored before it."""

_Party = tuple[str, int]


class _NoRanks:
    """This protocol's members are parts of components, not ranks."""

    def __init__(self) -> None:
        self.ranks = 0
        self.live: set[int] = set()
        self.lost: set[int] = set()

    def join(self, rank: int) -> None:
        raise ProtocolViolationError("status has no ranks")

    leave = fence = join


class StatusChannel(Channel):
    """The host's part: the only writer of the components' words."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._size = ranks
        self._core: Status | None = None
        self._parties: dict[_Party, int] = {}
        super().__init__(place, _NoRanks(), {"ranks": ranks})

    # -- set-up --------------------------------------------------------------------------------------------------

    def declare(self, session: int, components: list[tuple[str, int, int]]) -> None:
        """Say which components there are: (name, stage, parts; 0 parts: one for each rank). Repeating it is harmless.

        Raises:
            ConfigError: They contradict each other, or an earlier declaration.
        """
        with self._readable:
            self._member(session, "status.declare")
            wanted = tuple((name, stage, parts or self._size) for name, stage, parts in components)
            if self._core is None:
                self._core = Status(wanted)
                self._record("Declare", {"components": [list(one) for one in wanted]})
                return
            there = tuple((c.name, c.stage, c.parts) for c in self._core.components.values())
            if there != wanted:
                raise ConfigError(f"status.declare: {wanted} contradicts what was declared before, {there}")

    # -- parts ---------------------------------------------------------------------------------------------------

    def take(self, session: int, component: str, part: int, timeout: float | None) -> tuple[int, Goal] | None:
        """Take (after Join, the first time). None: nothing was asked of the part in time."""
        operation = "status.take"
        self._runtime.point("Take.enter")
        with self._readable:
            core = self._claim_party(self._member(session, operation), component, part, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while (request := core.take(component, part)) is None:
                if deadline.expired():
                    return None
                self._readable.wait(deadline.remaining())
                self._member(session, operation)
            self._record("Take", {"component": component, "part": part}, {"number": request.number})
            return request.number, request.goal

    def report(self, session: int, component: str, part: int, number: int, ok: bool, reason: str) -> None:
        """Report, and what follows.

        Raises:
            StaleReportError: The request has ended meanwhile; the report changed nothing.
        """
        operation = "status.report"
        self._runtime.point("Report.enter")
        with self._readable:
            self._member(session, operation)
            core = self._declared(operation)
            if self._parties.get((component, part)) != session:
                raise ProtocolViolationError(f"{operation}: this session is not part {part} of {component}")
            counts = core.report(component, part, number, Report(bool(ok), reason))
            self._record("Report", {"component": component, "part": part, "ok": int(ok)}, {"counts": counts})
            if not counts:
                raise StaleReportError(
                    f"{operation}: request {number} has ended; take what is asked now",
                    operation=operation,
                    request=number,
                )
            self._follow(core)

    # -- clients -------------------------------------------------------------------------------------------------

    def ask(self, session: int, goal: Goal, timeout: float | None) -> dict[str, Any]:
        """Ask, and wait for the end of the request; Expire at its time limit.

        Returns:
            number, goal, outcome ("done", "failed" or "late"), reports (component -> part -> (ok, reason)), missing
            (component -> parts that had not reported when it ended).

        Raises:
            StatusBusyError: Another request is open.
        """
        operation = f"status.{goal}"
        self._runtime.point("Ask.enter")
        with self._readable:
            member = self._member(session, operation)
            core = self._declared(operation)
            busy = core.open
            if busy is not None:
                raise StatusBusyError(
                    f"{operation}: request {core.asked} ({busy.goal}) is under way, and waits for "
                    f"{_names(core.missing()) or 'nothing'}; try again when it has ended",
                    operation=operation,
                    request=(core.asked, busy.goal),
                )
            request = core.ask(goal)
            self._record("Ask", {"goal": int(goal == "clear")}, {"number": request.number, "outcome": request.outcome})
            self._follow(core)
            deadline = Deadline(timeout, self._runtime.monotonic)
            missing: dict[str, tuple[int, ...]] = {}
            try:
                while core.open is request:
                    if deadline.expired():
                        missing = core.missing()
                        self._expire(core)
                        break
                    self._writable.wait(deadline.remaining())
                    self._member(session, operation)
            finally:
                if request is core.open:  # the session ended
                    self._expire(core)
            return {
                "number": request.number,
                "goal": goal,
                "outcome": request.outcome,
                "reports": {
                    name: {part: (report.ok, report.reason) for part, report in reports.items()}
                    for name, reports in request.reports.items()
                },
                "missing": missing,
                "client": member.producer,
            }

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "view")
            core = self._declared("status.view")
            return {
                "asked": core.asked,
                "open": core.open.goal if core.open else None,
                "missing": core.missing(),
                "components": {
                    c.name: {
                        "word": int(c.word),
                        "partial": c.partial,
                        "live": sorted(c.live),
                        "lost": sorted(c.lost),
                        "doing": dict(c.doing),
                    }
                    for c in core.components.values()
                },
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _declared(self, operation: str) -> Status:
        if self._core is None:
            raise ConfigError(f"{operation}: no components yet; call StatusCoordinator.declare first")
        return self._core

    def _claim_party(self, member: Member, component: str, part: int, operation: str) -> Status:
        core = self._declared(operation)
        core.component(component, part)
        holder = self._parties.get((component, part))
        if holder == member.session:
            return core
        if holder is not None and holder in self._members:
            if self.place.is_connected(holder):
                who = self._members[holder].who
                raise DuplicateRankError(
                    f"{operation}: {who} is part {part} of {component} already", operation=operation
                )
            self._remove(self._members[holder], lost=True)
        self._parties[component, part] = member.session
        core.join(component, part)
        self._record("Join", {"component": component, "part": part})
        self._readable.notify_all()
        return core

    def _follow(self, core: Status) -> None:
        """Everything that is due after a change."""
        while (step := core.advance()) is not None:
            action, component = step
            self._record(action, {"component": component} if component else {})
        self._wake_all()

    def _expire(self, core: Status) -> None:
        if core.expire() is not None:
            self._record("Expire", {})
            self._wake_all()

    def _exit(self, member: Member, *, lost: bool) -> None:
        held = [party for party, session in self._parties.items() if session == member.session]
        for component, part in held:
            del self._parties[component, part]
            core = cast("Status", self._core)
            core.fence(component, part)
            self._record("Fence", {"component": component, "part": part})
            self._follow(core)

    def _post(self) -> dict[str, Any]:
        core = self._core
        if core is None:
            return {}
        return {
            "asked": core.asked,
            "outcome": core.request.outcome if core.request else "",
            "words": {c.name: int(c.word) for c in core.components.values()},
            "partial": {c.name: c.partial for c in core.components.values()},
            "changing": sorted(core.changing),
        }


def _names(missing: dict[str, tuple[int, ...]]) -> str:
    return "; ".join(f"{name}: part {', '.join(map(str, parts))}" for name, parts in missing.items())
