"""A socket that several threads may use: each whole message is sent, or received, under the socket's lock.

Nobody waits while holding the lock. Who has to wait does so on ZeroMQ's signal, which one look consumes for all; so
every look, before it gives the lock back, rings for the others if there is something for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, ForkedHandleError
from fdcomm.forksafety import close_in_child
from fdcomm.runtime import SYSTEM, Runtime, lock_of
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.context import keep
from fdcomm.zsocket.port import READ, WRITE, Port

__all__ = ("LockedSocket",)


class LockedSocket:
    """A port behind a lock. Safe to use from several threads; after a fork only the parent may use it.

    Args:
        port: The socket; it is closed with this object.
        what: What messages call it.
        runtime: For tests.
    """

    def __init__(self, port: Port, what: str, runtime: Runtime = SYSTEM) -> None:
        self._port = port
        self._what = what
        self._runtime = runtime
        self._guard = runtime.condition()
        self._lock = lock_of(self._guard)
        self._waiting = {READ: 0, WRITE: 0}
        self._refusal: type[FdcommError] | None = None
        self.linger_s = port.linger_s
        self.waits = False
        close_in_child(self)
        if runtime is SYSTEM:
            keep(self)

    @property
    def closed(self) -> bool:
        """True once it was closed, or came here by fork."""
        return self._refusal is not None

    def send(self, parts: Sequence[Buffer], operation: str, timeout: Timeout = DEFAULT) -> None:
        """Send one message, whole.

        Args:
            parts: The frames.
            operation: The public call, for errors.
            timeout: Seconds to wait for room.

        Raises:
            CommTimeoutError: There was no room in time. Nothing was sent.
            UndeliverableError: The socket is a router, and the peer is not connected.
            ClosedError: The socket was closed.
            ForkedHandleError: It came here by fork.
        """
        with self._lock:
            self._require(operation)
            sent = self._port.send(parts)
            if sent:
                self._tell_others()
            else:
                self._prepare(WRITE)
        if not sent:
            self._until_sent(parts, operation, timeout)

    def receive(self, operation: str, timeout: Timeout = DEFAULT) -> list[Buffer]:
        """Return the frames of the next message.

        Raises:
            CommTimeoutError: None came in time.
            ClosedError: The socket was closed, also while this call waited.
            ForkedHandleError: It came here by fork.
        """
        with self._lock:
            self._require(operation)
            parts = self._port.receive()
            if parts is not None:
                self._tell_others()
                return parts
            self._prepare(READ)
        waiting = True
        try:
            deadline = Deadline(timeout_seconds(timeout, operation), self._runtime.monotonic)
            late = deadline.expired()
            while not late:
                self._port.wait(READ, deadline.remaining())
                late = deadline.expired()
                with self._lock:
                    self._require(operation)
                    self._port.hush(READ)
                    parts = self._port.receive()
                    if parts is not None:
                        waiting = False
                        self._leave(READ)
                        return parts
                    self._tell_others(but=READ)
            raise self._timed_out(READ, operation, deadline)
        finally:
            if waiting:
                with self._lock:
                    self._leave(READ)

    def look(self, operation: str) -> list[Buffer] | None:
        """Return the frames of the next message, or None: there is none now."""
        with self._lock:
            self._require(operation)
            parts = self._port.receive()
            self._tell_others()
            return parts

    def close(self) -> None:
        """Close. Calls that wait in other threads end with ClosedError. Idempotent."""
        with self._lock:
            if self._refusal is None:
                self._refusal = ClosedError
                self._port.close()

    def after_fork_in_child(self) -> None:
        """The child's copy answers every call with ForkedHandleError."""
        self._guard = self._runtime.condition()  # the parent's may have been held
        self._lock = lock_of(self._guard)
        if self._refusal is None:
            self._refusal = ForkedHandleError
            self._port.after_fork_in_child()

    def _prepare(self, what: int) -> None:
        """Somebody is about to wait, because a look was in vain. Under the lock; :meth:`_leave` undoes it."""
        self._port.prepare(what)
        self._waiting[what] += 1
        self._tell_others(but=what)

    def _leave(self, what: int) -> None:
        """Somebody waits no longer. Under the lock."""
        self._waiting[what] -= 1
        self._port.done()
        self._tell_others()

    def _until_sent(self, parts: Sequence[Buffer], operation: str, timeout: Timeout) -> None:
        """Send when there is room. What ZeroMQ's send has put off is taken in by a look at the events."""
        try:
            deadline = Deadline(timeout_seconds(timeout, operation), self._runtime.monotonic)
            while True:
                late = deadline.expired()
                with self._lock:
                    self._require(operation)
                    self._port.hush(WRITE)
                    done = self._port.send(parts)
                    if not done and self._port.events() & WRITE:
                        done = self._port.send(parts)
                    if not done:
                        self._tell_others(but=WRITE)
                if done:
                    return
                if late:
                    raise self._timed_out(WRITE, operation, deadline)
                self._port.wait(WRITE, deadline.remaining())
        finally:
            with self._lock:
                self._leave(WRITE)

    def _timed_out(self, what: int, operation: str, deadline: Deadline) -> CommTimeoutError:
        return CommTimeoutError(
            f"{operation}: {self._what}: "
            + ("no message came" if what == READ else "the peer has no room, or there is none")
            + f" within {deadline.waited():.3g} s",
            operation=operation,
            waited_s=deadline.waited(),
        )

    def _tell_others(self, but: int = 0) -> None:
        """Ring if there is something for those who wait. ``but``: one of them is the caller."""
        readers, writers = self._waiting[READ] - (but == READ), self._waiting[WRITE] - (but == WRITE)
        if (readers > 0 or writers > 0) and self._refusal is None:
            events = self._port.events()
            if events & READ and readers > 0:
                self._port.ring(READ)
            if events & WRITE and writers > 0:
                self._port.ring(WRITE)

    def _require(self, operation: str) -> None:
        if self._refusal is None:
            return
        if self._refusal is ForkedHandleError:
            raise ForkedHandleError(
                f"{operation}: {self._what} came to this process by fork; open a new one here", operation=operation
            )
        raise ClosedError(f"{operation}: {self._what} was closed", operation=operation)
