"""Clear and restore weights, cache and prefix tree together.

Protocol: ``spec/status.toml``, docs/protocols/status.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fdcomm.core.status import Goal
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, StaleReportError, StatusBusyError
from fdcomm.handle import Handle
from fdcomm.host.status_channel import DEFAULT_COMPONENTS

__all__ = ("PartReport", "StatusCoordinator", "StatusOrder", "StatusPart", "StatusResult", "http_code")

_PROTOCOL: Final = "status"
_LOOK_S: Final = 1.0


@dataclass(frozen=True)
class PartReport:
    """How one part of a component did it."""

    component: str
    part: int
    ok: bool
    reason: str


@dataclass(frozen=True)
class StatusResult:
    """How a request ended.

    Attributes:
        number: The request's number; numbers ascend from 1.
        goal: "clear" or "update".
        ok: Every component has changed, or needed no change.
        reports: What the parts reported. Components that were as wanted already have none.
    """

    number: int
    goal: Goal
    ok: bool
    reports: tuple[PartReport, ...]

    @property
    def failed(self) -> tuple[PartReport, ...]:
        """The reports of failure."""
        return tuple(report for report in self.reports if not report.ok)


class StatusCoordinator:
    """Asks for clears and updates. Any process with a handle to the queue may; one request is open at a time."""

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open."""
        self._queue = queue

    def declare(self, components: Sequence[tuple[str, int, int]] | None = None) -> None:
        """Say which components there are, before anything is asked. Every process may; all must say the same.

        Args:
            components: (name, stage, parts) of each; 0 parts means one for each rank. A clear goes through the stages
                upwards, an update downwards. None: model_weights and kv_cache in stage 0, a part for each rank, then
                prefix_tree in stage 1 with one part.

        Raises:
            ConfigError: This contradicts an earlier declaration.
        """
        default = [(name, stage, 1 if name == "prefix_tree" else 0) for name, stage in DEFAULT_COMPONENTS]
        chosen = default if components is None else [tuple(one) for one in components]
        self._queue._act(_PROTOCOL, "declare", chosen, name="status.declare")

    def clear(self, *, timeout: Timeout = DEFAULT) -> StatusResult:
        """Have every component cleared, and wait for it.

        A request that fails, or runs out of time, leaves a state from which both :meth:`clear` and :meth:`update`
        work: components of which not all parts are known to be as they should are changed again.

        Raises:
            StatusBusyError: Another request is under way.
            CommTimeoutError: Parts did not report in time; the text names them. Their late reports change nothing.
        """
        return self._ask("clear", timeout)

    def update(self, *, timeout: Timeout = DEFAULT) -> StatusResult:
        """Have every component restored, and wait for it. As :meth:`clear`."""
        return self._ask("update", timeout)

    def words(self) -> dict[str, int]:
        """Return the word of each component: 0 NORMAL, 1 UPDATING, -1 CLEARING, -2 CLEARED. One round trip."""
        return {name: there["word"] for name, there in self.statistics()["components"].items()}

    def statistics(self) -> dict[str, Any]:
        """Return a snapshot: the open request, the parts that it waits for, each component. One round trip."""
        return self._queue._view(_PROTOCOL, name="status.statistics")

    def _ask(self, goal: Goal, timeout: Timeout) -> StatusResult:
        name = f"status.{goal}"
        limit = timeout_seconds(timeout, name)
        end = self._queue._act(_PROTOCOL, "ask", goal, limit, timeout=limit, name=name)
        if end["outcome"] == "late":
            waits = "; ".join(f"{c}: part {', '.join(map(str, parts))}" for c, parts in end["missing"].items())
            raise CommTimeoutError(
                f"{name}: request {end['number']} ended after {limit} s without reports of {waits}",
                operation=name,
                waited_s=limit or 0.0,
                request=end["number"],
            )
        reports = tuple(
            PartReport(component, part, ok, reason)
            for component, parts in end["reports"].items()
            for part, (ok, reason) in sorted(parts.items())
        )
        return StatusResult(end["number"], goal, end["outcome"] == "done", reports)


def http_code(answer: StatusResult | BaseException, goal: Goal = "clear") -> int:
    """Return FastDeploy's code for what a request came to.

    200: done, or nothing to do. 400: the same goal is under way. 403: the opposite one is. 404: not done in time, or a
    part has failed.

    Args:
        answer: What :meth:`StatusCoordinator.clear` or ``update`` returned or raised.
        goal: What was asked, when it raised.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(answer, StatusResult):
        return 200 if answer.ok else 404
    if isinstance(answer, CommTimeoutError):
        return 404
    if isinstance(answer, StatusBusyError) and isinstance(answer.request, tuple):
        return 400 if answer.request[1] == goal else 403
    raise TypeError(f"{answer!r} is no answer to a clear or an update")


class StatusOrder:
    """What a part is asked to do. Report about it once, with :meth:`done` or :meth:`fail`."""

    def __init__(self, part: StatusPart, number: int, goal: Goal) -> None:
        self._part = part
        self.number = number
        self.goal = goal

    def done(self) -> None:
        """The part has done it.

        Raises:
            StaleReportError: The request has ended meanwhile; the part is counted as unknown, and will be asked again.
        """
        self._part._report(self.number, True, "")

    def fail(self, reason: str) -> None:
        """The part could not do it."""
        self._part._report(self.number, False, str(reason))


class StatusPart:
    """One part of a component, in the process that holds it. Another process of the same part is refused."""

    def __init__(self, queue: Handle, component: str, part: int | None = None) -> None:
        """Take part through a handle, which must stay open. ``part`` is the handle's ``client_id`` by default."""
        self._queue = queue
        self.component = component
        self.part = queue.client_id if part is None else part

    def take(self, *, timeout: Timeout = 0.0) -> StatusOrder | None:
        """Take what is asked of the part; None when there is nothing within ``timeout`` seconds. Join, Take.

        Raises:
            ProtocolViolationError: What was taken before has not been reported.
            ConfigError: The components were not declared, or have no such part.
        """
        name = "status.take"
        limit = timeout_seconds(timeout, name)
        taken = self._queue._act(_PROTOCOL, "take", self.component, self.part, limit, timeout=limit, name=name)
        return None if taken is None else StatusOrder(self, *taken)

    def serve(self, does: Mapping[Goal, Callable[[], None]], stop: Callable[[], bool] = lambda: False) -> None:
        """Do what is asked until ``stop()`` or the handle's close. An exception is reported as the part's failure."""
        while not stop():
            try:
                order = self.take(timeout=_LOOK_S)
            except ClosedError:
                return
            if order is not None:
                self._do(order, does)

    @staticmethod
    def _do(order: StatusOrder, does: Mapping[Goal, Callable[[], None]]) -> None:
        try:
            does[order.goal]()
        except Exception as error:  # noqa: BLE001 - whatever it raises is the part's report
            failure = f"{type(error).__name__}: {error}"
        else:
            failure = ""
        try:
            if failure:
                order.fail(failure)
            else:
                order.done()
        except StaleReportError:  # nobody waits any more; the next order says what is wanted
            return

    def _report(self, number: int, ok: bool, reason: str) -> None:
        args = (self.component, self.part, number, ok, reason)
        self._queue._act(_PROTOCOL, "report", *args, name="status.report")
