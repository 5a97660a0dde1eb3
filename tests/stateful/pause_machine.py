"""Long random runs of the pause protocol's cores beside the model."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from fdcomm.core.pause import Pause as Core
from fdcomm.core.rank_gate import RankGate
from fdcomm.errors import ProtocolViolationError
from models.pause import Config, Pause
from tests.conformance.pause_core import MakeCore, MakeGate, PauseDriver, expected, probes
from tests.stateful.beside import chosen, possible, run_machine, see_refused
from tests.stateful.core_beside import SameState

__all__ = ("run_core",)

_MOST = 3


class _CoreMachine(SameState):
    """The cores against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: ClassVar[Counter[str]]
    make: ClassVar[tuple[MakeCore, MakeGate]]

    @initialize(n=st.integers(1, _MOST), clients=st.integers(1, _MOST), jobs=st.integers(1, _MOST))
    def start(self, n: int, clients: int, jobs: int) -> None:
        ranks, callers = frozenset(range(n)), frozenset(range(1, clients + 1))
        config = Config(n, clients, jobs, 1000, frozenset({0, 1, 2}), ranks, ranks, callers)
        self.model = Pause(config)
        (self.state,) = self.model.initial()
        self.driver = PauseDriver(config, *type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible."""
        names = possible(self.model, self.state)
        # Ranks that go at once, and calls that are given up at once, leave little to happen.
        usual = [name for name in names if name not in ("Leave", "Crash", "GiveUp", "CancelPause")]
        jobs = [name for name in names if name in ("Admit", "Park", "Take", "Quiet", "CallPause")]
        action, after = chosen(data, self.model, self.state, [*names, *usual, *(jobs * 4)])
        result = self.driver.step(action, parked=after.parked < self.state.parked)
        assert result == expected(action, self.state, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver, self.state))
        see_refused(calls, number, ProtocolViolationError)


def run_core(options: settings, make: MakeCore = Core, make_gate: MakeGate = RankGate) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = (make, make_gate)
    return run_machine(Machine, options)
