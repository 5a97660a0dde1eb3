"""The mailbox protocol as ``spec/mailbox.toml`` has it: one atomic action per critical section of the server.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import mailbox_properties as properties
from models.kernel import Action, Model, Step, each, once, replaced
from models.mailbox_state import Config, Given, Guards, State, initial_state

__all__ = ("Config", "Given", "Guards", "Mailbox", "State")

Steps: TypeAlias = Iterator[Step[State]]
Batches: TypeAlias = tuple[tuple[int, ...], ...]


class Mailbox(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("mailbox")
        self.requests = range(1, self.config.requests + 1)
        self.clients = range(1, self.config.clients + 1)
        self.actions = {
            "Die": lambda s: each("Die", "client", self.clients, self.die, s),
            "Notice": lambda s: each("Notice", "client", self.clients, self.notice, s),
            "Handle": self.handle,
            "Put": self.put,
            "Sent": self.sent,
            "Lost": lambda s: each("Lost", "request", self.requests, self.lost, s),
            "Late": lambda s: each("Late", "request", self.requests, self.late, s),
            "Expire": lambda s: each("Expire", "request", self.requests, self.expire, s),
            "Close": lambda s: once("Close", self.close, s),
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody has asked for anything."""
        return (initial_state(self.config),)

    def _begin(self, s: State, r: int, items: tuple[int, ...], flying: Batches) -> State:
        """Send what is there, if there is a handle and nobody is sending for the request."""
        if s.owner[r - 1] and items and not (flying and self.guards.OneSender):
            flying, items = (*flying, items), ()
        return s._replace(
            flights=replaced(s.flights, r - 1, flying),
            cached=replaced(s.cached, r - 1, items),
        )

    # -- the clients ---------------------------------------------------------------------------------------------

    def die(self, s: State, c: int) -> State | None:
        """The process is gone; ZeroMQ has not noticed."""
        if c not in self.config.mortal or s.clients[c - 1] != "live":
            return None
        return s._replace(clients=replaced(s.clients, c - 1, "dead"))

    def notice(self, s: State, c: int) -> State | None:
        """ZeroMQ has noticed."""
        return s._replace(clients=replaced(s.clients, c - 1, "gone")) if s.clients[c - 1] == "dead" else None

    # -- the server ----------------------------------------------------------------------------------------------

    def handle(self, s: State) -> Steps:
        """A client asks for the results of a request: what has waited for it is sent."""
        if s.closed:
            return
        for r in self.requests:
            before = s.owner[r - 1]
            for c in self.clients:
                may = before == 0 or (not self.guards.FirstOwner and before != c)
                reopens = not self.guards.EndedRefused and s.stage[r - 1] == "over"
                if reopens or (s.stage[r - 1] == "open" and may):
                    owned = s._replace(owner=replaced(s.owner, r - 1, c), stage=replaced(s.stage, r - 1, "open"))
                    after = self._begin(owned, r, s.cached[r - 1], s.flights[r - 1])
                    yield Action("Handle", (("request", r), ("client", c))), after

    def put(self, s: State) -> Steps:
        """The next result of a request."""
        if s.closed:
            return
        most = self.config.max_items
        for r in self.requests:
            i = r - 1
            if s.stage[i] != "open" or s.fin[i] or (most is not None and s.made[i] >= most):
                continue
            at_once = s.owner[i] != 0 and not s.flights[i]
            if self.guards.Bounds and not at_once and sum(map(len, s.cached)) >= self.config.capacity:
                continue
            number = s.made[i] + 1
            for last in (0, 1):
                made = s._replace(made=replaced(s.made, i, number), fin=replaced(s.fin, i, last == 1))
                after = self._begin(made, r, (*s.cached[i], number), s.flights[i])
                yield Action("Put", (("request", r), ("last", last))), after

    def sent(self, s: State) -> Steps:
        """The socket has taken a batch."""
        for r in self.requests:
            i = r - 1
            for at, batch in enumerate(s.flights[i]):
                if self.guards.Mandatory and s.clients[s.owner[i] - 1] == "gone":
                    continue
                whole = self.guards.FlushEnds or len(batch) == 1
                ends = s.fin[i] and batch[-1] == s.made[i] and whole
                given = tuple(Given(item, s.owner[i]) for item in batch)
                went = s._replace(
                    sent=replaced(s.sent, i, s.sent[i] + given),
                    stage=replaced(s.stage, i, "over" if ends else "closed" if s.closed else "open"),
                )
                rest = (*s.flights[i][:at], *s.flights[i][at + 1 :])
                if self.guards.LooksAgain:
                    after = self._begin(went, r, s.cached[i], rest)
                else:
                    after = went._replace(flights=replaced(s.flights, i, rest))
                yield Action("Sent", (("request", r), ("i", at + 1))), after

    def lost(self, s: State, r: int) -> State | None:
        """The socket knows no such client any more."""
        if len(s.flights[r - 1]) != 1 or s.clients[s.owner[r - 1] - 1] != "gone":
            return None
        return self._end(s, r, "lost")

    def late(self, s: State, r: int) -> State | None:
        """The client has taken nothing for too long, or the server was closed."""
        if len(s.flights[r - 1]) != 1 or not (self.config.slow or s.closed):
            return None
        return self._end(s, r, "late")

    def expire(self, s: State, r: int) -> State | None:
        """No handle has come for its results, or no result for its handle."""
        if not (self.guards.Expires and self.config.idle) or s.closed or s.stage[r - 1] != "open":
            return None
        if s.flights[r - 1] or not (s.owner[r - 1] or s.cached[r - 1]):
            return None
        return self._end(s, r, "expired")

    def close(self, s: State) -> State | None:
        """The server is closed; batches that are being sent may still arrive."""
        if not self.config.closes or s.closed:
            return None
        pairs = zip(s.stage, s.flights, strict=True)
        return s._replace(
            closed=True,
            stage=tuple("closed" if stage == "open" and not flying else stage for stage, flying in pairs),
            dropped=tuple(n + len(items) for n, items in zip(s.dropped, s.cached, strict=True)),
            cached=((),) * self.config.requests,
        )

    def _end(self, s: State, r: int, how: str) -> State:
        """Nothing more is sent, and who has made the results is told."""
        unsent = sum(map(len, s.flights[r - 1])) if self.guards.TellsUnsent else 0
        return s._replace(
            stage=replaced(s.stage, r - 1, how),
            dropped=replaced(s.dropped, r - 1, s.dropped[r - 1] + unsent + len(s.cached[r - 1])),
            flights=replaced(s.flights, r - 1, ()),
            cached=replaced(s.cached, r - 1, ()),
        )
