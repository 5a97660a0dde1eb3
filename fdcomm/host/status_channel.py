"""Clearing and restoring the components of one replica. Spec: ``spec/status.toml``."""

from __future__ import annotations

from typing import Any, cast

from fdcomm.core.status import Goal, Report, Status
from fdcomm.deadline import Deadline
from fdcomm.errors import (
    ConfigError,
    DuplicateRankError,
    ProtocolViolationError,
    StaleReportError,
    StatusBusyError,
)
from fdcomm.host.members import Channel, Member, NoRanks, Place
from fdcomm.host.mirrors import Mirrors
from fdcomm.host.status_shape import checked, names_of

__all__ = ("StatusChannel",)

_Party = tuple[str, int]


class StatusChannel(Channel):
    """The host's part: the only writer of the components' words."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._size = ranks
        self._core: Status | None = None
        self._parties: dict[_Party, int] = {}
        self._asker = 0
        self._cancelled = False
        self._changes = 0
        self._mirrors: Mirrors[str] = Mirrors("status")
        super().__init__(place, NoRanks("status"), {"ranks": ranks})

    # -- set-up --------------------------------------------------------------------------------------------------

    def declare(self, session: int, components: list[tuple[str, int, int]]) -> None:
        """Say which components there are: (name, stage, parts; 0 parts: one for each rank). Repeating it is harmless.

        Raises:
            ConfigError: They contradict each other, or an earlier declaration.
        """
        wanted = checked(components, self._size)
        with self._readable:
            self._member(session, "status.declare")
            if self._core is None:
                self._core = Status(wanted)
                self._record("Declare", {"components": [list(one) for one in wanted]})
                return
            there = tuple((c.name, c.stage, c.parts) for c in self._core.components.values())
            if there != wanted:
                raise ConfigError(f"status.declare: {wanted} contradicts what was declared before, {there}")

    def mirror(self, session: int, component: str, name: str, suffix: int | str | None, directory: str | None) -> None:
        """Write the component's word into a signal, now and whenever it changes.

        Raises:
            SignalError: The signal is not there, or is no array of int32.
        """
        operation = "status.mirror"
        with self._readable:
            self._member(session, operation)
            self._declared(operation).component(component, 0)
        mirror = self._mirrors.attach(component, 1, name, suffix, directory)
        with self._readable:
            try:
                self._member(session, operation)
            except BaseException:
                mirror.close()
                raise
            self._mirrors.set(component, mirror, [self._declared(operation).components[component].word])

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
            self._member(session, operation)
            core = self._declared(operation)
            if goal not in ("clear", "update"):
                raise ConfigError(f"{operation}: a request is for 'clear' or 'update'")
            if core.open is not None and not self.place.is_connected(self._asker):
                self._expire(core)  # who asked is gone, and the host has not noticed yet
            busy = core.open
            if busy is not None:
                raise StatusBusyError(
                    f"{operation}: request {core.asked} ({busy.goal}) is under way, and waits for "
                    f"{names_of(core.missing()) or 'nothing'}; try again when it has ended",
                    operation=operation,
                    request=(core.asked, busy.goal),
                )
            request = core.ask(goal)
            self._asker, self._cancelled = session, False
            self._record("Ask", {"goal": int(goal == "clear")}, {"number": request.number, "outcome": request.outcome})
            self._follow(core)
            deadline = Deadline(timeout, self._runtime.monotonic)
            missing: dict[str, tuple[int, ...]] = {}
            cancelled = False
            try:
                while core.open is request:
                    missing, cancelled = core.missing(), self._cancelled
                    if cancelled or deadline.expired():
                        self._expire(core)
                        break
                    self._writable.wait(deadline.remaining())
                    self._member(session, operation)
                self._member(session, operation)
            finally:
                if request is core.open:  # the host ends
                    self._expire(core)
            return {
                "number": request.number,
                "goal": goal,
                "outcome": request.outcome,
                "reports": {
                    name: {part: (report.ok, report.reason) for part, report in reports.items()}
                    for name, reports in request.reports.items()
                },
                "missing": missing if request.outcome == "late" else {},
                "cancelled": cancelled,
            }

    def cancel(self, session: int) -> bool:
        """Have the request end that this session has asked, if one is open: its call expires it."""
        with self._readable:
            self._member(session, "status.cancel")
            if self._core is None or self._core.open is None or self._asker != session:
                return False
            self._cancelled = True
            self._wake_all()
            return True

    def watch(self, session: int, seen: int, timeout: float | None) -> dict[str, Any]:
        """Return a snapshot as soon as something has changed since the one whose "changes" was ``seen``, or in time."""
        operation = "status.watch"
        with self._readable:
            self._member(session, operation)
            core = self._declared(operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while self._changes == seen and not deadline.expired():
                self._writable.wait(deadline.remaining())
                self._member(session, operation)
            return self._snapshot(core)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot: plain values only."""
        with self._readable:
            self._member(session, "view")
            return self._snapshot(self._declared("status.view"))

    def shut_down(self) -> None:
        """Wake everybody; the mirrors keep what they show."""
        super().shut_down()
        with self._readable:
            self._mirrors.close()

    # -- inside the critical section -----------------------------------------------------------------------------

    def _snapshot(self, core: Status) -> dict[str, Any]:
        return {
            "changes": self._changes,
            "asked": core.asked,
            "open": core.open.goal if core.open else None,
            "missing": core.missing(),
            "components": {
                c.name: {
                    "word": c.word,
                    "partial": c.partial,
                    "live": sorted(c.live),
                    "lost": sorted(c.lost),
                    "doing": dict(c.doing),
                }
                for c in core.components.values()
            },
            "mirrors": dict(self._mirrors.view()),
        }

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
        self._changed(core)
        return core

    def _follow(self, core: Status) -> None:
        """Everything that is due after a change."""
        while (step := core.advance()) is not None:
            action, component = step
            self._record(action, {"component": component} if component else {})
        self._changed(core)

    def _changed(self, core: Status) -> None:
        """Tell who reads: first the mirrors, so that whoever is answered can rely on them."""
        self._changes += 1
        self._mirrors.show(lambda component: [core.components[component].word])
        self._wake_all()

    def _expire(self, core: Status) -> None:
        if core.expire() is not None:
            self._record("Expire", {})
            self._changed(core)

    def _exit(self, member: Member, *, lost: bool) -> None:
        if self._core is not None and self._asker == member.session:
            self._expire(self._core)
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
        there = list(core.components.values())
        return {
            "asked": core.asked,
            "outcome": core.request.outcome if core.request else "",
            "word": [c.word for c in there],
            "partial": [c.partial for c in there],
            "changing": [c.name for c in there if c.name in core.changing],
            "reports": [[[part, c.reports[part].ok] for part in sorted(c.reports)] for c in there],
            "lost": [sorted(c.lost) for c in there],
        }
