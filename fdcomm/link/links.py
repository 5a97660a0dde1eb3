"""The host's book of links: which handles have a session, which calls they have made, and who is silent.

It knows nothing of sockets: what comes is given to :meth:`Links.receive`, and what is to be sent goes to ``send``. One
lock guards the book; calls run outside of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, Protocol

from fdcomm.core.link import ENDED as ENDS
from fdcomm.core.link import Link
from fdcomm.errors import ProtocolViolationError
from fdcomm.link import frames
from fdcomm.link.frames import ANSWER, BYE, CALL, ENDED, LINK_BYTES, PING, PONG, QUIT
from fdcomm.link.options import WINDOW
from fdcomm.runtime import Runtime
from fdcomm.trace import Recorder
from fdcomm.zsocket.codec import Buffer

__all__ = ("LINK_EVENTS", "Links", "Service")

LINK_EVENTS: Final = ("Begin", "Repeat", "Stale", "Refuse", "Depart", "Finish", "Fence")
_REMEMBERED: Final = 65_536
_OFFERED: Final = ("open_session", "act")


class Service(Protocol):
    """What the calls are for: the host's service object."""

    def open_session(self, hello: Any) -> Any:
        """Open a session; return a dict that has its number under "session"."""

    def close_session(self, session: int) -> None:
        """End it in peace."""

    def lose_session(self, session: int) -> None:
        """End it because its handle is gone."""

    def act(self, session: int, protocol: str, action: str, *args: Any) -> Any:
        """Do one action. FencedError: the session has ended."""


class _Known:
    """One link: its protocol object, its session in the service, and where its handle is."""

    def __init__(self, name: bytes, number: int, window: int) -> None:
        self.name = name
        self.channel = f"link.{number}"
        self.core = Link(window)
        self.peer: Any = None
        self.session = 0
        self.silent_s = 0.0
        self.seq = 0


class Links:
    """All links of a host. Thread-safe.

    Args:
        service: Does the calls.
        send: ``send(peer, frames)`` sends to the connection that is known by that name, or drops; never waits.
        submit: Runs a job in a thread of its own.
        grace_s: Seconds of silence after which a handle's session is fenced.
        instance: The host's number.
        runtime: Threads and time.
        recorder: Where events go; None records nothing.
    """

    def __init__(
        self,
        service: Service,
        send: Callable[[Any, list[Buffer]], None],
        submit: Callable[[Callable[[], None]], None],
        *,
        grace_s: float,
        instance: int,
        runtime: Runtime,
        recorder: Recorder | None = None,
        window: int = WINDOW,
    ) -> None:
        self._service = service
        self._send = send
        self._submit = submit
        self._grace_s = grace_s
        self._instance = instance
        self._runtime = runtime
        self._recorder = recorder
        self._window = window
        self._guard = runtime.condition()
        self._open: dict[bytes, _Known] = {}
        self._ended: OrderedDict[bytes, _Known] = OrderedDict()
        self._made = 0
        self.garbage = 0

    def receive(self, peer: Any, message: Sequence[Buffer]) -> None:
        """Take a message of a connection. One that is none is counted, and costs nothing but itself."""
        try:
            kind, name = bytes(message[0]), bytes(message[1])
            if len(name) != LINK_BYTES:
                raise ProtocolViolationError("a link's name has 16 bytes")
            if kind == CALL:
                number, open_calls, top = frames.numbers(message[2], "nln")
                self._call(peer, name, number, open_calls, top, message[3:])
            elif kind == PING:
                (open_calls,) = frames.numbers(message[2], "l")
                self._look(peer, name, open_calls)
            elif kind in (BYE, QUIT):
                self._leave(peer, name, lost=kind == QUIT)
            else:
                raise ProtocolViolationError("there is no such message")
        except Exception:  # noqa: BLE001 - no message may end the thread that receives them
            self.garbage += 1

    def tick(self, seconds: float) -> None:
        """Some time has passed in which every message that had come was received. Fence who is silent too long."""
        with self._guard:
            silent = []
            for known in self._open.values():
                known.silent_s += seconds
                if known.silent_s > self._grace_s:
                    silent.append(known)
        for known in silent:
            self._end(known, lost=True)

    def is_connected(self, session: int) -> bool:
        """Return False when the session is of a handle that has missed several signs of life."""
        with self._guard:
            found = next((known for known in self._open.values() if known.session == session), None)
            return found is None or found.silent_s < self._grace_s / 3

    def shut_down(self) -> bool:
        """Tell every handle that the host ends. False: there is none."""
        with self._guard:
            handles = [(known.peer, known.name) for known in self._open.values()]
        for peer, name in handles:
            self._send(peer, [ENDED, name, frames.header(0)])
        return bool(handles)

    # -- messages ----------------------------------------------------------------------------------------------------

    def _call(
        self, peer: Any, name: bytes, number: int, open_calls: Collection[int], top: int, body: Sequence[Buffer]
    ) -> None:
        answer = None
        with self._guard:
            known = self._open.get(name) or self._ended.get(name)
            if known is None:
                if number != 1:  # of another host, or long forgotten
                    self._tell_end(peer, name)
                    return
                known = _Known(name, self._made + 1, self._window)
            verdict = known.core.arrive(number, open_calls, top)
            if known.seq == 0:  # the first call of a new link: it is one, so it is kept
                self._made += 1
                self._open[name] = known
                self._begin_trace(known)
            self._record(known, verdict, {"number": number, "open": sorted(open_calls), "top": top})
            if verdict == "Refuse":
                self._tell_end(peer, name)
                return
            self._heard(known, peer)
            if verdict == "Repeat":
                answer = known.core.answers.get(number)
        if verdict == "Begin":
            self._start(known, number, body)
        elif answer is not None:
            self._send(peer, answer)

    def _look(self, peer: Any, name: bytes, open_calls: Collection[int]) -> None:
        """A sign of life: say which calls have not come, and send the answers that the handle has not got."""
        with self._guard:
            known = self._open.get(name)
            if known is None:
                self._tell_end(peer, name)
                return
            self._heard(known, peer)
            missing = known.core.unknown(open_calls)
            answers = [known.core.answers[n] for n in open_calls if n in known.core.answers]
        self._send(peer, [PONG, name, frames.header(missing)])
        for answer in answers:
            self._send(peer, answer)

    def _leave(self, peer: Any, name: bytes, *, lost: bool) -> None:
        with self._guard:
            known = self._open.get(name)

        def leave() -> None:
            if known is not None:
                self._end(known, lost=lost)
            self._tell_end(peer, name)

        if known is None:
            leave()
        else:
            self._submit(leave)

    # -- calls -------------------------------------------------------------------------------------------------------

    def _start(self, known: _Known, number: int, body: Sequence[Buffer]) -> None:
        try:
            self._submit(lambda: self._do(known, number, body))
        except (RuntimeError, MemoryError) as error:
            self._finish(known, number, frames.answer(None, error))

    def _do(self, known: _Known, number: int, body: Sequence[Buffer]) -> None:
        """Do a call. In a thread of its own: it may wait."""
        try:
            method, args = self._read(body, number)
            if method == "open_session":
                welcome = self._service.open_session(*args)
                answer = frames.answer({**welcome, "beat_s": self._grace_s / 10})
                self._opened(known, welcome["session"])
            else:
                answer = frames.answer(self._service.act(known.session, *args))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets it
            answer = frames.answer(None, error)
        self._runtime.point("link.did")
        self._finish(known, number, answer)

    @staticmethod
    def _read(body: Sequence[Buffer], number: int) -> tuple[str, Sequence[Any]]:
        call = frames.unpack(body)
        if not isinstance(call, tuple) or len(call) != 2 or call[0] not in _OFFERED or not isinstance(call[1], tuple):
            raise ProtocolViolationError("there is no such call")
        if (call[0] == "open_session") != (number == 1):
            raise ProtocolViolationError("the first call of a link opens its session, and no other one does")
        return call

    def _opened(self, known: _Known, session: int) -> None:
        """The service has opened the session; the link may have been fenced meanwhile."""
        with self._guard:
            known.session = session
            gone = known.core.session != "open"
        if gone:
            self._service.lose_session(session)

    def _finish(self, known: _Known, number: int, answer: list[Buffer]) -> None:
        message = [ANSWER, known.name, frames.header(number), *answer]
        with self._guard:
            if known.core.session in ENDS:  # nobody waits any more
                return
            known.core.finish(number, message)
            self._record(known, "Finish", {"number": number})
            peer = known.peer
        self._runtime.point("link.finished")
        self._send(peer, message)

    def _end(self, known: _Known, *, lost: bool) -> None:
        """End a session: first in the service, so that nothing takes effect for it once the link says that it ended."""
        with self._guard:
            session = known.session
            if not session:  # it is just being opened: see _opened
                self._ended_now(known, lost=lost)
        if session:
            (self._service.lose_session if lost else self._service.close_session)(session)
            with self._guard:
                self._ended_now(known, lost=lost)

    # -- under the lock ----------------------------------------------------------------------------------------------

    def _ended_now(self, known: _Known, *, lost: bool) -> None:
        if known.core.session != "open":
            return
        if lost:
            known.core.fence()
        else:
            known.core.depart()
        self._record(known, "Fence" if lost else "Depart", {})
        known.core.answers.clear()
        del self._open[known.name]
        self._ended[known.name] = known
        while len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)

    @staticmethod
    def _heard(known: _Known, peer: Any) -> None:
        known.peer = peer
        known.silent_s = 0.0

    def _tell_end(self, peer: Any, name: bytes) -> None:
        self._send(peer, [ENDED, name, frames.header(self._instance)])

    def _begin_trace(self, known: _Known) -> None:
        if self._recorder is not None:
            self._recorder.write({"action": "Open", "protocol": known.channel, "dp": 0, "window": self._window})

    def _record(self, known: _Known, action: str, args: dict[str, Any]) -> None:
        known.seq += 1
        if self._recorder is None:
            return
        core = known.core
        post = {"session": core.session, "top": core.top, "known": [[n, core.known[n]] for n in sorted(core.known)]}
        event = {"seq": known.seq, "protocol": known.channel, "dp": 0, "action": action, "args": args, "post": post}
        self._recorder.write(event)
