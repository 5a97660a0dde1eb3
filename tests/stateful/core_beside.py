"""What the machines of cores share: the state is looked at after every step, and a step is what the model says."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from models.kernel import Action
from tests.conformance.driving import Probe, difference
from tests.stateful.beside import see_refused

__all__ = ("ClaimsHold", "SameState", "Stepped")


class SameState(RuleBasedStateMachine):
    """The driver's core has the model's state. ``start`` makes both."""

    state: Any
    driver: Any

    @invariant()
    def same_state(self) -> None:
        if hasattr(self, "driver"):
            found = self.driver.state()
            assert found == self.state, difference(self.state, found)


class ClaimsHold(SameState):
    """And the model's invariants hold in it."""

    model: Any

    @invariant()
    def claims_hold(self) -> None:
        if hasattr(self, "driver"):
            for name, holds in self.model.invariants.items():
                assert holds(self.state), name


class Stepped(ClaimsHold):
    """And it does what the model says: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]

    def answer(self, action: Action, after: Any) -> object:
        """Return what the core has to answer to a step of the model."""
        raise NotImplementedError

    def impossible(self) -> list[Probe]:
        """Return the calls that are not possible now."""
        raise NotImplementedError

    def step(self, action: Action, after: Any) -> None:
        """Take a step of the model."""
        result, expected = self.driver.step(action), self.answer(action, after)
        assert result == expected, f"{action} returned {result!r} instead of {expected!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        see_refused(self.impossible(), number)
