"""Long random runs of the core beside the model: same label, same state, same answer; or refused and unchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from fdcomm.core.dispatch import Dispatch as Core
from models.dispatch import Dispatch
from models.dispatch_state import Config
from models.kernel import Action
from tests.conformance.core_driver import CoreDriver, expected_result, probes, refused
from tests.conformance.plans import unbounded
from tests.stateful.beside import run_machine, step_to
from tests.stateful.core_beside import ClaimsHold
from tests.stateful.rules import MOST_PRODUCERS, MOST_RANKS, ActionRules, producers, ranks, when

__all__ = ("CoreMachine", "run_core")

positions = st.integers(0, 2)


class CoreMachine(ActionRules, ClaimsHold):
    """The core against the unbounded model."""

    make: Callable[[int, int], Core[str]] = Core[str]

    @initialize(n=st.integers(2, MOST_RANKS), depth=st.integers(1, 3), readers=st.sampled_from([MOST_RANKS, 1, 0]))
    def start(self, n: int, depth: int, readers: int) -> None:
        self.model: Dispatch = unbounded(Config(ranks=n, producers=MOST_PRODUCERS, depth=depth))
        (self.state,) = self.model.initial()
        self.driver = CoreDriver(n, MOST_PRODUCERS, depth, type(self).make)
        for rank in range(min(n, readers)):
            self.join(rank)

    def possible(self, name: str) -> bool:
        return any(True for _ in self.model.actions[name](self.state))

    def act(self, action: Action) -> None:
        model, state, driver = self.model, self.state, self.driver
        after = step_to(model, state, action)
        if after is not None:
            result = driver.step(action)
            assert result == expected_result(action, state, after), f"{action} returned {result!r}"
            self.state = after
            self.count(action)

    @precondition(when("Fence"))
    @rule(rank=ranks)
    def fence(self, rank: int) -> None:
        self.act(Action("Fence", (("rank", rank),)))

    @precondition(when("FenceProducer"))
    @rule(producer=producers)
    def fence_producer(self, producer: int) -> None:
        self.act(Action("FenceProducer", (("producer", producer),)))

    @precondition(when("CallPut"))
    @rule(producer=producers)
    def call_put(self, producer: int) -> None:
        self.act(Action("CallPut", (("producer", producer), ("id", self.state.calls + 1))))

    @precondition(when("PutTasks"))
    @rule(position=positions)
    def put_tasks(self, position: int) -> None:
        self._answer("PutTasks", position)

    @precondition(when("PutLost"))
    @rule(position=positions)
    def put_lost(self, position: int) -> None:
        self._answer("PutLost", position)

    @precondition(when("PutTimeout"))
    @rule(position=positions)
    def put_timeout(self, position: int) -> None:
        self._answer("PutTimeout", position)

    def put(self, producer: int) -> None:
        self.call_put(producer)
        if self.possible("PutTasks"):
            self.put_tasks(0)

    def _answer(self, name: str, position: int) -> None:
        call = self.state.waiting[min(position, len(self.state.waiting) - 1)]
        self.act(Action(name, (("producer", call.producer), ("id", call.id))))

    @rule(number=st.integers(0, 30))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        enabled = {action for action, _ in self.model.steps(self.state)}
        calls = list(probes(self.driver.core, self.state, enabled))
        if calls:
            assert refused(calls[number % len(calls)]) == ""


def run_core(options: settings, make: Callable[[int, int], Core[str]] = Core[str]) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)
