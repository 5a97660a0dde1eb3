"""Transport to a host on another machine, over ZeroMQ: ``transport="zmq"``. Protocol: ``spec/link.toml``.

The handle's part: calls are numbered, kept until they are answered, and sent again when the host says that it has not
got them. One thread of the handle receives, gives signs of life, and looks at the limits.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from typing import Any

from fdcomm.errors import (
    ClosedError,
    FdcommError,
    FencedError,
    HostLostError,
    ProtocolViolationError,
    UndecodableError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.host.service import Hello, Welcome
from fdcomm.link import frames
from fdcomm.link.dealer import Dealer
from fdcomm.link.options import WINDOW, ZmqLink
from fdcomm.runtime import Condition, Runtime
from fdcomm.transports.base import REPLY_GRACE_S
from fdcomm.zsocket.codec import Buffer

__all__ = ("LinkTransport",)


class _Call:
    """A call that is open: its number, its frames, and what became of it."""

    def __init__(self, number: int, body: list[Buffer], changed: Condition) -> None:
        self.number = number
        self.body = body
        self.changed = changed
        self.answer: list[Buffer] | None = None


class LinkTransport:
    """One session with a host, over connections that break and come back. Safe to use from several threads."""

    def __init__(
        self,
        endpoint: str,
        link: ZmqLink,
        runtime: Runtime,
        *,
        connect_s: float,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> None:
        """Connect.

        Args:
            endpoint: ZeroMQ's name of the host's door.
            link: Keys and limits.
            runtime: Threads and time.
            connect_s: Seconds to wait for a host that is not there yet.
            is_gone: Says whether the host is known to be gone, where that can be seen from here.

        Raises:
            HostNotFoundError: Nobody serves the address.
            AuthError: The host does not accept the keys, or is another one.
            HostLostError: Somebody listens but does not answer.
        """
        self._runtime = runtime
        self._link = link
        self._is_gone = is_gone
        self._name = secrets.token_bytes(frames.LINK_BYTES)
        self._guard = runtime.condition()
        self._calls: dict[int, _Call] = {}
        self._top = 0
        self._instance = 0
        self._closed = False
        self._departed = False
        self._end: FdcommError | None = None
        self._silent_s = 0.0
        self._beat_s = link.beat_s
        self._dealer = Dealer(endpoint, link, runtime)
        try:
            self._dealer.wait_until_connected(connect_s)
        except BaseException:
            self._dealer.close()
            raise
        close_in_child(self)
        runtime.spawn(self._run, "fdcomm-link")

    def open_session(self, hello: Hello) -> Welcome:
        """See :class:`Transport`."""
        try:
            welcome = self._call("open_session", (hello,), REPLY_GRACE_S)
        except FdcommError:
            self.abandon()
            raise
        self._instance = welcome["instance"]
        self._beat_s = min(self._beat_s, welcome.pop("beat_s"))  # a host's limit may be shorter than ours
        self._dealer.send([frames.PING, self._name, frames.header([])])  # the answer has our thread look at it
        opened: Welcome = welcome
        return opened

    def call(self, method: str, *args: Any, timeout: float | None) -> Any:
        """See :class:`Transport`."""
        return self._call(method, args, None if timeout is None else timeout + REPLY_GRACE_S)

    def is_alive(self) -> bool:
        """See :class:`Transport`. A host that is silent counts as alive until the limit."""
        return not self._closed and self._end is None

    def close(self) -> None:
        """See :class:`Transport`."""
        with self._guard:
            if self._closed:
                return
            end = self._runtime.monotonic() + min(REPLY_GRACE_S, self._link.grace_s)
            self._say_bye()
            while not (self._departed or self._end is not None) and self._runtime.monotonic() < end:
                self._guard.wait(self._beat_s)
                if not self._departed:
                    self._say_bye()
            self._closed = True
            self._wake_all()
        self._dealer.close()

    def abandon(self) -> None:
        """See :class:`Transport`. The host is told to fence; if that is lost, it does so after its limit."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            self._wake_all()
        self._dealer.send([frames.QUIT, self._name])
        self._dealer.close()

    def after_fork_in_child(self) -> None:
        """The child's copy is of no use; the socket lets go of its connections by itself."""
        self._closed = True

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, method: str, args: tuple[Any, ...], limit_s: float | None) -> Any:
        body = frames.pack((method, args))
        point = self._runtime.point
        with self._guard:
            self._require(method)
            if len(self._calls) >= WINDOW:
                raise ProtocolViolationError(f"{method}: {WINDOW} calls of this handle are open", operation=method)
            self._top += 1
            call = _Call(self._top, body, self._runtime.condition(self._guard))
            self._calls[call.number] = call
            message = self._message(call)
        try:
            point("call.send")
            self._dealer.send(message)
            point("call.sent")
            answer = self._wait(call, method, limit_s)
            point("call.received")
        except FdcommError:
            raise
        except BaseException:
            # Interrupted, by Ctrl-C or a signal handler that raises. The answer is still to come, and a batch with it.
            self._give_up(FencedError("an earlier call was interrupted before its answer came"))
            raise
        try:
            value, error = frames.outcome(answer)
        except UndecodableError as damaged:
            self._give_up(damaged)
            raise
        if error is not None:
            raise error
        return value

    def _wait(self, call: _Call, method: str, limit_s: float | None) -> list[Buffer]:
        end = None if limit_s is None else self._runtime.monotonic() + limit_s
        try:
            with self._guard:
                while call.answer is None:
                    self._require(method)
                    left = None if end is None else end - self._runtime.monotonic()
                    if left is not None and left <= 0:
                        break
                    call.changed.wait(left)
                if call.answer is not None:
                    return call.answer
        finally:
            with self._guard:
                self._calls.pop(call.number, None)
        lost = HostLostError(
            f"{method}: the host has not answered for {limit_s:.1f} s (overloaded); whether the call took effect is "
            "not known",
            operation=method,
            waited_s=limit_s or 0.0,
        )
        self._give_up(lost)
        raise lost

    def _require(self, method: str) -> None:
        """Raise if no call can be made any more. Under the lock."""
        if self._end is not None:
            raise type(self._end)(
                f"{method}: {self._end}; open a new handle", operation=method, waited_s=self._end.waited_s
            )
        if self._closed:
            raise ClosedError(f"{method}: the handle is closed", operation=method)

    def _message(self, call: _Call) -> list[Buffer]:
        """Return a request. Under the lock."""
        return [frames.CALL, self._name, frames.header(call.number, [*self._calls], self._top), *call.body]

    def _give_up(self, reason: FdcommError) -> None:
        """End the session after a call whose outcome is not known: the host must not go on with it either."""
        with self._guard:
            if self._end is None and not self._closed:
                self._end = reason
        self.abandon()

    def _say_bye(self) -> None:
        self._dealer.send([frames.BYE, self._name])

    def _wake_all(self) -> None:
        for call in self._calls.values():
            call.changed.notify_all()
        self._guard.notify_all()

    # -- the handle's thread -----------------------------------------------------------------------------------------

    def _run(self) -> None:
        last = next_beat = renewed = self._runtime.monotonic()
        while not self._closed:
            beat_s = self._beat_s
            now = self._runtime.monotonic()
            next_beat = min(next_beat, now + beat_s)
            if now >= next_beat:
                # A process that was stopped, or starved, has not heard what came meanwhile.
                self._silent_s += min(now - last, 2 * beat_s)
                if self._silent_s > 3 * beat_s and now - renewed > 3 * beat_s:
                    self._dealer.renew()
                    renewed = now
                self._beat()
                last, next_beat = now, now + beat_s
            with contextlib.suppress(ClosedError):
                message = self._dealer.receive(max(0.0, next_beat - now))
                if message is not None:
                    self._take(message)

    def _beat(self) -> None:
        """Give a sign of life, and look at the host's."""
        if self._end is not None:  # the host has said so
            return
        silent_s = self._silent_s
        if silent_s > self._link.grace_s or (silent_s > self._beat_s and self._is_gone()):
            self._give_up(
                HostLostError(f"the host is gone, or has been silent for {silent_s:.1f} s", waited_s=silent_s)
            )
            return
        with self._guard:
            message = [frames.PING, self._name, frames.header([*self._calls])]
        if self._top:
            self._dealer.send(message)

    def _take(self, message: list[Buffer]) -> None:
        """Take a message of the host. What is none is dropped: nobody but the host has its key."""
        with contextlib.suppress(IndexError, UndecodableError):
            kind = bytes(message[0])
            if bytes(message[1]) != self._name:
                return
            (value,) = frames.numbers(message[2], "l" if kind == frames.PONG else "n")
            self._silent_s = 0.0
            if kind == frames.ANSWER:
                self._answered(value, message[3:])
            elif kind == frames.PONG:
                self._send_again(value)
            elif kind == frames.ENDED:
                self._ended(value)

    def _answered(self, number: int, body: list[Buffer]) -> None:
        with self._guard:
            call = self._calls.pop(number, None)
            if call is not None:
                call.answer = body
                call.changed.notify_all()

    def _send_again(self, missing: list[int]) -> None:
        with self._guard:
            messages = [self._message(self._calls[n]) for n in missing if n in self._calls]
        for message in messages:
            self._dealer.send(message)

    def _ended(self, instance: int) -> None:
        """The host says that the session has ended: because of a goodbye, or for ever."""
        with self._guard:
            self._departed = True
            if self._end is None and not self._closed:
                ours = instance == self._instance or self._instance == 0
                self._end = (
                    FencedError("the host has ended this session: it had not heard of this handle for too long")
                    if ours and instance
                    else HostLostError("the host has ended, or is another one now")
                )
            self._wake_all()
