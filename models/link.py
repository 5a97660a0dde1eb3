"""The link protocol as ``spec/link.toml`` has it: one session over connections that break and come back.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents. The parameter ``open`` of a request is its set of open calls as one number (bit n: call n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from models import link_properties as properties
from models.kernel import Action, Model, Step, each, once, replaced
from models.link_state import ENDED, Config, Guards, Request, State, initial_state, mask

__all__ = ("Config", "Guards", "Link", "Request", "State")

Steps: TypeAlias = Iterator[Step[State]]
Known: TypeAlias = tuple[str, ...]


class Link(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("link")
        self.numbers = range(1, self.config.calls + 1)
        self.actions = {
            "Call": lambda s: each("Call", "number", self.numbers, self.call, s),
            "Resend": lambda s: each("Resend", "number", self.numbers, self.resend, s),
            "Receive": lambda s: each("Receive", "number", self.numbers, self.receive, s),
            "Hear": lambda s: once("Hear", self.hear, s),
            "GiveUp": lambda s: once("GiveUp", self.give_up, s),
            "Close": lambda s: once("Close", self.close, s),
            "Die": lambda s: once("Die", self.die, s),
            "Lose": lambda s: self._of_requests("Lose", self.lose, s),
            "LoseAnswer": lambda s: each("LoseAnswer", "number", (0, *self.numbers), self.lose_answer, s),
            "Begin": lambda s: self._of_requests("Begin", self.begin, s),
            "Repeat": lambda s: self._of_requests("Repeat", self.repeat, s),
            "Stale": lambda s: self._of_requests("Stale", self.stale, s),
            "Refuse": lambda s: self._of_requests("Refuse", self.refuse, s),
            "Depart": lambda s: self._of_requests("Depart", self.depart, s),
            "Finish": lambda s: each("Finish", "number", self.numbers, self.finish, s),
            "Fence": lambda s: once("Fence", self.fence, s),
            "HostDies": lambda s: once("HostDies", self.host_dies, s),
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nothing was called."""
        return (initial_state(self.config),)

    @staticmethod
    def _of_requests(name: str, step: Callable[[State, Request], State | None], s: State) -> Steps:
        """Yield the steps that take a request from the network."""
        for request in sorted(s.wire | s.late, key=lambda r: (r.number, r.top, mask(r.open))):
            if (after := step(s, request)) is not None:
                params = (("number", request.number), ("open", mask(request.open)), ("top", request.top))
                yield Action(name, params), after

    # -- the handle ----------------------------------------------------------------------------------------------

    def call(self, s: State, n: int) -> State | None:
        """A thread of the handle calls the host."""
        first = n == 1 or s.calls[0] == "answered"
        if s.client != "up" or n != _highest(s.calls) + 1 or not first or len(_open(s.calls)) >= self.config.window:
            return None
        calls = replaced(s.calls, n - 1, "open")
        return s._replace(calls=calls, wire=s.wire | {_request(n, calls)})

    def resend(self, s: State, n: int) -> State | None:
        """The handle sends a call again, through a newer connection perhaps."""
        if not self.guards.Resends or s.client != "up" or s.calls[n - 1] != "open":
            return None
        request = _request(n, s.calls)
        if request in s.wire and request in s.late:
            return None
        return s._replace(wire=s.wire | {request}, late=s.late | {request} if request in s.wire else s.late)

    def receive(self, s: State, n: int) -> State | None:
        """An answer comes. That of a call which has one already changes nothing."""
        if s.client != "up" or n not in s.back:
            return None
        state = "answered" if s.calls[n - 1] == "open" else s.calls[n - 1]
        return s._replace(calls=replaced(s.calls, n - 1, state), back=s.back - {n})

    def hear(self, s: State) -> State | None:
        """The host says that the session has ended."""
        if s.client != "up" or 0 not in s.back:
            return None
        return s._replace(client="fenced", calls=_ended(s.calls, "fenced"), back=s.back - {0})

    def give_up(self, s: State) -> State | None:
        """The host was silent for longer than the handle's limit."""
        may = self.config.impatient or not s.serving
        if not (self.guards.GivesUp and may) or s.client != "up" or not _open(s.calls):
            return None
        return s._replace(client="lost", calls=_ended(s.calls, "lost"))

    def close(self, s: State) -> State | None:
        """The handle is closed, and says goodbye."""
        if not self.config.closes or s.client != "up" or not _highest(s.calls) or _open(s.calls):
            return None
        return s._replace(client="closed", wire=s.wire | {_request(0, s.calls)})

    def die(self, s: State) -> State | None:
        """The process is gone."""
        return s._replace(client="dead") if self.config.client_mortal and s.client == "up" else None

    # -- the network ---------------------------------------------------------------------------------------------

    def lose(self, s: State, request: Request) -> State | None:
        """A request is lost with its connection."""
        if s.losses >= self.config.max_losses:
            return None
        return _taken(s, request)._replace(losses=s.losses + 1)

    def lose_answer(self, s: State, n: int) -> State | None:
        """An answer is lost with its connection."""
        if s.losses >= self.config.max_losses or n not in s.back:
            return None
        return s._replace(back=s.back - {n}, losses=s.losses + 1)

    # -- the host ------------------------------------------------------------------------------------------------

    def begin(self, s: State, request: Request) -> State | None:
        """A call comes for the first time."""
        n = request.number
        if not s.serving or not n or not self._accepts(s, request):
            return None
        after = self._after(s, request)
        new = after[n - 1] == "new" or (after[n - 1] == "none" and not self.guards.StaleRefused)
        if not new and (self.guards.Dedups or after[n - 1] == "none"):
            return None
        known = replaced(after, n - 1, "running")
        return self._heard(s, request)._replace(known=known, session="open")

    def repeat(self, s: State, request: Request) -> State | None:
        """A call comes again: its answer, if there is one, is sent again."""
        n = request.number
        if not s.serving or not n or not self.guards.Dedups or not self._accepts(s, request):
            return None
        after = self._after(s, request)
        if after[n - 1] not in ("running", "done", "bare"):
            return None
        back = s.back | {n} if after[n - 1] == "done" else s.back
        return self._heard(s, request)._replace(known=after, back=back)

    def stale(self, s: State, request: Request) -> State | None:
        """The handle has had the answer: this is a late copy."""
        n = request.number
        if not s.serving or not n or not self.guards.StaleRefused or not self._accepts(s, request):
            return None
        after = self._after(s, request)
        return self._heard(s, request)._replace(known=after) if after[n - 1] == "none" else None

    def refuse(self, s: State, request: Request) -> State | None:
        """The session has ended, and the handle is told."""
        if not s.serving or not request.number or self._accepts(s, request):
            return None
        return _taken(s, request)._replace(back=s.back | {0} if self.guards.FencedTold else s.back)

    def depart(self, s: State, request: Request) -> State | None:
        """The goodbye of a handle comes."""
        if not s.serving or request.number:
            return None
        return _taken(s, request)._replace(session="closed" if s.session == "open" else s.session)

    def finish(self, s: State, n: int) -> State | None:
        """A call takes effect, and its answer is sent."""
        lives = s.session == "open"
        if not s.serving or s.known[n - 1] != "running" or not (lives or not self.guards.StopsAtFence):
            return None
        return s._replace(
            known=replaced(s.known, n - 1, "done" if self.guards.KeepsAnswer else "bare"),
            ran=replaced(s.ran, n - 1, s.ran[n - 1] + 1),
            back=s.back | {n} if lives else s.back,
        )

    def fence(self, s: State) -> State | None:
        """Nothing was heard of the handle for longer than the host's limit."""
        may = self.config.may_fence or s.client != "up"
        if not (self.guards.FencesSilent and may) or not s.serving or s.session != "open":
            return None
        return s._replace(session="fenced")

    def host_dies(self, s: State) -> State | None:
        """The host is gone."""
        return s._replace(serving=False) if self.config.host_mortal and s.serving else None

    def _accepts(self, s: State, request: Request) -> bool:
        opens = request.number == 1 and (s.session == "new" or not self.guards.EndedRemembered)
        return s.session == "open" or opens

    def _after(self, s: State, request: Request) -> Known:
        """What the host knows after a request: calls that it will get, and none that the handle has the answer of."""
        lives = s.session == "open"
        heard = s.top if lives else 0
        known = list(s.known if lives else ("none",) * self.config.calls)
        for n in range(1, request.top + 1):
            if n > heard:
                known[n - 1] = "new" if n in request.open else "none"
            elif n not in request.open and known[n - 1] != "running" and self.guards.Acknowledges:
                known[n - 1] = "none"
        return tuple(known)

    @staticmethod
    def _heard(s: State, request: Request) -> State:
        heard = s.top if s.session not in (*ENDED, "new") else 0
        return _taken(s, request)._replace(top=max(heard, request.top))


def _open(calls: tuple[str, ...]) -> frozenset[int]:
    return frozenset(n for n, state in enumerate(calls, 1) if state == "open")


def _highest(calls: tuple[str, ...]) -> int:
    return sum(state != "none" for state in calls)


def _request(n: int, calls: tuple[str, ...]) -> Request:
    return Request(n, _open(calls), _highest(calls))


def _ended(calls: tuple[str, ...], how: str) -> tuple[str, ...]:
    return tuple(how if state == "open" else state for state in calls)


def _taken(s: State, request: Request) -> State:
    """The request is taken from the older connection first."""
    if request in s.late:
        return s._replace(late=s.late - {request})
    return s._replace(wire=s.wire - {request})
