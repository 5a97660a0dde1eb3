"""Transport to a host over its ``BaseManager`` server: AF_UNIX, or TCP where the user opted in."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any

from fdcomm.errors import ClosedError, FdcommError, FencedError, HostLostError, HostNotFoundError
from fdcomm.forksafety import close_in_child
from fdcomm.host.service import Hello, Welcome
from fdcomm.runtime import Runtime
from fdcomm.transports.base import REPLY_GRACE_S
from fdcomm.wire import Wire

__all__ = ("ManagerTransport",)


class ManagerTransport:
    """One connection for the session, whose end tells the host that we are gone, and one per calling thread."""

    def __init__(self, address: str | tuple[str, int], key: bytes, runtime: Runtime) -> None:
        """Connect (see :class:`fdcomm.wire.Wire` for the errors)."""
        self._address = address
        self._key = key
        self._runtime = runtime
        self._session = 0
        self._closed = False
        self._given_up: type[FdcommError] | None = None
        self._thread = threading.local()
        self._wires: weakref.WeakSet[Wire] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._session_wire = Wire(address, key, runtime)
        close_in_child(self)

    def open_session(self, hello: Hello) -> Welcome:
        """See :class:`Transport`."""
        try:
            welcome: Welcome = self._session_wire.call("open_session", hello, wait_s=REPLY_GRACE_S)
        except FdcommError:
            self.abandon()
            raise
        self._session = welcome["session"]
        return welcome

    def call(self, method: str, *args: Any, timeout: float | None) -> Any:
        """See :class:`Transport`."""
        if self._closed:
            raise self._refusal(method)
        wire: Wire | None = getattr(self._thread, "wire", None)
        if wire is None:
            wire = self._new_wire(method)  # a thread's first call
        wait_s = None if timeout is None else timeout + REPLY_GRACE_S
        try:
            return wire.call(method, self._session, *args, wait_s=wait_s)
        except (HostLostError, FencedError) as error:
            if self._closed:
                raise self._refusal(method) from error
            self._give_up(type(error))
            raise
        except FdcommError:  # the host's answer
            raise
        except BaseException:
            # Interrupted, by Ctrl-C or a signal handler that raises. The answer is still to come, and a batch with it.
            self._give_up(FencedError)
            raise

    def is_alive(self) -> bool:
        """See :class:`Transport`."""
        return not self._closed and self._session_wire.is_open()

    def close(self) -> None:
        """See :class:`Transport`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(FdcommError):  # a host that is gone needs no goodbye
            self._session_wire.call("close_session", self._session, wait_s=REPLY_GRACE_S)
        self.abandon()

    def abandon(self) -> None:
        """See :class:`Transport`."""
        with self._lock:
            self._closed = True
            wires = list(self._wires)
        for wire in wires:
            wire.shut_down()  # each is closed by the thread that uses it
        self._session_wire.close()

    def after_fork_in_child(self) -> None:
        """Close the child's copies: the host must notice the end of the parent, not of its children."""
        self._closed = True
        for wire in (self._session_wire, *self._wires):
            wire.close()

    def _give_up(self, reason: type[FdcommError]) -> None:
        """End the session after a call whose outcome is not known.

        The host may have carried it out, or do so later. It must not hand a batch to a call that nobody waits for
        while the handle goes on as if nothing had happened; so it fences the session.
        """
        self._given_up = reason
        self.abandon()

    def _refusal(self, method: str) -> FdcommError:
        if self._given_up is None:
            return ClosedError(f"{method}: the handle is closed", operation=method)
        return self._given_up(
            f"{method}: an earlier call on this handle ended without an answer, so its outcome is not known and the "
            "handle was given up; open a new one",
            operation=method,
        )

    def _new_wire(self, method: str) -> Wire:
        try:
            wire = Wire(self._address, self._key, self._runtime)
        except (HostNotFoundError, HostLostError) as error:
            if self._closed:
                raise self._refusal(method) from error
            self._give_up(HostLostError)
            raise HostLostError(
                f"{method}: the host is gone ({error}); start a new one and open new handles", operation=method
            ) from error
        with self._lock:
            if self._closed:
                wire.close()
                raise self._refusal(method)
            self._wires.add(wire)
        self._thread.wire = wire
        return wire
