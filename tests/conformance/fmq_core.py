"""Level V3 on the FMQ cores: every edge of the model's graph is taken by them, and every refusal refuses.

The network and shared memory are invisible to the cores: the driver is both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fdcomm.core.fmq import Known, Receiver, Sender
from models.fmq import Config, Fmq, Frame, State
from models.fmq_state import GONE, LIVE
from models.graph import Edge, build
from models.kernel import Action
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "FmqDriver", "difference", "drive_core", "probes", "step_of")

_UNKNOWN = Known(-1, 0, 0, 0)


class FmqDriver:
    """The cores under test, between them the network, and shared memory."""

    def __init__(self, config: Config, sender: type[Sender[Any]] = Sender, receiver: type[Receiver] = Receiver) -> None:
        count = config.producers
        self.config = config
        self.senders = [sender(config.window, config.keep) for _ in range(count)]
        self.make = receiver
        self.receiver = receiver()
        self.consumer = self.starts = self.cuts = 0
        self.flow: list[list[list[Frame]]] = [[] for _ in range(count)]
        self.ack: list[list[int]] = [[] for _ in range(count)]
        self.there: list[set[int]] = [set() for _ in range(count)]
        self.given: list[list[int]] = [[] for _ in range(count)]
        self.finished: list[set[int]] = [set() for _ in range(count)]
        self.skipped: list[set[int]] = [set() for _ in range(count)]

    def copy(self) -> FmqDriver:
        """Return an independent driver in the same state."""
        return copy.deepcopy(self)

    def state(self) -> State:
        """Return the model's state that the cores are in."""
        known = [self.receiver.producers.get(_id(p), _UNKNOWN) for p in range(len(self.senders))]
        for sender in self.senders:
            kept = list(range(sender.base + 1, sender.sent + 1)) if sender.keeps and sender.live else []
            if list(sender.kept) != kept:
                raise Deviation(f"kept are {list(sender.kept)}, and should be {kept}")
        return State(
            sent=tuple(sender.sent for sender in self.senders),
            base=tuple(sender.base for sender in self.senders),
            life=tuple(LIVE if sender.live else GONE for sender in self.senders),
            linked=tuple(sender.linked for sender in self.senders),
            flow=tuple(tuple(map(tuple, flows)) for flows in self.flow),
            pipe=((),) * len(self.senders),
            ack=tuple(map(tuple, self.ack)),
            consumer=self.consumer,
            starts=self.starts,
            cuts=self.cuts,
            last=tuple(one.last for one in known),
            done=tuple(one.done for one in known),
            told=tuple(one.told for one in known),
            peer=tuple(one.peer for one in known),
            there=tuple(map(frozenset, self.there)),
            given=tuple(map(tuple, self.given)),
            finished=tuple(map(frozenset, self.finished)),
            skipped=tuple(map(frozenset, self.skipped)),
        )

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        if action.name == "StartConsumer":
            self.receiver = self.make()
            self.starts = self.consumer = self.starts + 1
            self.given = [[] for _ in self.senders]
        elif action.name == "EndConsumer":
            self.consumer = 0
            for p, sender in enumerate(self.senders):
                self.flow[p] = []
                if sender.linked:
                    sender.cut()
        elif action.name == "Sweep":
            self.there = [there if s.live else set() for there, s in zip(self.there, self.senders, strict=True)]
        else:
            p, *more = (value for _, value in action.params)
            return {**_PRODUCER, **_CONSUMER}[action.name](self, p, *more)
        return None

    # -- a producer ----------------------------------------------------------------------------------------------

    def write(self, p: int) -> None:
        """Shared memory."""
        self.there[p].add(self.senders[p].sent + 1)

    def put(self, p: int) -> int:
        """Put."""
        sender = self.senders[p]
        number = sender.put(sender.sent + 1)
        if sender.linked:
            self.flow[p][-1].append(Frame(number, sender.base))
        return number

    def connect(self, p: int) -> tuple[int, tuple[int, ...]]:
        """Connect."""
        base, again = self.senders[p].connect()
        self.flow[p].append([Frame(number, base) for number in again])
        self.ack[p].clear()
        return base, again

    def cut(self, p: int, k: int) -> None:
        """Cut."""
        self.senders[p].cut()
        del self.flow[p][-1][k:]
        self.cuts += 1

    def end(self, p: int, k: int) -> int:
        """End."""
        if self.senders[p].linked:
            del self.flow[p][-1][k:]
        self.ack[p].clear()
        return self.senders[p].end()

    def hear_ack(self, p: int) -> bool:
        """HearAck."""
        return self.senders[p].hear(self.ack[p].pop(0))

    # -- the consumer --------------------------------------------------------------------------------------------

    def read(self, p: int, c: int) -> str:
        """Take, Skip, Drop."""
        frame = self.flow[p][c - 1].pop(0)
        there = frame.n not in self.config.large or frame.n in self.there[p]
        if _id(p) not in self.receiver.producers:
            self.there[p] = {n for n in self.there[p] if n > frame.base}
        verdict = self.receiver.read(_id(p), c, frame.n, frame.base, there)
        if verdict == "given":
            self.given[p].append(frame.n)
        elif verdict == "skipped":
            self.skipped[p].add(frame.n)
        return verdict

    def finish(self, p: int) -> int:
        """Finish."""
        for number in self.receiver.undone(_id(p)):
            self.there[p].discard(number)
        self.finished[p] |= set(self.given[p])
        return self.receiver.finish(_id(p))

    def acknowledge(self, p: int) -> int:
        """Acknowledge."""
        number = self.receiver.acknowledge(_id(p))
        if self.senders[p].linked and self.receiver.producers[_id(p)].peer == len(self.flow[p]):
            self.ack[p].append(number)
        return number

    def reclaim(self, p: int) -> int:
        """Reclaim."""
        last = self.receiver.reclaim(_id(p))
        self.there[p].clear()
        return last


_PRODUCER: dict[str, Callable[..., object]] = {
    "Write": FmqDriver.write,
    "Put": FmqDriver.put,
    "Connect": FmqDriver.connect,
    "Cut": FmqDriver.cut,
    "End": FmqDriver.end,
    "HearAck": FmqDriver.hear_ack,
}
_CONSUMER: dict[str, Callable[..., object]] = {
    "Take": FmqDriver.read,
    "Skip": FmqDriver.read,
    "Drop": FmqDriver.read,
    "Finish": FmqDriver.finish,
    "Acknowledge": FmqDriver.acknowledge,
    "Reclaim": FmqDriver.reclaim,
}


def _id(p: int) -> bytes:
    return b"producer%d" % p


def step_of(action: Action, before: State, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    p = action.param("p") or 0
    return {
        "Put": after.sent[p],
        "Connect": (after.base[p], tuple(frame.n for frame in after.flow[p][-1]) if after.flow[p] else ()),
        "End": before.sent[p] - before.base[p],
        "HearAck": before.base[p] != after.base[p],
        "Take": "given",
        "Skip": "skipped",
        "Drop": "duplicate",
        "Finish": after.done[p],
        "Acknowledge": after.told[p],
        "Reclaim": before.last[p],
    }.get(action.name)


def drive_core(config: Config, sender: type[Sender[Any]] = Sender, receiver: type[Receiver] = Receiver) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Fmq(config))
    return take_every_edge(graph, lambda path: replay(FmqDriver(config, sender, receiver), path), _take, probes)


def _take(driver: FmqDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), step_of(action, before, after))


def probes(driver: FmqDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    for p, sender in enumerate(driver.senders):
        yield f"HearAck({p}, unknown)", partial(sender.hear, state.sent[p] + 1), None
        if state.life[p] == GONE:
            yield f"Put({p})", partial(sender.put, 0), None
            yield f"End({p})", sender.end, None
        else:
            yield f"HearAck({p}, old)", partial(sender.hear, state.base[p]), (False,)
            if state.sent[p] - state.base[p] >= driver.config.window:
                yield f"Put({p})", partial(sender.put, 0), (0,)
        if state.life[p] == GONE or state.linked[p]:
            yield f"Connect({p})", sender.connect, None
        if not state.linked[p]:
            yield f"Cut({p})", sender.cut, None
        yield from _of_the_consumer(driver, state, p)


def _of_the_consumer(driver: FmqDriver, state: State, p: int) -> Iterator[Probe]:
    receiver, me, last = driver.receiver, _id(p), state.last[p]
    yield f"Take({p}, after a hole)", partial(receiver.read, me, 1, max(last, 0) + 2, 0), ("hole",)
    if last == -1 or last == state.done[p]:
        yield f"Finish({p})", partial(receiver.finish, me), None
    else:
        yield f"Reclaim({p})", partial(receiver.reclaim, me), None
    if last == -1:
        yield f"Acknowledge({p})", partial(receiver.acknowledge, me), None
        yield f"Reclaim({p})", partial(receiver.reclaim, me), None
    elif state.told[p] >= state.done[p]:
        yield f"Acknowledge({p})", partial(receiver.acknowledge, me), (0,)
