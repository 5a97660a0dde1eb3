"""Ask all ranks to do one thing, and get their answers together.

Protocol: ``spec/control.toml``, docs/protocols/control.md.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from fdcomm import arguments
from fdcomm.control_results import Answer, ControlResult, ControlStatistics, ServerStatistics
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    RankError,
    StaleAnswerError,
)
from fdcomm.handle import Handle, handle_of
from fdcomm.watched import period, watched

__all__ = (
    "Answer",
    "ControlClient",
    "ControlRequest",
    "ControlResult",
    "ControlServer",
    "ControlStatistics",
    "ServerStatistics",
)

_PROTOCOL: Final = "control"
_LOOK_S: Final = 1.0
_TOKENS: Final = itertools.count(-1, -1)


class ControlClient:
    """Asks. Any handle of the queue's host may; several may at once. Safe to use from several threads."""

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle, which must stay open."""
        self._queue = handle_of(queue, "ControlClient")

    def ask(
        self,
        request: Any,
        *,
        timeout: Timeout = DEFAULT,
        partial: bool = False,
        token: int = 0,
        progress: Callable[[ControlStatistics], object] | None = None,
        every: float = 1.0,
    ) -> ControlResult:
        """Ask all ranks, and wait for all answers. Actions Ask, Collect.

        A rank that starts meanwhile is asked too. A rank's failure is an answer, not an exception; so is an answer
        that cannot be unpickled here.

        Args:
            request: Any picklable object.
            timeout: Seconds; None waits for ever.
            partial: Return what came instead of raising when ranks are gone or late.
            token: Any number; :meth:`cancel` may name it.
            progress: Called in this thread while the call waits, with what :meth:`statistics` returns. When it raises,
                the request is withdrawn, and the same is raised. With 0 as ``token`` it gets one of its own, below 0.
            every: Seconds between two calls of ``progress``.

        Raises:
            PeerLostError: ``missing`` names ranks whose process is gone; all others have answered (EndLost).
            CommTimeoutError: ``missing`` names ranks that did not answer in time (EndTimeout). Their late answers are
                refused, and count for no other request. Both errors have the number as ``request``.
            RequestCancelledError: :meth:`cancel` (Withdraw).
            PayloadError: The request cannot be pickled.
        """
        name = "control.ask"
        limit = timeout_seconds(timeout, name)
        partial, token = arguments.flag(partial, "partial", name), arguments.number(token, "token", name)
        seconds = period(progress, every, name)
        payload = self._queue._pickle(request, name)
        if progress is None or seconds is None:
            found = self._queue._act(_PROTOCOL, "ask", payload, limit, token, timeout=limit, name=name)
        else:
            mine = token or next(_TOKENS)
            found = watched(
                self._queue._runtime,
                lambda: self._queue._act(_PROTOCOL, "ask", payload, limit, mine, timeout=limit, name=name),
                look=self.statistics,
                progress=progress,
                every=seconds,
                end=lambda: self.cancel(mine),
            )
        number, end, raw, missing = found
        answers = tuple(
            Answer(rank, *self._read(answer, name)) for rank, answer in enumerate(raw) if answer is not None
        )
        if partial or not missing:
            return ControlResult(number, answers, missing)
        ranks = ", ".join(map(str, missing))
        if end == "lost":
            raise PeerLostError(
                f"{name}: rank {ranks} is gone, and will not answer request {number}; all others have",
                operation=name,
                missing=missing,
                request=number,
            )
        raise CommTimeoutError(
            f"{name}: rank {ranks} has not answered request {number} within {limit} s",
            operation=name,
            missing=missing,
            waited_s=limit or 0.0,
            request=number,
        )

    def cancel(self, token: int | None = None) -> tuple[int, ...]:
        """End every ``ask`` of this handle that is under way, or those with that token. Action Withdraw.

        Ranks that have taken such a request may still do it; their answers are refused.

        Returns:
            The numbers of the requests.
        """
        name = "control.cancel"
        which = arguments.number_or_none(token, "token", name)
        numbers: tuple[int, ...] = self._queue._act(_PROTOCOL, "cancel", which, name=name)
        return numbers

    def statistics(self) -> ControlStatistics:
        """Return what the host knows now."""
        view = self._queue._view(_PROTOCOL, name="control.statistics")
        return ControlStatistics(
            asked=view["asked"],
            waiting_for=tuple((number, tuple(awaited)) for number, _, awaited in view["open"]),
            doing=tuple(view["doing"]),
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
            away=tuple(view["away"]),
        )

    def _read(self, answer: bytes, name: str) -> tuple[bool, Any]:
        try:
            ok, value = self._queue._unpickle(answer, name)
        except PayloadError as error:
            return False, f"PayloadError: {error}"
        return bool(ok), value


class ControlRequest:
    """A request that this rank has taken. Answer it once, with :meth:`answer` or :meth:`fail`."""

    def __init__(self, queue: Handle, number: int, payload: Any, counts: Counter[str] | None = None) -> None:
        self._queue = queue
        self._counts: Counter[str] = Counter() if counts is None else counts
        self.number = number
        self.payload = payload

    def answer(self, value: Any = None) -> None:
        """It was done. Action Answer.

        Raises:
            StaleAnswerError: The request has ended meanwhile (its client gave up); the answer was dropped.
            PayloadError: The value cannot be pickled; the request still waits for an answer.
        """
        self._send(True, value)

    def fail(self, reason: str) -> None:
        """It could not be done. Action Answer."""
        self._send(False, str(reason))

    def _send(self, ok: bool, value: Any) -> None:
        name = "control.answer"
        try:
            self._queue._act(_PROTOCOL, "answer", self.number, self._queue._pickle((ok, value), name), name=name)
        except StaleAnswerError:
            self._counts["late"] += 1
            raise
        self._counts["answered" if ok else "failed"] += 1


class ControlServer:
    """Takes and answers requests for the rank of a handle, in the order in which they were asked."""

    def __init__(self, queue: Handle) -> None:
        """Take part through a handle with a ``client_id``, which must stay open.

        Raises:
            ConfigError: It is no handle.
            RankError: The handle has none.
        """
        self._queue = handle_of(queue, "ControlServer")
        if queue.client_id < 0:
            raise RankError("ControlServer needs a handle with a client_id", operation="control.take")
        self._counts: Counter[str] = Counter()

    def take(self, *, timeout: Timeout = 0.0) -> ControlRequest | None:
        """Take the next request; None when there is none within ``timeout`` seconds. Actions Join, Take.

        Raises:
            ProtocolViolationError: The request before has not been answered.
            PayloadError: The request cannot be unpickled here; it was answered with that failure.
        """
        name = "control.take"
        limit = timeout_seconds(timeout, name)
        taken = self._queue._act(_PROTOCOL, "take", limit, timeout=limit, name=name)
        if taken is None:
            return None
        number, payload = taken
        self._counts["taken"] += 1
        request = ControlRequest(self._queue, number, None, self._counts)
        try:
            request.payload = self._queue._unpickle(payload, name)
        except PayloadError as error:
            with contextlib.suppress(StaleAnswerError):
                request.fail(f"PayloadError: {error}")
            raise
        return request

    def statistics(self) -> ServerStatistics:
        """Return what was done through this object. Local; it has one request at a time, so no lock is needed."""
        return ServerStatistics(**self._counts)

    def serve(self, handler: Callable[[Any], Any], stop: Callable[[], bool] = lambda: False) -> None:
        """Answer every request with what ``handler`` returns for its payload, until ``stop()`` or the handle's close.

        An exception of the handler, a value that cannot be pickled and a request that cannot be unpickled are
        answered as failures, and the loop goes on. What is no ``Exception`` (an interrupt) is answered and raised.
        """
        arguments.function(handler, "handler", "control.serve")
        arguments.function(stop, "stop", "control.serve")
        while not stop():
            try:
                request = self.take(timeout=_LOOK_S)
                if request is not None:
                    self._answer(request, handler)
            except PayloadError:
                continue  # take has answered it
            except ClosedError:
                return

    @staticmethod
    def _answer(request: ControlRequest, handler: Callable[[Any], Any]) -> None:
        try:
            value = handler(request.payload)
        except BaseException as error:
            with contextlib.suppress(StaleAnswerError):
                request.fail(f"{type(error).__name__}: {error}")
            if isinstance(error, Exception):
                return
            raise
        with contextlib.suppress(StaleAnswerError):
            try:
                request.answer(value)
            except (PayloadError, PayloadTooLargeError) as error:
                request.fail(f"{type(error).__name__}: {error}")
