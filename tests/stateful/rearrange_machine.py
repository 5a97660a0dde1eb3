"""Long random runs of rearrangements: the core and a real host beside the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fdcomm.core.rearrange import Rearrange as Core
from fdcomm.errors import ConfigError, RearrangeEndedError
from fdcomm.rearrange import RearrangeControl
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import AWAY, LIVE, initial_state
from tests.conformance.host_driver import Channels
from tests.conformance.rearrange_core import Driver, address_of, difference, free, probes, result_of
from tests.conformance.waiting import Background, until
from tests.stateful.beside import chosen, possible, run_machine, run_over_channels, see_refused, step_to

__all__ = ("run_core", "run_host")

# What brings a request to its end, in this order.
_FORWARD: tuple[str, ...] = (
    "Updated",
    "Arrive",
    "Update",
    "DeclareLoaded",
    "ReportOk",
    "TakeLoad",
    "PeerReady",
    "BeginLoad",
    "Take",
)
_FORWARD += ("Join", "Request", "RefuseReport", "Free")
# What ends a request, or a wait; the last two are a matter of time.
_ENDS = ("CallOff", "PeerFailed", "ReportFailed", "RefuseReport", "Free", "Withdraw", "EndTimeout")


class _Forward(RuleBasedStateMachine):
    """What brings a request to its end. ``take`` is what a step of the model is to the system under test."""

    model: Rearrange
    state: State

    def take(self, action: Action, after: State) -> None:
        """Take a step of the model."""
        raise NotImplementedError

    @rule(count=st.integers(1, 12))
    def further(self, count: int) -> None:
        """Some steps that bring a request to its end."""
        for _ in range(count):
            self.forward()

    def forward(self) -> None:
        """The next step of a request's way, if there is one."""
        found = next((step for name in _FORWARD for step in self.model.actions[name](self.state)), None)
        if found is not None:
            self.take(*found)


class _CoreMachine(_Forward):
    """The core against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Callable[[int], Core]

    @initialize(n=st.integers(1, 3), peers=st.integers(0, 2), movers=st.frozensets(st.integers(0, 6)))
    def start(self, n: int, peers: int, movers: frozenset[int]) -> None:
        everybody = frozenset(range(2 * n + 1))
        config = Config(n, peers, 1000, movers & everybody, frozenset(range(n)), frozenset(range(1, peers + 1)))
        self.model, self.anything = Rearrange(config), free(config)
        (self.state,) = self.model.initial()
        self.driver = Driver(config, type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible; those that bring a request further more often."""
        names = possible(self.model, self.state)
        ends = ("EndTimeout", "CallOff", "PeerFailed", "ReportFailed", "Crash", "Leave", "Withdraw", "Fence")
        usual = [name for name in names if name not in ends] or names
        more = ["Withdraw"] * 3 if "Withdraw" in names else []
        self.take(*chosen(data, self.model, self.state, [*names, *usual, *more]))

    @rule(name=st.sampled_from(_ENDS))
    def end(self, name: str) -> None:
        """A step that few runs would choose, as soon as it is possible."""
        for _ in range(30):
            early = name == "RefuseReport" and any(self.state.job) and self.state.phase == "DOING"
            steps = self.model.actions["EndTimeout" if early else name](self.state)
            wanted = next(iter(steps), None)
            if wanted is not None:
                self.take(*wanted)
            else:
                self.forward()
            if wanted is not None and not early:
                break

    def take(self, action: Action, after: State) -> None:
        """Take a step of the model."""
        result = self.driver.step(action)
        assert result == result_of(action, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 80))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver.core, self.state, self.anything))
        see_refused(calls, number)

    @invariant()
    def same_state(self) -> None:
        if hasattr(self, "driver"):
            found = self.driver.state()
            wanted = self.state._replace(outcome=self.state.outcome[-self.driver.core.kept :])
            found = found._replace(outcome=found.outcome[-self.driver.core.kept :])
            assert found == wanted, difference(wanted, found)


def run_core(options: settings, make: Callable[[int], Core] = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _HostMachine(_Forward):
    """Rearrangements of a real host, by handles; two ranks, one address; the rules are the model's steps."""

    channels: Channels

    def __init__(self) -> None:
        super().__init__()
        self.replica = self.channels.take()
        self.requester = self.open(0)
        everybody = frozenset(range(5))
        both = frozenset({0, 1})
        config = Config(2, 1, 1000, everybody, both, frozenset({1}))
        self.model = Rearrange(config)
        self.state = initial_state(config)
        self.handles: dict[int, RearrangeControl] = {}
        self.waiting: dict[int, Background] = {}

    def open(self, rank: int) -> RearrangeControl:
        address = ("0.0.0.0", self.channels.server.get_server_port())
        return RearrangeControl(address, num_client=2, client_id=rank, local_data_parallel_id=self.replica)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the steps that can be made by a call, and are no matter of time."""
        steps = [
            (action, after)
            for action, after in self.model.steps(self.state)
            if action.name not in ("Crash", "Fence", "Withdraw", "EndTimeout")
            and not (action.name == "Free" and self.state.status[4] != LIVE)
        ]
        names = sorted({action.name for action, _ in steps})
        name = data.draw(st.sampled_from(names), label="action")
        self.take(*data.draw(st.sampled_from([step for step in steps if step[0].name == name]), label="step"))

    @rule(name=st.sampled_from(_ENDS[:-2]))
    def end(self, name: str) -> None:
        """A step that few runs would choose, as soon as it is possible."""
        for _ in range(30):
            early = name == "RefuseReport" and any(self.state.job) and self.state.phase == "DOING"
            wanted = next(iter(self.model.actions["CallOff" if early else name](self.state)), None)
            if wanted is not None and (name != "Free" or self.state.status[4] == LIVE):
                self.take(*wanted)
                if not early:
                    break
            else:
                self.forward()

    def take(self, action: Action, after: State) -> None:
        """Take a step of the model."""
        self.make(action)
        self.state = after
        event(action.name)
        self.settle()

    @rule(party=st.integers(0, 4))
    def crash(self, party: int) -> None:
        """The connection of a party is lost."""
        if self.state.status[party] != LIVE:
            return
        self.handles.pop(party)._release(goodbye=False)  # as the end of its process does
        until(lambda: party not in self.requester.status().parties, "the fence")
        for name in ("Crash", "Fence"):
            after = step_to(self.model, self.state, Action(name, (("party", party),)))
            assert after is not None
            self.state = after
        self.settle()

    def make(self, action: Action) -> None:
        """Make the call of a step."""
        name, number = action.name, self.state.running
        value = action.params[0][1] if action.params else 0
        if name == "Join":
            self.handles[value] = self.open(value % 2 if value < 4 else 0)
            self.claim(value)
        elif name == "Leave":
            self.handles.pop(value).close()
        elif name == "Request":
            assert self.requester.request([address_of(1)]) == number + 1
        elif name == "Update":
            assert self.requester.update(number)
        elif name == "Arrive":
            handle = self.handles[2 + value]
            self.waiting[value] = Background(lambda: handle.take_update(60))
            last = [w for r, w in enumerate(self.state.worker) if r != value] == ["here"]
            wanted = "swap" if last else "here"
            until(lambda: self.requester.status().worker[value] == wanted, "the arrival")
        elif name == "Updated":
            self.handles[2 + value].updated(number)
        elif name == "TakeLoad":
            assert self.handles[value].take_load() == (number, number)
        elif name in ("ReportOk", "ReportFailed"):
            self.handles[value].report(number, name == "ReportOk", "no file")
        elif name == "RefuseReport":
            with pytest.raises(RearrangeEndedError):
                self.handles[value].report(self.state.job[value])
        else:
            self.coordinate(name, number)

    def coordinate(self, name: str, number: int) -> None:
        """Make a call of the coordinator."""
        coordinator = self.handles[4]
        if name == "Take":
            assert coordinator.take() == (number, (address_of(1),))
        elif name == "BeginLoad":
            coordinator.begin_load(number, number)
        elif name == "PeerReady":
            coordinator.peer_ready(number, address_of(1))
        elif name == "PeerFailed":
            coordinator.peer_failed(number, address_of(1), "silence")
        elif name == "DeclareLoaded":
            coordinator.declare_loaded(number)
        elif name == "CallOff":
            coordinator.call_off(number, "no")
        else:
            assert coordinator.free()

    def claim(self, party: int) -> None:
        """Become a party by a call that does nothing else."""
        handle = self.handles[party]
        call = handle.updated if 2 <= party < 4 else handle.report if party < 2 else handle.declare_loaded
        with pytest.raises(ConfigError):
            call(9999)

    def settle(self) -> None:
        """Workers whose wait is over have been told what has come of it."""
        for rank, call in list(self.waiting.items()):
            if self.state.worker[rank] == "here":
                continue
            del self.waiting[rank]
            if self.state.worker[rank] == "swap":
                assert call.value() == self.state.running
            else:
                assert call.error() is not None

    @invariant()
    def same_state(self) -> None:
        seen, state = self.requester.status(), self.state
        assert (seen.phase, seen.request) == (state.phase, state.running)
        assert (seen.load, seen.worker) == (state.load, state.worker)
        assert seen.parties == tuple(party for party, status in enumerate(state.status) if status != AWAY)
        assert (seen.outcome.what if seen.outcome else "open") == (state.outcome[-1] if state.outcome else "open")

    def teardown(self) -> None:
        for handle in (self.requester, *self.handles.values()):
            handle.close()
        for call in self.waiting.values():
            call.error()


def run_host(options: settings) -> Counter[str]:
    """Run the machine over one host; return how often each action was recorded, after the model's judgement."""

    class Machine(_HostMachine):
        pass

    return run_over_channels(Machine, options, "rearrange")
