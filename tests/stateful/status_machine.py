"""Long random runs of the status core beside the model."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from fdcomm.core.status import Status as Core
from models.kernel import Action
from models.status import State
from tests.conformance.status_core import Make, StatusDriver, difference, name_of, probes, refused
from tests.stateful.beside import run_machine
from tests.stateful.core_beside import ClaimsHold
from tests.stateful.status_rules import FOLLOWS, Rules, unbounded

__all__ = ("run_core",)


class CoreMachine(Rules, ClaimsHold):
    """The core against the unbounded model."""

    make: Make = Core

    @initialize(here=st.booleans())
    def start(self, here: bool) -> None:
        self.model = unbounded()
        (self.state,) = self.model.initial()
        self.driver = StatusDriver(self.model.config, type(self).make)
        if here:
            for component, part in self.model.everyone:
                self.join(component, part)

    def act(self, action: Action, after: State) -> None:
        self.driver.step(action)
        assert self.driver.state() == after, difference(after, self.driver.state())

    def follow(self) -> None:
        while True:
            due = {step: to for name in FOLLOWS for step, to in self.model.actions[name](self.state)}
            taken = self.driver.core.advance()
            if taken is None:
                assert not due, f"nothing follows where {', '.join(map(str, due))} is due"
                return
            name, component = taken
            step = next(
                (s for s in due if s.name == name and component in ("", name_of(s.param("component") or 0))), None
            )
            assert step is not None, f"{name} {component} followed where {', '.join(map(str, due))} is due"
            self.went(step, due[step])

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver, self.state, self.model))
        assert refused(calls[number % len(calls)]) == ""


def run_core(options: settings, make: Make = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)
