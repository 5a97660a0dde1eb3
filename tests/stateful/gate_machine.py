"""Long random runs of the gate: its core and a real host beside the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
)

from fdcomm import EngineWorkerQueue
from fdcomm.core.gate import Gate as Core
from fdcomm.errors import CommTimeoutError, PeerLostError, StaleAnswerError
from models.gate import Config, Gate, State
from models.gate_state import AWAY, LIVE, LOST, initial_state
from tests.conformance.backends import lose
from tests.conformance.gate_core import GateDriver, Payload, free, probes, step_of
from tests.conformance.host_driver import Channels
from tests.conformance.waiting import until
from tests.stateful.beside import TakesSteps, chosen, possible, run_machine, run_over_channels, see_refused
from tests.stateful.core_beside import SameState

__all__ = ("run_core", "run_host")

_MOST = 3
ranks = st.integers(0, _MOST - 1)


class _CoreMachine(SameState):
    """The core against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Callable[[int, int, int], Core[Payload]]

    @initialize(n=st.integers(1, _MOST), capacity=st.integers(1, 3), max_late=st.integers(1, 3), overlap=st.booleans())
    def start(self, n: int, capacity: int, max_late: int, overlap: bool) -> None:
        everyone = frozenset(range(n))
        config = Config(n, 3, capacity, max_late, 1000, overlap, everyone, everyone, everyone, everyone)
        self.model = Gate(config)
        self.anything = free(config)
        (self.state,) = self.model.initial()
        self.driver = GateDriver(config, type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible."""
        names = possible(self.model, self.state)
        # Rounds that end at once, and ranks that go at once, leave little to happen.
        usual = [name for name in names if name not in ("EndTimeout", "Leave", "Skip")]
        action, after = chosen(data, self.model, self.state, [*names, *usual, *usual])
        result = self.driver.step(action)
        assert result == step_of(action, self.state, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver.core, self.state, self.anything))
        see_refused(calls, number)


def run_core(options: settings, make: Callable[[int, int, int], Core[Payload]] = Core[Payload]) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _HostMachine(TakesSteps):
    """A gate of a real host against the model, through handles; any rank answers any key at any time."""

    channels: Channels

    def __init__(self) -> None:
        super().__init__()
        self.replica = self.channels.take()
        self.engine: EngineWorkerQueue = self.channels.client(self.replica, 0, "producer")
        both = frozenset({0, 1})
        self.model = Gate(Config(2, _MOST, 64, 256, max_issues=None, leavers=both, mortal=both, silent=both))
        self.state: State = initial_state(self.model.config)
        self.handles: dict[int, EngineWorkerQueue] = {}
        self.put_so_far = 0
        self.accepted: dict[tuple[int, int], str] = {}

    def take(self, name: str, **params: int) -> bool:
        taken = super().take(name, **params)
        if taken:
            event(name)
        return taken

    @rule(rank=st.integers(0, 1))
    def come(self, rank: int) -> None:
        """A handle of a rank opens."""
        if rank not in self.handles:
            self.handles[rank] = self.channels.client(self.replica, rank, None)
            self.take("Reappear", rank=rank)

    @rule(rank=st.integers(0, 1), key=st.integers(1, _MOST))
    def put(self, rank: int, key: int) -> None:
        """A rank answers, without waiting."""
        self.come(rank)
        if self.state.status[rank] in (AWAY, LOST):
            self.take("Join", rank=rank)
        self.put_so_far += 1
        status = f"{rank}/{self.put_so_far}"
        raised = ""
        all_put = False
        try:
            all_put = self.handles[rank].put_finished_req([[key, status]], timeout=0)
        except (StaleAnswerError, CommTimeoutError) as error:
            raised = type(error).__name__
        if self.take("RefuseLate", rank=rank, key=key):
            assert raised == "StaleAnswerError"
        elif self.take("PutAnswer", rank=rank, key=key):
            complete = any(r.key == key and len(r.answered) == 2 for r in self.state.rounds)
            assert (raised, all_put) == ("", complete)
            self.accepted[rank, key] = status
        else:
            assert raised == "CommTimeoutError"

    def live(self) -> list[int]:
        """Return the ranks that are there."""
        return [rank for rank, status in enumerate(self.state.status) if status == LIVE]

    @precondition(lambda self: self.live())
    @rule(number=st.integers(0, 1))
    def leave(self, number: int) -> None:
        """A rank closes its handle."""
        rank = self.live()[number % len(self.live())]
        self.handles.pop(rank).close()
        assert self.take("Leave", rank=rank)

    @precondition(lambda self: self.live())
    @rule(number=st.integers(0, 1))
    def crash(self, number: int) -> None:
        """The connection of a rank is lost."""
        rank = self.live()[number % len(self.live())]
        lose(self.handles.pop(rank))
        until(lambda: rank in self.view()["lost"], "the fence")
        assert self.take("Crash", rank=rank)
        assert self.take("Fence", rank=rank)

    @precondition(lambda self: self.live())
    @rule(number=st.integers(0, 1), rarely=st.sampled_from((False, False, False, True)))
    def restart(self, number: int, rarely: bool) -> None:
        """The connection of a rank is lost, and its next handle opens before the host may have noticed."""
        rank = self.live()[number % len(self.live())]
        if not rarely:
            return
        lose(self.handles.pop(rank))
        self.handles[rank] = self.channels.client(self.replica, rank, None)
        for name in ("Crash", "Fence", "Reappear"):
            assert self.take(name, rank=rank)

    @rule(rank=st.integers(0, 1), rarely=st.sampled_from((False, False, False, True)))
    def vanish(self, rank: int, rarely: bool) -> None:
        """The connection of a rank is lost that has not answered yet, and has read another channel."""
        if rarely and self.state.status[rank] == AWAY:
            self.come(rank)
            self.handles[rank].get_cache_info()
            lose(self.handles.pop(rank))
            until(lambda: rank in self.view()["lost"], "the loss")
            assert self.take("Vanish", rank=rank)

    @rule(overdue=st.sampled_from((False, False, False, True)))
    def collect(self, overdue: bool) -> None:
        """The engine polls; rounds are overdue at once, or never."""
        before = self.state.rounds
        told: Any = None
        try:
            told = self.engine.get_finished_req(round_timeout=0 if overdue else None)
        except (PeerLostError, CommTimeoutError) as error:
            told = (type(error).__name__, error.request, error.missing)
        if overdue and self.take("EndTimeout"):
            kind = "CommTimeoutError"
        elif self.take("EndLost"):
            kind = "PeerLostError"
        elif self.take("Collect"):
            (gone,) = set(before) - set(self.state.rounds)
            assert told == [[gone.key, self.accepted[0, gone.key]]]
            return
        else:
            assert told == []
            return
        (gone,) = set(before) - set(self.state.rounds)
        assert told == (kind, gone.key, tuple(sorted({0, 1} - gone.answered)))

    def view(self) -> dict[str, Any]:
        """Return what the host says of the gate."""
        return self.engine._view("send_cache", name="view")

    @invariant()
    def same_state(self) -> None:
        view = self.view()
        state = self.state
        assert [(key, list(there)) for key, there in view["rounds"]] == [
            (r.key, sorted(r.answered)) for r in state.rounds
        ]
        assert view["late"] == [len(owed) for owed in state.late]
        assert view["live"] == [rank for rank, status in enumerate(state.status) if status == LIVE]
        assert view["lost"] == [rank for rank, status in enumerate(state.status) if status == LOST]

    def teardown(self) -> None:
        for handle in (self.engine, *self.handles.values()):
            handle.close()


def run_host(options: settings) -> Counter[str]:
    """Run the machine over one host; return how often each action was recorded, after the model's judgement."""

    class Machine(_HostMachine):
        pass

    return run_over_channels(Machine, options, "send_cache")
