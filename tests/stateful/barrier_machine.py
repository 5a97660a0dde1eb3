"""Long random runs of the barrier core beside the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from fdcomm.core.barrier import BarrierGroup
from models.barrier import State
from models.kernel import Action
from tests.conformance.barrier_core import BarrierDriver, endings, probes, refused
from tests.stateful.barrier_rules import MOST_RANKS, Rules, unbounded
from tests.stateful.beside import run_machine
from tests.stateful.core_beside import ClaimsHold

__all__ = ("run_core",)


class CoreMachine(Rules, ClaimsHold):
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


def run_core(options: settings, make: Callable[[tuple[str, ...], int], BarrierGroup] = BarrierGroup) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)
