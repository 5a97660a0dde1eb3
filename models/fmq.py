"""The FMQ queue as ``spec/fmq.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from models import fmq_properties as properties
from models.fmq_state import GONE, LIVE, Config, Frame, Guards, State, before, initial_state, readable
from models.kernel import Action, Model, Step, each, once, replaced

__all__ = ("Config", "Fmq", "Frame", "Guards", "State")

Steps: TypeAlias = Iterator[Step[State]]


class Fmq(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("fmq")
        self.producers = range(self.config.producers)
        self.actions = {
            "Write": lambda s: self._each(s, "Write", self._write),
            "Put": lambda s: self._each(s, "Put", self._put),
            "Connect": lambda s: self._each(s, "Connect", self._connect),
            "Cut": self.cut,
            "End": self.end,
            "HearAck": lambda s: self._each(s, "HearAck", self._hear_ack),
            "StartConsumer": lambda s: once("StartConsumer", self._start_consumer, s),
            "EndConsumer": lambda s: once("EndConsumer", self._end_consumer, s),
            "Take": lambda s: self._reads(s, "Take", self._take),
            "Skip": lambda s: self._reads(s, "Skip", self._skip),
            "Drop": lambda s: self._reads(s, "Drop", self._drop),
            "Finish": lambda s: self._each(s, "Finish", self._finish),
            "Acknowledge": lambda s: self._each(s, "Acknowledge", self._acknowledge),
            "Reclaim": lambda s: self._each(s, "Reclaim", self._reclaim),
            "Sweep": lambda s: once("Sweep", self._sweep, s),
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nothing was put."""
        return (initial_state(self.config),)

    # -- a producer ----------------------------------------------------------------------------------------------

    def _room(self, s: State, p: int) -> bool:
        most = self.config.max_sent
        return s.life[p] == LIVE and (most is None or s.sent[p] < most) and s.sent[p] - s.base[p] < self.config.window

    def _write(self, s: State, p: int) -> State | None:
        number = s.sent[p] + 1
        if not self._room(s, p) or number not in self.config.large or number in s.there[p]:
            return None
        return s._replace(there=replaced(s.there, p, s.there[p] | {number}))

    def _put(self, s: State, p: int) -> State | None:
        number = s.sent[p] + 1
        if not self._room(s, p) or (number in self.config.large and number not in s.there[p]):
            return None
        after = s._replace(sent=replaced(s.sent, p, number))
        if not s.linked[p]:
            return after
        if not self.guards.KeepsUntilAcked:
            after = after._replace(base=replaced(s.base, p, number))
        *older, current = s.flow[p]
        return after._replace(flow=replaced(s.flow, p, (*older, (*current, Frame(number, s.base[p])))))

    def _connect(self, s: State, p: int) -> State | None:
        if s.life[p] != LIVE or s.linked[p] or not s.consumer:
            return None
        again = tuple(Frame(n, s.base[p]) for n in range(s.base[p] + 1, s.sent[p] + 1))
        first = s.pipe[p] + (again if self.config.keep and self.guards.Resends else ())
        return s._replace(
            linked=replaced(s.linked, p, True),
            flow=replaced(s.flow, p, (*s.flow[p], first)),
            pipe=replaced(s.pipe, p, ()),
            base=s.base if self.config.keep else replaced(s.base, p, s.sent[p]),
            ack=replaced(s.ack, p, ()),
        )

    def cut(self, s: State) -> Steps:
        """A connection breaks; the consumer still gets the first messages that it has not read."""
        if self.config.max_cuts is not None and s.cuts >= self.config.max_cuts:
            return
        for p in self.producers:
            if s.linked[p]:
                current = s.flow[p][-1]
                for k in range(len(current) + 1):
                    after = _broken(s, p, k)._replace(cuts=s.cuts + 1)
                    left = () if self.guards.FreshLink else current[k:]
                    yield Action("Cut", (("p", p), ("k", k))), after._replace(pipe=replaced(s.pipe, p, left))

    def end(self, s: State) -> Steps:
        """A producer's process ends."""
        for p in sorted(self.config.mortal):
            if s.life[p] == LIVE:
                for k in range(len(s.flow[p][-1]) + 1) if s.linked[p] else (0,):
                    after = _broken(s, p, k) if s.linked[p] else s
                    yield (
                        Action("End", (("p", p), ("k", k))),
                        after._replace(
                            life=replaced(s.life, p, GONE),
                            pipe=replaced(s.pipe, p, ()),
                            ack=replaced(s.ack, p, ()),
                            there=s.there if self.guards.Outlives else replaced(s.there, p, frozenset()),
                        ),
                    )

    def _hear_ack(self, s: State, p: int) -> State | None:
        if s.life[p] != LIVE or not s.ack[p]:
            return None
        first, *later = s.ack[p]
        return s._replace(base=replaced(s.base, p, max(s.base[p], first)), ack=replaced(s.ack, p, tuple(later)))

    # -- the consumer --------------------------------------------------------------------------------------------

    def _start_consumer(self, s: State) -> State | None:
        if s.consumer or (self.config.max_starts is not None and s.starts >= self.config.max_starts):
            return None
        fresh = initial_state(self.config)
        return s._replace(
            consumer=s.starts + 1,
            starts=s.starts + 1,
            last=fresh.last,
            done=fresh.done,
            told=fresh.told,
            peer=fresh.peer,
            given=fresh.given,
        )

    def _end_consumer(self, s: State) -> State | None:
        if not s.consumer or (self.config.max_starts is not None and s.starts >= self.config.max_starts):
            return None
        fresh = initial_state(self.config)
        keeps = [linked and not self.guards.FreshLink for linked in s.linked]
        return s._replace(
            consumer=0,
            linked=fresh.linked,
            pipe=tuple(flow[-1] if kept else () for kept, flow in zip(keeps, s.flow, strict=True)),
            flow=fresh.flow,
        )

    def _present(self, s: State, p: int, number: int) -> bool:
        return number not in self.config.large or number in s.there[p]

    def _take(self, s: State, p: int, c: int) -> State | None:
        frame = s.flow[p][c - 1][0]
        in_order = frame.n == before(s, p, frame.base) + 1
        if (self.guards.Dedups and not in_order) or not self._present(s, p, frame.n):
            return None
        return _read(s, p, c)._replace(given=replaced(s.given, p, (*s.given[p], frame.n)))

    def _skip(self, s: State, p: int, c: int) -> State | None:
        frame = s.flow[p][c - 1][0]
        if frame.n != before(s, p, frame.base) + 1 or self._present(s, p, frame.n):
            return None
        return _read(s, p, c)._replace(skipped=replaced(s.skipped, p, s.skipped[p] | {frame.n}))

    def _drop(self, s: State, p: int, c: int) -> State | None:
        frame = s.flow[p][c - 1][0]
        if not self.guards.Dedups or s.last[p] < 0 or frame.n > before(s, p, frame.base):
            return None
        return s._replace(
            flow=_rest(s, p, c),
            told=replaced(s.told, p, min(s.told[p], frame.n - 1)),
            peer=replaced(s.peer, p, max(s.peer[p], c)),
        )

    def _finish(self, s: State, p: int) -> State | None:
        if not s.consumer or s.last[p] <= s.done[p]:
            return None
        return s._replace(
            done=replaced(s.done, p, s.last[p]),
            there=replaced(s.there, p, frozenset(n for n in s.there[p] if n > s.last[p])),
            finished=replaced(s.finished, p, s.finished[p] | set(s.given[p])),
        )

    def _acknowledge(self, s: State, p: int) -> State | None:
        upto = s.done[p] if self.guards.AcksDone else s.last[p]
        if not s.consumer or s.told[p] >= upto:
            return None
        heard = s.linked[p] and s.peer[p] == len(s.flow[p])
        return s._replace(told=replaced(s.told, p, upto), ack=replaced(s.ack, p, (*s.ack[p], upto)) if heard else s.ack)

    def _reclaim(self, s: State, p: int) -> State | None:
        if not self.guards.Reclaims or not s.consumer or s.life[p] != GONE or s.last[p] < 0 or s.done[p] != s.last[p]:
            return None
        if self.guards.DrainsFirst and any(s.flow[p]):
            return None
        return s._replace(
            there=replaced(s.there, p, frozenset()),
            last=replaced(s.last, p, -1),
            done=replaced(s.done, p, 0),
            told=replaced(s.told, p, 0),
            peer=replaced(s.peer, p, 0),
        )

    def _sweep(self, s: State) -> State | None:
        left = [life == GONE and bool(there) for life, there in zip(s.life, s.there, strict=True)]
        if not self.guards.Reclaims or s.consumer or not any(left):
            return None
        there = tuple(frozenset[int]() if gone else there for gone, there in zip(left, s.there, strict=True))
        return s._replace(there=there)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _each(self, s: State, name: str, step: Callable[[State, int], State | None]) -> Steps:
        return each(name, "p", self.producers, step, s)

    def _reads(self, s: State, name: str, step: Callable[[State, int, int], State | None]) -> Steps:
        for p in self.producers:
            for c in range(1, len(s.flow[p]) + 1):
                if readable(s, p, c) and (after := step(s, p, c)) is not None:
                    yield Action(name, (("p", p), ("c", c))), after


def _broken(s: State, p: int, k: int) -> State:
    *older, current = s.flow[p]
    return s._replace(linked=replaced(s.linked, p, False), flow=replaced(s.flow, p, (*older, current[:k])))


def _rest(s: State, p: int, c: int) -> tuple[tuple[tuple[Frame, ...], ...], ...]:
    return replaced(s.flow, p, replaced(s.flow[p], c - 1, s.flow[p][c - 1][1:]))


def _read(s: State, p: int, c: int) -> State:
    frame, unknown = s.flow[p][c - 1][0], s.last[p] < 0
    return s._replace(
        flow=_rest(s, p, c),
        last=replaced(s.last, p, frame.n),
        done=replaced(s.done, p, frame.base) if unknown else s.done,
        told=replaced(s.told, p, frame.base) if unknown else s.told,
        peer=replaced(s.peer, p, max(s.peer[p], c)),
        there=replaced(s.there, p, frozenset(n for n in s.there[p] if n > frame.base)) if unknown else s.there,
    )
