"""Long random runs of block lists: the core beside the model, and real lists with their client, judged by it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fdcomm.blocks import BlockLists, Lease
from fdcomm.core.blocks import Blocks as Core
from fdcomm.errors import CommTimeoutError, HostLostError, NoBlocksError, TransferCancelledError
from fdcomm.swap import Swap
from fdcomm.transfer_client import TransferClient
from fdcomm.transfer_port import TransferSettled
from models.blocks import Blocks, Config, State
from models.dispatch_trace import accept
from models.kernel import Action
from tests.conformance.blocks_core import BlocksDriver, probes, step_of
from tests.conformance.driving import Probe
from tests.conformance.memory_port import MemoryPort
from tests.conformance.waiting import Background, until
from tests.stateful.beside import chosen, judged, possible, run_machine
from tests.stateful.core_beside import Stepped
from tests.traces.blocks_runs import lines_of
from tests.traces.layerwise_runs import Memory

__all__ = ("run_client", "run_core")

_LIMIT_S = 30.0
_ROOM = 3
_ENDS = ("Lose", "Close")
_LATE = ("Overrun", "Settle")
_RANKS = ("Pull", "Succeed", "Fail", "Overrun", "Receive", "Handle", "Quiet", "Settle")


class _CoreMachine(Stepped):
    """The core against the model."""

    make: Callable[..., Core]

    @initialize(device=st.integers(1, 4), host=st.integers(1, 3), resets=st.integers(1, 4))
    def start(self, device: int, host: int, resets: int) -> None:
        config = Config(device, host, frozenset({1, 2}), True, 12, resets, frozenset(), True, True, True, True, True)
        self.model = Blocks(config)
        (self.state,) = self.model.initial()
        self.driver = BlocksDriver(config, type(self).make)

    @rule(data=st.data(), luck=st.integers(1, 40))
    def act(self, data: st.DataObject, luck: int) -> None:
        """One action that the model allows. Ends are seldom, as little happens after them, and resets not often."""
        seldom = {"Lose": luck == 40, "Close": luck in (29, 39), "BeginReset": luck % 4 == 0, "Cancel": luck % 4 == 1}
        names = [name for name in possible(self.model, self.state) if seldom.get(name, True)]
        if luck % 4 >= 2:  # on the way to what seldom happens
            wanted = _LATE if luck % 4 == 2 else _RANKS
            names = [name for name in names if name in wanted] or names
        if not names:
            return
        self.step(*chosen(data, self.model, self.state, names))

    def answer(self, action: Action, after: State) -> object:
        return step_of(action, self.state, after)

    def impossible(self) -> list[Probe]:
        return list(probes(self.driver, self.state))


def run_core(options: settings, make: Callable[..., Core] = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _ClientMachine(RuleBasedStateMachine):
    """Who uses real lists and a client with its thread; the ranks are a port in memory. What it records is judged.

    ``owned`` is what the machine believes that it has: no block may be in it twice. ``late`` is what tasks that have
    failed may still write to: nobody else may have it.
    """

    occurred: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()
        self.port = MemoryPort(capacity=_ROOM)
        self.lists = BlockLists(4, 3, recorder=self.memory)
        self.client = TransferClient(self.port, self.lists)
        self.owned: list[Lease] = []
        self.stale: list[Lease] = []
        self.swaps: list[Swap] = []
        self.written: dict[int, set[int]] = {}
        self.late: dict[int, set[int]] = {}
        self.resetting: Background | None = None
        self.called: list[Swap] = []
        self.ended = 0

    def is_open(self) -> bool:
        """Return True while no reset waits."""
        return self.resetting is None

    @rule(n=st.integers(1, 3), kind=st.sampled_from(("device", "host")))
    def allocate(self, n: int, kind: Any) -> None:
        """Somebody gets blocks, if there are so many and no reset is under way."""
        wanted = NoBlocksError if self.is_open() else TransferCancelledError
        with contextlib.suppress(wanted):
            self.owned.append(self.lists.allocate(n, kind))

    @precondition(lambda self: self.owned or self.stale)
    @rule(number=st.integers(0, 9))
    def free(self, number: int) -> None:
        """Somebody gives blocks back, or what a reset has taken."""
        if self.stale and (number % 2 or not self.owned):
            assert not self.lists.recycle(self.stale.pop())
        else:
            assert self.lists.recycle(self.owned.pop(number % len(self.owned)))

    @precondition(lambda self: self.owned)
    @rule(number=st.integers(0, 9), moves=st.booleans())
    def issue(self, number: int, moves: bool) -> None:
        """Blocks are given to a task, if there is room and no reset is under way."""
        source = self.owned[number % len(self.owned)]
        others = [lease for lease in self.owned if lease is not source]
        to = others[0] if others and moves else None
        wanted = CommTimeoutError if self.is_open() else TransferCancelledError
        try:
            swap = self.client.issue("task", "swap", source, to)
        except wanted:
            return
        swap.add_done_callback(self.called.append)
        self.swaps.append(swap)
        self.written[swap.number or 0] = set((to or source).ids)
        self.owned = [lease for lease in self.owned if lease not in (source, to)]

    @precondition(lambda self: self.owned and self.is_open())
    @rule(number=st.integers(0, 9))
    def issue_without_room(self, number: int) -> None:
        """The queue is full."""
        source = self.owned[number % len(self.owned)]
        self.port.capacity = 0
        with contextlib.suppress(CommTimeoutError):
            self.client.issue("task", "swap", source)
            raise AssertionError("there was no room")
        self.port.capacity = _ROOM

    @rule(outcome=st.sampled_from(("ok", "ok", "failed", "done")))
    def work(self, outcome: Any) -> None:
        """The ranks do a task; seldom its result is nonsense."""
        number = self.port.pull()
        if number is not None:
            self.port.finish(number, outcome)
            self.settle()

    @rule()
    def work_slowly(self) -> None:
        """The ranks take a task."""
        self.port.pull()

    @precondition(lambda self: self.port.running)
    @rule(outcome=st.sampled_from(("ok", "failed")))
    def finish(self, outcome: Any) -> None:
        """A task that runs ends."""
        self.port.finish(self.port.running[0], outcome)
        self.settle()

    @rule(handled=st.sampled_from((True, True, False)), ends=st.booleans())
    def overrun(self, handled: bool, ends: bool) -> None:
        """A task fails, and ranks are at it still; if not ``handled``, they end before anybody is told."""
        number = self.port.running[0] if self.port.running else self.port.pull()
        if number is None:
            return
        if handled:
            self.late[number] = self.written[number]
            self.port.overrun(number)
        else:
            with self.lists._changed:  # nothing is handled meanwhile
                self.port.overrun(number)
                self.port.quiet(number)
        self.settle()
        if handled and ends:
            self.every_block_is_in_one_place()
            self.quiet()

    @precondition(lambda self: self.late)
    @rule()
    def quiet(self) -> None:
        """The ranks that were at a late task have ended."""
        number = next(iter(self.late))
        del self.late[number]
        self.port.quiet(number)
        self.settle()

    @precondition(lambda self: self.port.handed)
    @rule(number=st.integers(1, 9), luck=st.integers(1, 4))
    def settled_once_more(self, number: int, luck: int) -> None:
        """Seldom the port says of a task that is not late that it has settled."""
        if luck == 2 and number not in self.late:
            unknown = self.client.statistics().unknown
            self.port.post(TransferSettled(number))
            until(lambda: self.client.statistics().unknown == unknown + 1)

    @rule()
    def withdraw(self) -> None:
        """Somebody clears the queue."""
        self.port.withdraw()
        self.settle()

    @precondition(lambda self: self.swaps)
    @rule(number=st.integers(0, 9))
    def cancel(self, number: int) -> None:
        """Somebody gives up."""
        swap = self.swaps[number % len(self.swaps)]
        assert swap.cancel() != swap.done() or swap.lease is None

    @precondition(lambda self: self.resetting is None)
    @rule(luck=st.integers(1, 6))
    def reset(self, luck: int) -> None:
        """A reset begins, not too often; it waits for what runs."""
        if luck != 3:
            return
        self.resetting = Background(lambda: self.client.reset(timeout=_LIMIT_S))
        until(lambda: self.lists.statistics().phase != "open" or not self.still_resetting())
        self.settle()

    def is_heard(self) -> bool:
        """Return True when the client has handled every settlement."""
        found = self.client.statistics()
        return not self.port.posted and found.settled + found.unknown == len(self.port.settled)

    def still_resetting(self) -> bool:
        """Return True while the reset waits."""
        return self.resetting is not None and self.resetting.is_running()

    def settle(self) -> None:
        """Wait until every result is handled, and the reset is over if nothing runs."""
        until(lambda: self.port.outstanding() == len(self.port.queued) + len(self.port.running))
        until(self.is_heard)
        if self.resetting is not None and not self.port.running and not self.late:
            assert self.resetting.value() == self.lists.generation
            self.resetting = None
            self.stale += self.owned
            self.owned = []
        for swap in [swap for swap in self.swaps if swap.done()]:
            self.swaps.remove(swap)
            self.ended += 1
            if swap.lease is not None and swap.lease.generation == self.lists.generation:
                self.owned.append(swap.lease)

    @invariant()
    def every_block_is_in_one_place(self) -> None:
        self.lists.check()
        until(lambda: len(self.called) >= self.ended)
        mine = [block for lease in self.owned for block in lease.ids]
        assert len(mine) == len(set(mine)), f"two have one block: {self.owned}"
        written = set().union(*self.late.values())
        free = set(self.lists._core.free_ids())
        assert not written & {*mine, *free}, f"ranks write to {written}, somebody has {mine}, and free are {free}"
        found = self.lists.statistics()
        assert found.device_free + found.host_free + found.leased + found.in_flight == 7
        assert found.late == len(written)
        if self.is_open():
            assert found.leased == len(mine), f"{found}, and owned is {self.owned}"

    def teardown(self) -> None:
        if len(self.memory.events) % 2:
            self.port.lose(HostLostError("the host has ended"))
            until(lambda: self.lists.statistics().phase == "lost")
        self.client.close(timeout=_LIMIT_S)
        assert not self.client._thread.is_alive()
        if self.resetting is not None:
            self.resetting.error()
        assert all(swap.done() for swap in self.swaps)
        self.lists.check()
        self.occurred.update(judged(accept(lines_of(self.memory.events))))


def run_client(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement."""

    class Machine(_ClientMachine):
        pass

    return run_machine(Machine, options)
