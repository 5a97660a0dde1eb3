"""What the machines of all protocols share: their run, steps of the model beside the code, and a host's record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from fdcomm.errors import FdcommError
from models.acceptance import Verdict
from models.dispatch_trace import accept_file
from models.kernel import Action, Model, Step
from tests.conformance.host_driver import Channels
from tests.stateful.rounds import ROUND_SEED

__all__ = (
    "TakesSteps",
    "chosen",
    "judged",
    "possible",
    "run_machine",
    "run_over_channels",
    "see_refused",
    "step_to",
    "when",
)

S = TypeVar("S", bound=tuple[Any, ...])
_CHANNELS = 600


def when(name: str) -> Callable[[Any], bool]:
    """Return the precondition of an action's rule: the model allows it with some argument."""
    return lambda machine: any(True for _ in machine.model.actions[name](machine.state))


def possible(model: Model[S], state: S) -> list[str]:
    """Return the names of the actions that the model allows."""
    return [name for name, steps in model.actions.items() if any(True for _ in steps(state))]


def chosen(data: st.DataObject, model: Model[S], state: S, names: Sequence[str]) -> Step[S]:
    """Draw one of the names, then one of the model's steps of this name."""
    name = data.draw(st.sampled_from(names), label="action")
    choices = list(model.actions[name](state))
    return choices[data.draw(st.integers(0, len(choices) - 1), label="which")]


def step_to(model: Model[S], state: S, action: Action) -> S | None:
    """Return the state after the action, or None where the model does not allow it."""
    return next((after for step, after in model.actions[action.name](state) if step == action), None)


class TakesSteps(RuleBasedStateMachine):
    """A machine that has a model, and the state in which that is."""

    model: Any
    state: Any

    def take(self, name: str, **params: int) -> bool:
        """Take a step of the model, if it is enabled."""
        after = step_to(self.model, self.state, Action(name, tuple(params.items())))
        if after is None:
            return False
        self.state = after
        return True


def see_refused(
    calls: Sequence[tuple[str, Callable[[], object], object]], number: int, error: type[FdcommError] = FdcommError
) -> None:
    """Make one of the calls that are not possible now: it is refused, or it answers as it should."""
    label, call, answer = calls[number % len(calls)]
    try:
        found: tuple[object] | None = (call(),)
    except error:
        found = None
    assert found == answer, f"{label}: {found} instead of {answer}"


def run_machine(machine: type[RuleBasedStateMachine], options: settings) -> Counter[str]:
    """Run the machine; return what it has counted.

    ``machine`` is a class of the caller's own: its attributes are set here. A round's seed says which examples there
    are. Without one, where the settings fix the examples, Hypothesis derives them from the text of the class statement.
    """
    number = ROUND_SEED.get()
    if number is not None:
        machine = seed(number)(machine)
    occurred: Counter[str] = Counter()
    machine.occurred = occurred
    run_state_machine_as_test(machine, settings=options)  # type: ignore[no-untyped-call, unused-ignore]  # typed in newer ones
    return occurred


def run_over_channels(machine: type[RuleBasedStateMachine], options: settings, protocol: str) -> Counter[str]:
    """Run the machine over one host for two ranks; return how often each action was recorded, after the judgement."""
    channels = Channels(2, 1, _CHANNELS)
    try:
        machine.channels = channels
        run_machine(machine, options)
        return judged(accept_file(str(channels.trace), only=(protocol,)))
    finally:
        channels.close()


def judged(verdicts: Iterable[Verdict]) -> Counter[str]:
    """Return how often each action was recorded, where the model has accepted every run."""
    counts: Counter[str] = Counter()
    for verdict in verdicts:
        assert verdict.accepted, str(verdict)
        counts.update(verdict.counts)
    return counts
