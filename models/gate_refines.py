"""The gate seen as the collecting of answers, with the history that the gate forgets (``tla/gate/GateRefines.tla``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from models import answers, gate
from models.kernel import Model, Step

__all__ = ("Remembering", "State", "abstract", "image")


class State(NamedTuple):
    """A state of the gate, and who has ever answered which request."""

    now: gate.State
    given: tuple[frozenset[int], ...]


class Remembering(Model[State]):
    """The gate with history."""

    def __init__(self, model: gate.Gate) -> None:
        self.model = model
        self.name = model.name
        self.actions = {}
        self.invariants = {}
        self.action_properties = {}
        self.sometimes = {}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """No history yet."""
        nobody = (frozenset[int](),) * (self.model.config.max_issues or 0)
        return tuple(State(state, nobody) for state in self.model.initial())

    def steps(self, state: State) -> Iterator[Step[State]]:
        """The steps of the gate, remembered."""
        for action, after in self.model.steps(state.now):
            held = {answer for round_ in after.rounds for answer in round_.answers}
            given = tuple(
                before | {answer.rank for answer in held if answer.issue == issue}
                for issue, before in enumerate(state.given, 1)
            )
            yield action, State(after, given)


def abstract(config: gate.Config) -> answers.Answers:
    """Return what the gate refines under a (bounded) configuration."""
    if config.max_issues is None:
        raise ValueError("refinement is checked on bounded configurations")
    return answers.Answers(answers.Config(config.ranks, config.max_issues, config.capacity))


def image(s: State) -> answers.State:
    """Return what a state of the gate is as answers."""
    fates = (
        answers.HELD if issue in s.now.collected else answers.OFF if issue in s.now.ended else answers.OPEN
        for issue in range(1, len(s.given) + 1)
    )
    return answers.State(s.given, tuple(fates))
