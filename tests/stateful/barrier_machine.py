"""Long random runs of barriers beside the model: the core, and a real host with handles and waiting threads."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fdcomm import EngineCacheQueue
from fdcomm.barrier import RankBarrier
from fdcomm.core.barrier import BarrierGroup
from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    ClosedError,
    CommTimeoutError,
    FencedError,
    PeerLostError,
    ProtocolViolationError,
)
from models.barrier import Barrier, Config, State
from models.barrier_state import LOST, UNSAID
from models.barrier_trace import accept_file
from models.kernel import Action
from tests.conformance.barrier_core import BarrierDriver, difference, endings, label_of, probes, refused
from tests.conformance.waiting import Background, until

__all__ = ("run_core", "run_host")

MOST_RANKS, BARRIERS = 3, 2
_LONG_S = 60.0
WAITS = ("Arrive", "Pass", "Mismatch", "Refuse")
ranks = st.integers(0, MOST_RANKS - 1)
places = st.integers(0, BARRIERS - 1)
labels = st.sampled_from([0, 0, 0, 1])
rounds = st.sampled_from([None, None, None, 0, 0, -1, 1])


def unbounded(count: int) -> Barrier:
    """Return the model in which everything may happen, for ever."""
    everybody = frozenset(range(count))
    return Barrier(
        Config(
            ranks=count,
            barriers=BARRIERS,
            labels=2,
            max_rounds=None,
            max_aborts=None,
            named=True,
            leavers=everybody,
            mortal=everybody,
        )
    )


def when(name: str) -> Callable[[Any], bool]:
    """Return the precondition of an action's rule."""
    return lambda machine: any(True for _ in machine.model.actions[name](machine.state))


class Rules(RuleBasedStateMachine):
    """What a rank, an engine and the environment do. ``act`` is what that is to the system under test."""

    occurred: Counter[str]
    model: Barrier
    state: State

    def act(self, action: Action, after: State) -> None:
        """Take an action that the model allows."""
        raise NotImplementedError

    def take(self, name: str, **params: int) -> bool:
        """Take the action if the model allows it now."""
        action = Action(name, tuple(params.items()))
        after = next((to for step, to in self.model.actions[name](self.state) if step == action), None)
        if after is None:
            return False
        self.act(action, after)
        self.state = after
        event(name)
        self.occurred[name] += 1
        return True

    @precondition(when("Join"))
    @rule(rank=ranks)
    def join(self, rank: int) -> None:
        self.take("Join", rank=rank)

    @precondition(when("Leave"))
    @rule(rank=ranks)
    def leave(self, rank: int) -> None:
        self.take("Leave", rank=rank)

    @precondition(when("Crash"))
    @rule(rank=ranks)
    def crash(self, rank: int) -> None:
        self.take("Crash", rank=rank)

    @precondition(when("Fence"))
    @rule(rank=ranks)
    def fence(self, rank: int) -> None:
        self.take("Fence", rank=rank)

    @precondition(when("Timeout"))
    @rule(rank=ranks)
    def timeout(self, rank: int) -> None:
        self.take("Timeout", rank=rank)

    @precondition(when("Abort"))
    @rule(place=places)
    def abort(self, place: int) -> None:
        self.take("Abort", barrier=place)

    @precondition(when("Reset"))
    @rule(place=places)
    def reset(self, place: int) -> None:
        self.take("Reset", barrier=place, abort=self.state.aborts[place])

    @rule(rank=ranks, place=places, label=labels, ahead=rounds)
    def wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        """Arrive, Pass, Mismatch or Refuse: the model says which."""
        if rank < len(self.state.status):
            self._wait(rank, place, label, ahead)

    def _wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        number = UNSAID if ahead is None else max(0, self.state.generation[place] + ahead)
        for name in WAITS[:3]:
            if self.take(name, rank=rank, barrier=place, label=label, round=number):
                return
        self.take("Refuse", rank=rank, barrier=place, round=number)

    @rule(place=places, order=st.permutations(range(MOST_RANKS)), giving_up=st.booleans())
    def meet(self, place: int, order: list[int], giving_up: bool) -> None:
        """What barriers are for: without it, random waits seldom get as far as a pass."""
        for number, rank in enumerate(rank for rank in order if rank < len(self.state.status)):
            self.take("Join", rank=rank)
            self._wait(rank, place, 0, None)
            if giving_up and number == 1:
                self.take("Timeout", rank=order[0])
        if giving_up:
            self._wait(order[0] if order[0] < len(self.state.status) else 0, place, 0, None)


class CoreMachine(Rules):
    """The core against the unbounded model."""

    make: Callable[[tuple[str, ...], int], BarrierGroup] = BarrierGroup

    @initialize(count=st.integers(2, MOST_RANKS), here=st.sampled_from([MOST_RANKS, MOST_RANKS, 1]))
    def start(self, count: int, here: int) -> None:
        self.model = unbounded(count)
        (self.state,) = self.model.initial()
        self.driver = BarrierDriver(self.model.config, type(self).make)
        for rank in range(min(count, here)):
            self.join(rank)

    def act(self, action: Action, after: State) -> None:
        done, ended = self.driver.step(action)
        wanted = endings(action, self.state, after)
        assert (done, ended) == (action.name, wanted), f"{action} was {done} and ended {ended} instead of {wanted}"

    @rule(number=st.integers(0, 30))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver.core, self.state))
        assert refused(calls[number % len(calls)]) == ""

    @invariant()
    def same_state(self) -> None:
        if hasattr(self, "driver"):
            found = self.driver.state()
            assert found == self.state, difference(self.state, found)
            assert [name for name, holds in self.model.invariants.items() if not holds(found)] == []


def run_core(options: settings, make: Callable[[tuple[str, ...], int], BarrierGroup] = BarrierGroup) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(CoreMachine):
        pass

    Machine.make = staticmethod(make)
    Machine.occurred = Counter()
    run_state_machine_as_test(Machine, settings=options)  # type: ignore[no-untyped-call, unused-ignore]
    return Machine.occurred


# -- a real host -------------------------------------------------------------------------------------------------------

NAMES = ("swap_to_cpu_barrier1", "swap_to_cpu_barrier2")
COUNT = 2


class Host:
    """A host with a replica for each example."""

    def __init__(self, replicas: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-barriers-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        self._next = 0
        self.server = EngineCacheQueue(
            ("0.0.0.0", 0), is_server=True, num_client=COUNT, local_data_parallel_size=replicas, trace=self.trace
        )

    def replica(self) -> int:
        """Return a fresh one."""
        self._next += 1
        return self._next

    def client(self, dp: int, rank: int) -> EngineCacheQueue:
        """Open a handle."""
        return EngineCacheQueue(
            ("0.0.0.0", self.server.get_server_port()), num_client=COUNT, client_id=rank, local_data_parallel_id=dp
        )

    def judge(self) -> Counter[str]:
        """Have the model judge all that was recorded; return how often each action occurred."""
        counts: Counter[str] = Counter()
        for verdict in accept_file(str(self.trace)):
            if not verdict.accepted:
                raise AssertionError(str(verdict))
            counts.update(verdict.counts)
        return counts

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


class HostMachine(Rules):
    """A group of barriers of a real host against the unbounded model.

    What a host does in one call is one step here: a rank joins by its first wait, a crash brings its fence, and a
    wait without time to wait arrives and gives up.
    """

    host: Host

    @initialize()
    def start(self) -> None:
        self.model = unbounded(COUNT)
        (self.state,) = self.model.initial()
        self.dp = type(self).host.replica()
        self.engine = type(self).host.client(self.dp, 0)
        self.handles: dict[int, EngineCacheQueue] = {}
        self.waiting: dict[int, Background] = {}
        self.limit = _LONG_S

    def join(self, rank: int) -> None:
        """Not by itself."""

    def fence(self, rank: int) -> None:
        """Not by itself."""

    @rule(rank=ranks)
    def timeout(self, rank: int) -> None:
        """A wait that gives up at once, if it has to wait."""
        if rank < COUNT and rank not in self.waiting:
            self.limit = 0.0
            self._wait(rank, 0, 0, None)
            self.limit = _LONG_S

    def _wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        if rank in self.waiting:
            with pytest.raises(ProtocolViolationError):
                self._barrier(self.handles[rank], place).wait(0)
            return
        if rank not in self.handles:
            self.handles[rank] = type(self).host.client(self.dp, rank)
            self.take("Join", rank=rank)
        super()._wait(rank, place, label, ahead)
        if self.limit == 0.0:
            self.take("Timeout", rank=rank)

    def act(self, action: Action, after: State) -> None:
        name, rank, place = action.name, action.param("rank") or 0, action.param("barrier") or 0
        ended = endings(action, self.state, after)
        own = ended.pop(rank, None) if name in WAITS else None
        if name == "Leave":
            self.handles.pop(rank).close()
            if rank in self.waiting:
                assert isinstance(self.waiting.pop(rank).error(), (FencedError, ClosedError))
        elif name == "Crash":
            self.handles.pop(rank)._release(goodbye=False)
            if rank in self.waiting:
                assert self.waiting.pop(rank).error() is not None
        elif name == "Fence":
            until(lambda: self._barrier(self.engine, 0)._view()["lost"] == _lost(after), "the fence")
        elif name == "Abort":
            self._barrier(self.engine, place).abort()
        elif name == "Reset":
            self._barrier(self.engine, place).reset()
        elif name in WAITS:
            self._call(action, rank, place, own)
        for who, ending in ended.items():
            _told(self.waiting.pop(who), ending)
        if name not in ("Join", "Crash", "Timeout") and self.limit:
            self._compare(after)

    def take(self, name: str, **params: int) -> bool:
        if name == "Timeout" and self.limit:
            return False  # who waits has time
        done = super().take(name, **params)
        if done and name == "Crash":
            super().take("Fence", **params)
        return done

    def _call(self, action: Action, rank: int, place: int, own: tuple[str, object] | None) -> None:
        number = action.param("round")
        said = None if number == UNSAID else number
        barrier, label = self._barrier(self.handles[rank], place), label_of(action.param("label") or 0)
        limit = self.limit
        call = Background(lambda: barrier.wait(limit, label=label, generation=said))
        if own is not None:
            _told(call, own)
        elif limit == 0.0:
            assert isinstance(call.error(), CommTimeoutError)
        else:
            self.waiting[rank] = call
            seen = self._barrier(self.engine, place)
            until(lambda: rank not in seen.missing, str(action))

    def _compare(self, state: State) -> None:
        for place in range(BARRIERS):
            view = self._barrier(self.engine, place)._view()
            there = {a.rank for a in state.arrived[place]}
            wanted = (state.generation[place], state.broken[place], len(there), COUNT)
            assert (view["generation"], view["broken"], view["n_waiting"], view["parties"]) == wanted
            assert set(view["missing"]) == set(range(COUNT)) - there

    @staticmethod
    def _barrier(queue: EngineCacheQueue, place: int) -> RankBarrier:
        barrier: RankBarrier = getattr(queue, NAMES[place])
        return barrier

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            for handle in (*self.handles.values(), self.engine):
                handle.close()
            for call in self.waiting.values():
                call.error()


_ERROR = {
    "lost": PeerLostError,
    "mismatch": BarrierMismatchError,
    "broken": BarrierBrokenError,
    "over": BarrierMismatchError,
}


def _told(call: Background, ending: tuple[str, object]) -> None:
    error = call.error()
    outcome, beside = ending
    if outcome == "passed":
        assert error is None, f"a wait that passed raised {error!r}"
        assert isinstance(beside, tuple)
        assert call.value() == beside[1]
        return
    assert type(error) is _ERROR[outcome], f"{error!r} instead of {outcome}"
    if outcome == "lost":
        assert error.missing == beside


def _lost(state: State) -> list[int]:
    return [rank for rank, status in enumerate(state.status) if status == LOST]


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record."""
    host = Host(replicas=50 + 6 * options.max_examples)  # invalid examples use one too
    try:

        class Machine(HostMachine):
            pass

        Machine.host = host
        Machine.occurred = Counter()
        run_state_machine_as_test(Machine, settings=options)  # type: ignore[no-untyped-call, unused-ignore]
        return host.judge()
    finally:
        host.close()
