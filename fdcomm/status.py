"""Clear and restore weights, cache and prefix tree together.

Protocol: ``spec/status.toml``, docs/protocols/status.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fdcomm import arguments
from fdcomm.core.status import Goal
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    CommTimeoutError,
    ConfigError,
    StatusBusyError,
    StatusCancelledError,
)
from fdcomm.handle import Handle, handle_of
from fdcomm.host.status_shape import DEFAULT_COMPONENTS, checked, names_of
from fdcomm.signals.arguments import mirrored
from fdcomm.status_constants import ModelWeightsStatus
from fdcomm.watched import period, watched

__all__ = ("PartReport", "Progress", "StatusCoordinator", "StatusResult", "StatusWord", "WordWait", "http_code")

_PROTOCOL: Final = "status"

Progress: TypeAlias = Callable[[dict[str, Any]], object]
"""Called now and then while a call waits, with what :meth:`StatusCoordinator.statistics` returns."""


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
        self._queue = handle_of(queue, "StatusCoordinator")

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
        chosen = checked(default if components is None else components, 0)
        self._queue._act(_PROTOCOL, "declare", chosen, name="status.declare")

    def clear(
        self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0
    ) -> StatusResult:
        """Have every component cleared, and wait for it.

        A request that fails, or runs out of time, leaves a state from which both :meth:`clear` and :meth:`update`
        work: components of which not all parts are known to be as they should are changed again.

        Args:
            timeout: Seconds; None waits for ever.
            progress: Called in this thread while the call waits, with what :meth:`statistics` returns: ``missing``
                says which parts are waited for. When it raises, the request is cancelled, and the same is raised.
            every: Seconds between two calls of ``progress``.

        Raises:
            StatusBusyError: Another request is under way.
            CommTimeoutError: Parts did not report in time; the text names them. Their late reports change nothing.
            StatusCancelledError: :meth:`cancel` ended it.
        """
        return self._ask("clear", timeout, progress, every)

    def update(
        self, *, timeout: Timeout = DEFAULT, progress: Progress | None = None, every: float = 1.0
    ) -> StatusResult:
        """Have every component restored, and wait for it. As :meth:`clear`."""
        return self._ask("update", timeout, progress, every)

    def cancel(self) -> bool:
        """End the request that another thread waits for through this handle. False: there was none to end."""
        return bool(self._queue._act(_PROTOCOL, "cancel", name="status.cancel"))

    def mirror(
        self, component: str, name: str, suffix: int | str | None = None, *, directory: str | None = None
    ) -> None:
        """Have the host write a component's word into an :class:`IPCSignal` of int32, for readers of the plain word.

        The signal must be there: the engine makes it. From then on the host is the only one that may write it; before
        :meth:`clear` or :meth:`update` returns, it shows the new word. A signal that is removed or replaced later
        hurts nobody: :meth:`statistics` says so under "mirrors", and this call attaches to the new one.

        Args:
            component: One that was declared.
            name: As the engine's ``IPCSignal(name, ..., suffix=suffix)``.
            suffix: The same.
            directory: Where its file is, if it is not where signals are.

        Raises:
            ConfigError: There is no such component, or an argument is of the wrong type.
            SignalError: No signal has the name, or it holds something else than integers.
        """
        where = mirrored(component, name, suffix, directory, "status.mirror")
        self._queue._act(_PROTOCOL, "mirror", *where, name="status.mirror")

    def word(self, component: str) -> StatusWord:
        """Return a view of one component."""
        return StatusWord(self, component)

    def watch(self, seen: Mapping[str, Any] | None = None, *, timeout: Timeout = DEFAULT) -> dict[str, Any]:
        """Return :meth:`statistics` as soon as something is not as in ``seen``, an earlier answer; or after the time.

        In a thread of its own this is the progress of a request: "missing" has the parts that it waits for.
        """
        limit = timeout_seconds(timeout, "status.watch")
        changes = arguments.changes(seen, "status.watch")
        found: dict[str, Any] = self._queue._act(_PROTOCOL, "watch", changes, limit, timeout=limit, name="status.watch")
        return found

    def words(self) -> dict[str, int]:
        """Return the word of each component: 0 NORMAL, 1 UPDATING, -1 CLEARING, -2 CLEARED. One round trip."""
        return {name: there["word"] for name, there in self.statistics()["components"].items()}

    def statistics(self) -> dict[str, Any]:
        """Return a snapshot: the open request, the parts that it waits for, each component. One round trip."""
        return self._queue._view(_PROTOCOL, name="status.statistics")

    def _ask(self, goal: Goal, timeout: Timeout, progress: Progress | None, every: float) -> StatusResult:
        name = f"status.{goal}"
        limit, seconds = timeout_seconds(timeout, name), period(progress, every, name)

        def ask() -> Any:
            return self._queue._act(_PROTOCOL, "ask", goal, limit, timeout=limit, name=name)

        if progress is None or seconds is None:
            end = ask()
        else:
            runtime = self._queue._runtime
            end = watched(runtime, ask, look=self.statistics, progress=progress, every=seconds, end=self.cancel)
        waits = names_of(end["missing"])
        if end["cancelled"]:
            raise StatusCancelledError(
                f"{name}: request {end['number']} was cancelled while it waited for {waits}",
                operation=name,
                request=end["number"],
            )
        if end["outcome"] == "late":
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


class StatusWord:
    """A view of one component: its word, and whether that is so of every part."""

    def __init__(self, coordinator: StatusCoordinator, component: str) -> None:
        """Made by :meth:`StatusCoordinator.word`."""
        self._coordinator = coordinator
        self.component = arguments.text(component, "component", "status.word")

    @property
    def value(self) -> ModelWeightsStatus:
        """The word: NORMAL 0, UPDATING 1, CLEARING -1, CLEARED -2. One round trip, as :attr:`partial`."""
        return ModelWeightsStatus(self._there(self._coordinator.statistics())["word"])

    @property
    def partial(self) -> bool:
        """True while the parts may differ: under way, not completed, or a part was started anew."""
        return bool(self._there(self._coordinator.statistics())["partial"])

    def wait_for(self, *words: int, timeout: Timeout = DEFAULT, progress: Progress | None = None) -> ModelWeightsStatus:
        """Wait until the word is one of these, and so of every part if it is NORMAL or CLEARED; return it.

        ``progress`` is called in this thread at the begin and at every change, with what
        :meth:`StatusCoordinator.statistics` returns. What it raises is raised.

        Every change is seen: a word that comes and goes between two looks of a reader ends the wait only if it is
        still there when the host answers.

        Raises:
            CommTimeoutError: It was none of them in time.
            ConfigError: A value is no word, or there is none to wait for.
        """
        wait = WordWait(self, words, timeout, progress)
        seen: dict[str, Any] | None = None
        while True:
            seen = self._coordinator.watch(seen, timeout=wait.remaining())
            found = wait.look(seen)
            if found is not None:
                return found

    def _there(self, view: Mapping[str, Any]) -> dict[str, Any]:
        there: dict[str, Any] | None = view["components"].get(self.component)
        if there is None:
            raise ConfigError(f"{self.component!r} is no component; there are {', '.join(view['components'])}")
        return there


class WordWait:
    """A wait for one of some words, which hears of every change."""

    def __init__(self, word: StatusWord, words: tuple[int, ...], timeout: Timeout, progress: Progress | None) -> None:
        self._name = name = f"status.{word.component}.wait_for"
        unknown = [one for one in words if one not in tuple(ModelWeightsStatus)]
        if unknown or not words:
            raise ConfigError(f"{name}: {unknown or 'nothing'} to wait for; words are -2 to 1", operation=name)
        if progress is not None:
            arguments.function(progress, "progress", name)
        self._word, self._words, self._progress = word, words, progress
        self._limit = timeout_seconds(timeout, name)
        self._deadline = Deadline(self._limit, word._coordinator._queue._runtime.monotonic)

    def remaining(self) -> float | None:
        """Return the seconds that are left."""
        return self._deadline.remaining()

    def look(self, seen: dict[str, Any]) -> ModelWeightsStatus | None:
        """Return the word if it is one of these; else tell of the change, and go on or raise CommTimeoutError."""
        there = self._word._there(seen)
        ends = there["word"] in (ModelWeightsStatus.NORMAL, ModelWeightsStatus.CLEARED)
        if there["word"] in self._words and not (ends and there["partial"]):
            return ModelWeightsStatus(there["word"])
        if self._progress is not None:
            self._progress(seen)
        if self._deadline.expired():
            raise CommTimeoutError(
                f"{self._name}: the word was {there['word']} after {self._limit} s, and none of {self._words}",
                operation=self._name,
                waited_s=self._limit or 0.0,
            )
        return None


def http_code(answer: StatusResult | BaseException, goal: Goal = "clear") -> int:
    """Return FastDeploy's code for what a request came to.

    200: done, or nothing to do. 400: the same goal is under way. 403: the opposite one is. 404: not done in time, a
    part has failed, or it was cancelled.

    Args:
        answer: What :meth:`StatusCoordinator.clear` or ``update`` returned or raised.
        goal: What was asked, when it raised.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(answer, StatusResult):
        return 200 if answer.ok else 404
    if isinstance(answer, (CommTimeoutError, StatusCancelledError)):
        return 404
    if isinstance(answer, StatusBusyError) and isinstance(answer.request, tuple):
        return 400 if answer.request[1] == goal else 403
    raise TypeError(f"{answer!r} is no answer to a clear or an update")
