"""The results of requests on their way to the clients that asked, from any thread. Protocol: ``spec/mailbox.toml``."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias

from fdcomm.core.mailbox import Batch, Mailbox
from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    FdcommError,
    ForkedHandleError,
    ProtocolViolationError,
    UndeliverableError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.mailbox.values import MailboxStatistics, Piece, Undelivered
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.trace import Recorder

__all__ = ("MAILBOX_EVENTS", "Results", "Send")

MAILBOX_EVENTS: Final = ("Handle", "Put", "Sent", "Lost", "Late", "Expire", "Close")
"""Action names of spec/mailbox.toml, as they are recorded."""

_LOG = logging.getLogger("fdcomm.mailbox")


Send: TypeAlias = Callable[[bytes, Sequence[Piece], "float | None"], None]
"""Sends pieces to a client as one message, within seconds; else UndeliverableError, CommTimeoutError, ClosedError."""


class Results:
    """The bookkeeping of one server. Safe to use from several threads.

    Nobody sends while holding the lock, and for one request at most one thread sends; what others put meanwhile, that
    thread sends next.

    Args:
        send: How a message gets to a client.
        capacity: Most calls whose results wait, of all requests together.
        ttl_s: Seconds after which a request is given up for which nothing happens: no handle comes for its results,
            or no result for its handle. None: never.
        undelivered: Called, outside of the lock, with results that reach nobody.
        recorder: Records every action, see :mod:`fdcomm.trace`.
        dp: Only for the record.
        runtime: For tests.
    """

    def __init__(
        self,
        send: Send,
        *,
        capacity: int,
        ttl_s: float | None,
        undelivered: Callable[[Undelivered], None] | None = None,
        recorder: Recorder | None = None,
        dp: int = 0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        if ttl_s is not None and not ttl_s > 0:
            raise ConfigError(f"ttl_s={ttl_s!r} must be more than 0, or None")
        self._core = Mailbox(capacity)
        self._send = send
        self._ttl_s = ttl_s
        self._on_undelivered = undelivered
        self._runtime = runtime
        self._clock = runtime.monotonic
        self._changed = runtime.condition()
        self._lock = lock_of(self._changed)
        self._waiting = 0
        self._touched: OrderedDict[str, float] = OrderedDict()
        self._sent = self._undelivered = self._refused = self.undecodable = 0
        self._forked = False
        self._recorder = recorder
        self._where = {"protocol": "mailbox", "dp": dp}
        self._seq = 0
        self._numbers: dict[type, dict[Hashable, int]] = {str: {}, bytes: {}}
        close_in_child(self)
        if recorder is not None:
            recorder.write({**self._where, "action": "Open", "capacity": capacity})

    def handle(self, request: str, client: bytes, timeout: Timeout) -> bool:
        """Take in that a client waits for the results of a request, and send it what is there. Action Handle.

        Returns False if the handle was refused: the request has another client, or has ended.
        """
        with self._lock:
            self._require("recv_result_handle")
            if self._core.owner(request) == client:
                return True  # it has asked again
            try:
                batch = self._core.handle(request, client)
            except ProtocolViolationError as error:
                self._refused += 1
                _LOG.warning("a handle was refused: %s", error)
                return False
            self._touch(request)
            self._tell_waiting()
            self._record("Handle", request, {"client": self._number(client) if self._recorder else 0})
        self._fly(request, client, batch, "recv_result_handle", timeout)
        return True

    def put(self, request: str, piece: Piece, last: bool, timeout: Timeout) -> None:
        """Send the next results of a request, or keep them until they can be sent. Action Put.

        Raises:
            UndeliverableError: The client is gone, or the request has been given up. These results reach nobody.
            CommTimeoutError: There is no room to keep them: nothing was changed, and the call may be made again. Or
                the client takes nothing: then the request is given up.
            ProtocolViolationError: The request had its last result.
        """
        operation = "send_response"
        with self._lock:
            self._require(operation)
            self._require_going(operation, request)
            idle = [] if self._core.has_room(request) else self._give_up_idle()
            if not self._core.has_room(request):
                self._await_room(operation, request, timeout)
            batch = self._core.put(request, piece, last)
            client = self._core.owner(request)
            self._touch(request)
            self._record("Put", request, {"last": int(last)})
        for one in idle:
            self._tell(one)
        if batch and isinstance(client, bytes):
            self._fly(request, client, batch, operation, timeout)

    def expire(self) -> None:
        """Give up the requests for which nothing has happened for ``ttl_s``. Action Expire."""
        with self._lock:
            lost = self._give_up_idle()
        for one in lost:
            self._tell(one)

    def close(self) -> None:
        """End all requests; those that wait for room are told. Action Close. Idempotent."""
        with self._lock:
            if self._core.closed or self._forked:
                return
            lost = self._core.close()
            self._record("Close", "", {})
            self._changed.notify_all()
        for request, batch in lost.items():
            self._tell(_undelivered(str(request), batch, "closed"))

    def stage(self, request: str) -> str:
        """Return ``open``, or how the request ended: over, lost, late, expired, closed."""
        with self._lock:
            return self._core.stage(request)

    def statistics(self) -> MailboxStatistics:
        """Return a snapshot."""
        with self._lock:
            return MailboxStatistics(
                open=len(self._core.open),
                kept=self._core.kept,
                sent=self._sent,
                undelivered=self._undelivered,
                refused_handles=self._refused,
                undecodable=self.undecodable,
            )

    def after_fork_in_child(self) -> None:
        """The child's copy sends nothing: it has no socket."""
        self._changed = self._runtime.condition()  # the parent's may have been held
        self._lock = lock_of(self._changed)
        self._recorder = None
        self._forked = True

    # -- within ------------------------------------------------------------------------------------------------------

    def _fly(self, request: str, client: bytes, batch: Batch, operation: str, timeout: Timeout) -> None:
        """Send, and go on with what others have put meanwhile."""
        while batch:
            try:
                # Each message has the whole time: what comes after is others'.
                self._send(client, batch, timeout_seconds(timeout, operation))
            except BaseException as error:
                name = "Lost" if isinstance(error, UndeliverableError) else "Late"
                with self._lock:
                    end = self._core.lost if name == "Lost" else self._core.late
                    lost = end(request)
                    self._ended(request)
                    self._record(name, request, {})
                why = "closed" if isinstance(error, ClosedError) else name.lower()
                self._tell(_undelivered(request, lost, why))
                if isinstance(error, (UndeliverableError, CommTimeoutError)):
                    raise _about(error, operation, request, sum(piece.results for piece in lost)) from error
                raise
            with self._lock:
                self._sent += sum(piece.results for piece in batch)
                batch = self._core.sent(request)
                self._record("Sent", request, {})
                if self._core.stage(request) != "open":
                    self._ended(request)
                else:
                    self._touch(request)
                self._tell_waiting()

    def _await_room(self, operation: str, request: str, timeout: Timeout) -> None:
        deadline = Deadline(timeout_seconds(timeout, operation), self._runtime.monotonic)
        self._waiting += 1
        try:
            while not self._core.has_room(request):
                if deadline.expired():
                    raise CommTimeoutError(
                        f"{operation}: the results of {self._core.kept} calls wait for their clients, and there is no "
                        f"room for more (capacity={self._core.capacity}); try again later",
                        operation=operation,
                        waited_s=deadline.waited(),
                        request=request,
                    )
                self._changed.wait(deadline.remaining())
                self._require(operation)
                self._require_going(operation, request)
        finally:
            self._waiting -= 1

    def _give_up_idle(self) -> list[Undelivered]:
        """Under the lock; who gets the list tells it."""
        lost: list[Undelivered] = []
        if self._ttl_s is None or self._core.closed:
            return lost
        limit = self._clock() - self._ttl_s
        for request, at in list(self._touched.items()):
            if at > limit:
                break
            if self._core.open[request].flying:
                continue
            batch = self._core.expire(request)
            self._ended(request)
            self._record("Expire", request, {})
            lost.append(_undelivered(request, batch, "expired"))
        return lost

    def _touch(self, request: str) -> None:
        self._touched[request] = self._clock()
        self._touched.move_to_end(request)

    def _ended(self, request: str) -> None:
        self._touched.pop(request, None)
        self._tell_waiting()

    def _tell_waiting(self) -> None:
        """There may be room."""
        if self._waiting:
            self._changed.notify_all()

    def _tell(self, lost: Undelivered) -> None:
        with self._lock:
            self._undelivered += lost.results
        _LOG.warning("request %s has ended (%s): %d results reach nobody", *lost[::2], lost.results)
        if self._on_undelivered is not None:
            self._on_undelivered(lost)

    def _require(self, operation: str) -> None:
        if self._forked:
            raise ForkedHandleError(
                f"{operation}: this server came here by fork; the parent has it", operation=operation
            )
        if self._core.closed:
            raise ClosedError(f"{operation}: the server was closed", operation=operation)

    def _require_going(self, operation: str, request: str) -> None:
        stage = self._core.stage(request)
        entry = self._core.open.get(request)
        if stage == "over" or (entry is not None and entry.finished):
            raise ProtocolViolationError(
                f"{operation}: request {request} had its last result", operation=operation, request=request
            )
        if stage != "open":
            raise UndeliverableError(
                f"{operation}: request {request} has been given up ({stage}); drop it",
                operation=operation,
                request=request,
            )

    def _record(self, action: str, request: str, args: dict[str, int]) -> None:
        if self._recorder is None:
            return
        self._seq += 1
        entry = self._core.open.get(request)
        post = {
            "stage": self._core.stage(request),
            "cached": len(entry.cached) if entry else 0,
            "flying": len(entry.flying) if entry else 0,
            "kept": self._core.kept,
        }
        about = {} if action == "Close" else {"request": self._number(request), **args}
        event = {"seq": self._seq, "action": action, "args": about, "post": post}
        self._recorder.write({**self._where, **event})

    def _number(self, name: Hashable) -> int:
        """In a record, requests (text) and clients (bytes) are numbered in the order in which they come."""
        known = self._numbers[type(name)]
        return known.setdefault(name, len(known) + 1)


def _undelivered(request: str, batch: Batch, why: str) -> Undelivered:
    return Undelivered(request, sum(piece.results for piece in batch), why)


def _about(error: FdcommError, operation: str, request: str, count: int) -> FdcommError:
    return type(error)(
        f"{operation}: request {request} has ended, and {count} results reach nobody: {error}",
        operation=operation,
        waited_s=error.waited_s,
        request=request,
    )
