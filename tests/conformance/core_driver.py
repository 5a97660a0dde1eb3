"""Drives the pure core by the model's labels, and reads the model's state off it.

A crash is invisible to the host, so the core has no such call: the driver remembers who has crashed. The same holds
for ``got`` (what the gets returned) and for ``prodSeen`` of a producer that is down (the core has forgotten it).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from fdcomm.core.dispatch import Dispatch as Core
from fdcomm.core.dispatch import Entry
from models.dispatch_state import AWAY, DEAD, DOWN, LIVE, LOST, UP, Call, State
from models.dispatch_state import Entry as ModelEntry
from models.kernel import Action
from tests.conformance.driving import Probe, refused

__all__ = ("NOT_VISIBLE", "CoreDriver", "Probe", "abstract", "expected_result", "probes", "refused")

Result: TypeAlias = object


class CoreDriver:
    """A core under test, with ``producers`` connected, as in the model's initial state."""

    def __init__(
        self, ranks: int, producers: int, depth: int, make: Callable[[int, int], Core[str]] = Core[str]
    ) -> None:
        self.core = make(ranks, depth)
        self.producers = producers
        self.dead_ranks: set[int] = set()
        self.dead_producers: set[int] = set()
        self.got: list[tuple[int, ...]] = [()] * ranks
        self.last_seen = [0] * producers
        for producer in range(producers):
            self.core.connect(producer)

    def copy(self) -> CoreDriver:
        """Return an independent driver in the same state."""
        twin = copy.copy(self)
        twin.core = core = copy.copy(self.core)
        core.waiting = list(core.waiting)
        core.log = [Entry(entry.id, entry.epoch, entry.batch, set(entry.taken)) for entry in core.log]
        core.live, core.lost = set(core.live), set(core.lost)
        core.rank_seen, core.prod_seen = list(core.rank_seen), dict(core.prod_seen)
        twin.dead_ranks, twin.dead_producers = set(self.dead_ranks), set(self.dead_producers)
        twin.got, twin.last_seen = list(self.got), list(self.last_seen)
        return twin

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core = self.core
        for producer in range(self.producers):
            self.last_seen[producer] = core.prod_seen.get(producer, self.last_seen[producer])
        up = [producer in core.prod_seen for producer in range(self.producers)]
        return abstract(core, self.dead_ranks, self.dead_producers, self.got, self.last_seen, up)

    def step(self, action: Action) -> Result:
        """Take one step; return what the core's method returned, without what only the host needs."""
        core, name, number = self.core, action.name, action.params[0][1]
        if name == "Crash":
            self.dead_ranks.add(number)
        elif name == "CrashProducer":
            self.dead_producers.add(number)
        elif name == "CallPut":
            return core.call_put(number, batch_of(core.calls + 1))
        elif name == "PutTasks":
            entry = core.put_tasks(action.params[1][1])
            return entry and (entry.id, entry.epoch, entry.batch)
        elif name == "PutLost":
            return core.put_lost(action.params[1][1])
        elif name == "PutTimeout":
            return core.put_timeout(action.params[1][1])
        elif name == "GetTasks":
            taken = core.get_tasks(number)
            if taken is None:
                return None
            self.got[number] = (*self.got[number], taken.id)
            return taken.id, taken.epoch, taken.batch, taken.all_read
        elif name in ("ClearRank", "ClearProducer"):
            return core.clear_rank(number) if name == "ClearRank" else core.clear_producer(number)
        else:
            self._membership(name, number)
        return None

    def _membership(self, name: str, number: int) -> None:
        core = self.core
        methods: dict[str, Callable[[int], None]] = {
            "Join": core.join,
            "Leave": core.leave,
            "Fence": core.fence,
            "Connect": core.connect,
            "Disconnect": core.disconnect,
            "FenceProducer": core.fence_producer,
        }
        if name in ("Disconnect", "FenceProducer"):
            self.last_seen[number] = core.prod_seen.get(number, self.last_seen[number])
        methods[name](number)
        (self.dead_ranks if name in ("Join", "Leave", "Fence") else self.dead_producers).discard(number)


def batch_of(number: int) -> str:
    """Return the payload of the put call of that number: a batch cannot be taken for another one."""
    return f"batch {number}"


def abstract(
    core: Core[Any],
    dead_ranks: set[int],
    dead_producers: set[int],
    got: list[tuple[int, ...]],
    prod_seen: list[int],
    up: list[bool],
) -> State:
    """Return the model's state of a core, with what the core cannot know given beside it."""
    status = tuple(
        (DEAD if rank in dead_ranks else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
        for rank in range(core.ranks)
    )
    lives = tuple((DEAD if p in dead_producers else UP) if is_up else DOWN for p, is_up in enumerate(up))
    return State(
        calls=core.calls,
        waiting=tuple(Call(call.producer, call.id) for call in core.waiting),
        log=tuple(ModelEntry(entry.id, entry.epoch, frozenset(entry.taken)) for entry in core.log),
        epoch=core.epoch,
        rankSeen=tuple(core.rank_seen),
        prodSeen=tuple(prod_seen),
        status=status,
        producer=lives,
        exist=core.exist_tasks(),
        got=tuple(got),
    )


def expected_result(action: Action, before: State, after: State) -> Result:
    """Return what the core's method must return for a step of the model."""
    name = action.name
    if name == "CallPut":
        return after.calls
    if name == "PutTasks":
        entry = after.log[-1]
        return entry.id, entry.epoch, batch_of(entry.id)
    if name == "PutLost":
        return tuple(rank for rank, status in enumerate(before.status) if status == LOST)
    if name == "PutTimeout":
        return True
    if name == "GetTasks":
        number = after.got[action.params[0][1]][-1]
        epoch = next(entry.epoch for entry in before.log if entry.id == number)
        return number, epoch, batch_of(number), all(entry.id != number for entry in after.log)
    if name in ("ClearRank", "ClearProducer"):
        kept = {entry.id for entry in after.log}
        return tuple(entry.id for entry in before.log if entry.id not in kept)
    return None


# (action, status): what only the process knows. The host sees that somebody calls, or that a connection has ended.
NOT_VISIBLE = {
    ("Fence", LIVE),
    ("Leave", DEAD),
    ("ClearRank", DEAD),
    ("FenceProducer", UP),
    ("Disconnect", DEAD),
    ("CallPut", DEAD),
    ("ClearProducer", DEAD),
}


def probes(core: Core[str], state: State, enabled: set[Action]) -> Iterator[Probe]:
    """Yield a call for every action that is not enabled in ``state``, as far as the core can know that it is not."""
    for rank, status in enumerate(state.status):
        nobody = status in (AWAY, LOST)
        calls: list[tuple[str, Callable[..., object]]] = [
            ("Join", core.join),
            ("Leave", core.leave),
            ("Fence", core.fence),
            ("ClearRank", core.clear_rank),
            ("GetTasks", core.get_tasks),
        ]
        for name, call in calls:
            if _action(name, "rank", rank) not in enabled and (name, status) not in NOT_VISIBLE:
                answer = (None,) if name == "GetTasks" and not nobody else None
                yield f"{name}({rank})", _bind(call, rank), answer
        if not nobody:
            ready = next((entry.id for entry in state.log if rank not in entry.taken), None)
            for ticket in range(1, state.calls + 2):
                if ticket != ready:
                    yield f"GetTasks({rank}, ticket {ticket})", _bind(core.get_tasks, rank, ticket), (None,)
    for producer, life in enumerate(state.producer):
        calls = [
            ("Connect", core.connect),
            ("Disconnect", core.disconnect),
            ("FenceProducer", core.fence_producer),
            ("CallPut", lambda number: core.call_put(number, "")),
            ("ClearProducer", core.clear_producer),
        ]
        for name, call in calls:
            if (
                not any(a.name == name and a.params[0][1] == producer for a in enabled)
                and (
                    name,
                    life,
                )
                not in NOT_VISIBLE
            ):
                yield f"{name}({producer})", _bind(call, producer), None
    for name, put, no in (
        ("PutTasks", core.put_tasks, None),
        ("PutLost", core.put_lost, ()),
        ("PutTimeout", core.put_timeout, False),
    ):
        ids = {action.params[1][1] for action in enabled if action.name == name}
        for number in range(1, state.calls + 2):
            if number not in ids:
                yield f"{name}({number})", _bind(put, number), (no,)


def _action(name: str, key: str, number: int) -> Action:
    return Action(name, ((key, number),))


def _bind(call: Callable[..., object], *args: int) -> Callable[[], object]:
    return lambda: call(*args)
