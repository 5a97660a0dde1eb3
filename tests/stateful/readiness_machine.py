"""Long random runs of the readiness core beside the model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from fdcomm.core.readiness import Readiness as Core
from models.kernel import Action
from models.readiness import Readiness, State
from models.readiness_trace import shape_of
from tests.conformance.readiness_core import Make, ReadinessDriver, probes, result_of
from tests.stateful.beside import chosen, possible, run_machine, see_refused, step_to
from tests.stateful.core_beside import ClaimsHold

__all__ = ("DECLARED", "run_core", "unbounded")

DECLARED: list[tuple[str, int, tuple[str, ...]]] = [("component 0", 2, ()), ("component 1", 1, ("component 0",))]
_PARTS = (0, 1, 2)
_MOST_OPEN = 2


def unbounded() -> Readiness:
    """Return the model of a component that needs another one, in which everything may happen, for ever."""
    config = shape_of(DECLARED).config
    return Readiness(replace(config, cuts=frozenset(config.there)))


class _CoreMachine(ClaimsHold):
    """The core against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Make
    state: State

    @initialize()
    def start(self) -> None:
        self.model = unbounded()
        (self.state,) = self.model.initial()
        self.driver = ReadinessDriver(self.model.config, type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible."""
        names = possible(self.model, self.state)
        if sum(wait.outcome == "open" for wait in self.state.waits) > _MOST_OPEN:
            names.remove("Wait")
        self._step(*chosen(data, self.model, self.state, names))

    def _step(self, action: Action, after: State) -> None:
        result = self.driver.step(action)
        assert result == result_of(action, self.state, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(part=st.sampled_from(_PARTS), hangs=st.booleans())
    def come_up(self, part: int, hangs: bool) -> None:
        """What parts are for: without it, random steps seldom get so far."""
        self._try(part, "Fence", "Join", "Ready", *(("Age", "Stall", "Beat", "Recover") if hangs else ()))

    @rule(part=st.sampled_from(_PARTS), end=st.sampled_from(("Complete", "GiveUp", "Expire")))
    def replaced(self, part: int, end: str) -> None:
        """A process loses its connection and runs on beside its successor; waits end."""
        self._try(part, "Cut", "Fence", "Join", "Ready", "GhostBeat", "LateWord")
        for action, after in list(self.model.actions[end](self.state))[:1]:
            self._step(action, after)

    @rule(mask=st.sampled_from((1, 2, 3)), patient=st.integers(0, 1))
    def launch(self, mask: int, patient: int) -> None:
        """A client waits, and everything comes up."""
        wait = Action("Wait", (("by", 0), ("mask", mask), ("patient", patient)))
        after = step_to(self.model, self.state, wait)
        assert after is not None
        self._step(wait, after)
        for part in _PARTS:
            self._try(part, "Recover", "Fence", "Join", "Withdraw", "Ready", "Beat")
        for action, then in list(self.model.actions["Complete"](self.state))[:1]:
            self._step(action, then)

    @rule(part=st.sampled_from(_PARTS), patient=st.integers(0, 1), fails=st.booleans())
    def trouble(self, part: int, patient: int, fails: bool) -> None:
        """A client waits for a part that fails, or dies."""
        mask = 1 << self.model.config.component_of(part)
        wait = Action("Wait", (("by", 0), ("mask", mask), ("patient", patient)))
        after = step_to(self.model, self.state, wait)
        assert after is not None
        self._step(wait, after)
        self._try(part, "Join", *(("Fail",) if fails else ("Crash", "Fence")))
        for action, then in list(self.model.actions["GiveUp"](self.state))[:1]:
            self._step(action, then)

    def _try(self, part: int, *names: str) -> None:
        for name in names:
            action = Action(name, (("p", part),))
            after = step_to(self.model, self.state, action)
            if after is not None:
                self._step(action, after)

    @rule(number=st.integers(0, 90))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        see_refused(list(probes(self.driver.core, self.state, self.model)), number)


def run_core(options: settings, make: Make = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)
