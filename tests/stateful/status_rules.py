"""What parts, clients and the environment do to components, as Hypothesis rules."""

from __future__ import annotations

from collections import Counter

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from models.kernel import Action
from models.status import Config, State, Status
from tests.stateful.beside import step_to, when

__all__ = ("FOLLOWS", "Rules", "unbounded")

FOLLOWS = ("Settle", "Fail", "NextStage", "Finish")
components = st.integers(0, 2)
parts = st.integers(0, 1)


def unbounded() -> Status:
    """Return the model of FastDeploy's components with two ranks, in which everything may happen, for ever."""
    everybody = frozenset({0, 1})
    return Status(Config(components=3, per_stage=2, parts=2, without=frozenset({5}), max_asked=None, mortal=everybody))


class Rules(RuleBasedStateMachine):
    """What everybody does. ``act`` is what that is to the system under test, ``follow`` what comes of it at once."""

    occurred: Counter[str]
    model: Status
    state: State

    def act(self, action: Action, after: State) -> None:
        """Take an action that the model allows."""
        raise NotImplementedError

    def follow(self) -> None:
        """Take what is due."""
        raise NotImplementedError

    def take(self, name: str, **params: int) -> bool:
        """Take the action if the model allows it now, and what follows."""
        action = Action(name, tuple(params.items()))
        after = step_to(self.model, self.state, action)
        if after is None:
            return False
        self.act(action, after)
        self.went(action, after)
        self.follow()
        return True

    def went(self, action: Action, after: State) -> None:
        """Note a step."""
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @precondition(when("Join"))
    @rule(component=components, part=parts)
    def join(self, component: int, part: int) -> None:
        self.take("Join", component=component, part=part)

    @precondition(when("Crash"))
    @rule(component=components, part=parts)
    def crash(self, component: int, part: int) -> None:
        self.take("Crash", component=component, part=part)

    @precondition(when("Fence"))
    @rule(component=components, part=parts)
    def fence(self, component: int, part: int) -> None:
        self.take("Fence", component=component, part=part)

    @precondition(when("Ask"))
    @rule(goal=st.integers(0, 1))
    def ask(self, goal: int) -> None:
        self.take("Ask", goal=goal)

    @precondition(when("Take"))
    @rule(component=components, part=parts)
    def take_order(self, component: int, part: int) -> None:
        self.take("Take", component=component, part=part)

    @precondition(when("Report"))
    @rule(component=components, part=parts, ok=st.sampled_from([1, 1, 1, 0]))
    def report(self, component: int, part: int, ok: int) -> None:
        self.take("Report", component=component, part=part, ok=ok)

    @precondition(when("Expire"))
    @rule()
    def expire(self) -> None:
        self.take("Expire")

    @rule(goal=st.integers(0, 1), ok=st.sampled_from([True, True, False]))
    def serve(self, goal: int, ok: bool) -> None:
        """What components are for: without it, random steps seldom get through both stages."""
        for component, part in self.model.everyone:
            self.take("Join", component=component, part=part)
        self.take("Ask", goal=goal)
        for _ in range(3):
            for component, part in self.model.everyone:
                self.take("Take", component=component, part=part)
                self.take("Report", component=component, part=part, ok=int(ok or part == 0))
