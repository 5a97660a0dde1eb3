"""The part of a component: does what is asked of it, and reports.

Protocol: ``spec/status.toml``, docs/protocols/status.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from fdcomm import arguments
from fdcomm.core.status import Goal
from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, StaleReportError
from fdcomm.handle import Handle, handle_of

__all__ = ("PartStatistics", "StatusOrder", "StatusPart", "checked_work")

_PROTOCOL: Final = "status"
_LOOK_S: Final = 1.0


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
        """The part could not do it.

        Raises:
            StaleReportError: As :meth:`done`.
        """
        self._part._report(self.number, False, str(reason))


@dataclass(frozen=True)
class PartStatistics:
    """What this object has done.

    Attributes:
        taken: Orders.
        done: Orders that were reported done.
        failed: Orders that were reported as failed.
        late: Reports that came when the request had ended.
    """

    taken: int = 0
    done: int = 0
    failed: int = 0
    late: int = 0


class StatusPart:
    """One part of a component, in the process that holds it. Another process of the same part is refused."""

    def __init__(self, queue: Handle, component: str, part: int | None = None) -> None:
        """Take part through a handle, which must stay open. ``part`` is the handle's ``client_id`` by default.

        Raises:
            ConfigError: ``queue`` is no handle, ``component`` no string, or ``part`` no whole number.
        """
        self._queue = handle_of(queue, "StatusPart")
        self.component = arguments.text(component, "component", _PROTOCOL)
        self.part = queue.client_id if part is None else arguments.number(part, "part", _PROTOCOL)
        self._counts: Counter[str] = Counter()

    def take(self, *, timeout: Timeout = 0.0) -> StatusOrder | None:
        """Take what is asked of the part; None when there is nothing within ``timeout`` seconds. Join, Take.

        Raises:
            ProtocolViolationError: What was taken before has not been reported.
            ConfigError: The components were not declared, or have no such part.
        """
        name = "status.take"
        limit = timeout_seconds(timeout, name)
        taken = self._queue._act(_PROTOCOL, "take", self.component, self.part, limit, timeout=limit, name=name)
        if taken is None:
            return None
        self._counts["taken"] += 1
        return StatusOrder(self, *taken)

    def statistics(self) -> PartStatistics:
        """Return what was done through this object. Local; a part has one order at a time, so no lock is needed."""
        return PartStatistics(**self._counts)

    def serve(self, does: Mapping[Goal, Callable[[], None]], stop: Callable[[], bool] = lambda: False) -> None:
        """Do what is asked until ``stop()`` or the handle's close. An exception is reported as the part's failure."""
        checked_work(does, stop)
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
        try:
            self._queue._act(_PROTOCOL, "report", *args, name="status.report")
        except StaleReportError:
            self._counts["late"] += 1
            raise
        self._counts["done" if ok else "failed"] += 1


def checked_work(does: object, stop: object) -> None:
    """Raise ConfigError for what no part can serve with."""
    name = "status.serve"
    if not isinstance(does, Mapping):
        raise ConfigError(f"{name}: does={does!r} must map each goal to a function", operation=name)
    for goal, work in does.items():
        arguments.function(work, f"does[{goal!r}]", name)
    arguments.function(stop, "stop", name)
