"""Long random runs of bitmask (with its done queue), cache infos and connect tasks over real hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from models.dispatch_state import LOST
from tests.stateful.beside import run_machine
from tests.stateful.item_driver import ItemDriver, ItemHost

__all__ = ("ItemMachine", "run_items")

_CHANNELS = 600
two = st.integers(0, 1)


def when(name: str) -> Callable[[Any], bool]:
    """Return the precondition of an action's rule."""
    return lambda machine: machine.driver is not None and machine.driver.can(name)


class ItemMachine(RuleBasedStateMachine):
    """Rules are the actions. What a handle is told, and the host's own view, must be what the model says."""

    hosts: dict[int, ItemHost]
    occurred: Counter[str]
    protocol: str
    driver: ItemDriver | None = None

    @initialize(depth=two)
    def start(self, depth: int) -> None:
        depth = 1 + depth if self.protocol == "bitmask" else 1
        if depth not in self.hosts:
            self.hosts[depth] = ItemHost(self.protocol, depth, _CHANNELS)
        self.driver = ItemDriver(self.hosts[depth])
        self.posted: list[int] = []
        self.in_hand: dict[int, int] = {}
        self.number = 0

    def act(self, name: str, number: int) -> None:
        """Do it, and count it."""
        assert self.driver is not None
        if self.driver.do(name, number):
            event(name)
            self.occurred[name] += 1
            if name in ("Disconnect", "CrashProducer"):
                self.in_hand.pop(number, None)

    @precondition(when("Join"))
    @rule(rank=two)
    def join(self, rank: int) -> None:
        self.act("Join", rank)

    @precondition(when("Leave"))
    @rule(rank=two)
    def leave(self, rank: int) -> None:
        self.act("Leave", rank)

    @precondition(when("Crash"))
    @rule(rank=two)
    def crash(self, rank: int) -> None:
        self.act("Crash", rank)

    @precondition(when("Connect"))
    @rule(producer=two)
    def connect(self, producer: int) -> None:
        self.act("Connect", producer)

    @precondition(when("Disconnect"))
    @rule(producer=two)
    def disconnect(self, producer: int) -> None:
        self.act("Disconnect", producer)

    @precondition(when("CrashProducer"))
    @rule(producer=two)
    def crash_producer(self, producer: int) -> None:
        self.act("CrashProducer", producer)

    @rule(producer=two)
    def put(self, producer: int) -> None:
        self.act("PutTasks", producer)

    @precondition(lambda self: self.driver is not None and LOST in self.driver.state.status)
    @rule(producer=two)
    def put_while_a_rank_is_lost(self, producer: int) -> None:
        self.act("PutTasks", producer)

    @rule(rank=two)
    def get(self, rank: int) -> None:
        self.act("GetTasks", rank)

    @rule(rank=two)
    def get_again(self, rank: int) -> None:
        self.act("GetTasks", rank)

    @rule(rank=two)
    def clear_rank(self, rank: int) -> None:
        self.act("ClearRank", rank)

    @rule(producer=two)
    def clear_producer(self, producer: int) -> None:
        self.act("ClearProducer", producer)

    # -- the done queue: producers' handles are its takers ---------------------------------------------------------

    @precondition(lambda self: self.protocol == "bitmask")
    @rule(producer=two)
    def post(self, producer: int) -> None:
        assert self.driver is not None
        if producer in self.driver.producers:
            self.number += 1
            self.posted.append(self.number)
            self.driver.producers[producer].put_transfer_done_signal(self.number)
            self.occurred["Post"] += 1

    @precondition(lambda self: self.protocol == "bitmask")
    @rule(producer=two)
    def take(self, producer: int) -> None:
        assert self.driver is not None
        if producer in self.driver.producers:
            self.in_hand.pop(producer, None)
            taken = self.driver.producers[producer].get_transfer_done_signal()
            assert taken == (self.posted.pop(0) if self.posted else None)
            if taken is not None:
                self.in_hand[producer] = taken
            self.occurred["Take"] += 1

    @precondition(lambda self: self.protocol == "bitmask")
    @rule()
    def ask_empty(self) -> None:
        assert self.driver is not None
        assert self.driver.observer.result_queue_empty() is (not self.posted and not self.in_hand)

    def teardown(self) -> None:
        if self.driver is not None:
            self.driver.close()


def run_items(protocol: str, options: settings) -> Counter[str]:
    """Run the machine; return how often each action took place, after the models' judgement of the whole record."""
    hosts: dict[int, ItemHost] = {}
    name = protocol

    class Machine(ItemMachine):
        protocol = name

    Machine.hosts = hosts
    try:
        occurred = run_machine(Machine, options)
        recorded: Counter[str] = Counter()
        for host in hosts.values():
            recorded += host.judge()
    finally:
        for host in hosts.values():
            host.close()
    for action in ("PutLost", "PutTimeout", "Gone"):
        occurred[action] = recorded[action]
    return occurred
