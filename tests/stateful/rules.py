"""The actions that need no more than a number, as Hypothesis rules. A failing program reads as a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from models.kernel import Action

__all__ = ("MOST_PRODUCERS", "MOST_RANKS", "ActionRules", "when")

MOST_RANKS, MOST_PRODUCERS = 3, 2

ranks = st.integers(0, MOST_RANKS - 1)
producers = st.integers(0, MOST_PRODUCERS - 1)


def when(name: str) -> Callable[[Any], bool]:
    """Return the precondition of an action's rule."""
    return lambda machine: machine.possible(name)


class ActionRules(RuleBasedStateMachine):
    """Rules named as the actions; ``act`` is what they do to the system under test."""

    occurred: Counter[str]

    def act(self, action: Action) -> None:
        """Take the action, or see that it is refused."""
        raise NotImplementedError

    def possible(self, name: str) -> bool:
        """Return True when the model allows the action with some argument."""
        raise NotImplementedError

    def count(self, action: Action) -> None:
        """Note that an action took place."""
        event(action.name)
        self.occurred[action.name] += 1

    def put(self, producer: int) -> None:
        """A put that is served at its arrival, where that is possible."""
        raise NotImplementedError

    @rule(producer=producers, readers=st.lists(ranks, min_size=1, max_size=MOST_RANKS, unique=True))
    def deliver(self, producer: int, readers: list[int]) -> None:
        """What a queue is for: without it, random actions seldom get as far as a batch that some have read."""
        self.put(producer)
        for rank in readers:
            self.act(Action("Join", (("rank", rank),)))
            self.act(Action("GetTasks", (("rank", rank),)))

    @precondition(when("Join"))
    @rule(rank=ranks)
    def join(self, rank: int) -> None:
        self.act(Action("Join", (("rank", rank),)))

    @precondition(when("Leave"))
    @rule(rank=ranks)
    def leave(self, rank: int) -> None:
        self.act(Action("Leave", (("rank", rank),)))

    @precondition(when("Crash"))
    @rule(rank=ranks)
    def crash(self, rank: int) -> None:
        self.act(Action("Crash", (("rank", rank),)))

    @precondition(when("Connect"))
    @rule(producer=producers)
    def connect(self, producer: int) -> None:
        self.act(Action("Connect", (("producer", producer),)))

    @precondition(when("Disconnect"))
    @rule(producer=producers)
    def disconnect(self, producer: int) -> None:
        self.act(Action("Disconnect", (("producer", producer),)))

    @precondition(when("CrashProducer"))
    @rule(producer=producers)
    def crash_producer(self, producer: int) -> None:
        self.act(Action("CrashProducer", (("producer", producer),)))

    @precondition(when("GetTasks"))
    @rule(rank=ranks)
    def get_tasks(self, rank: int) -> None:
        self.act(Action("GetTasks", (("rank", rank),)))

    @precondition(when("ClearRank"))
    @rule(rank=ranks)
    def clear_rank(self, rank: int) -> None:
        self.act(Action("ClearRank", (("rank", rank),)))

    @precondition(when("ClearProducer"))
    @rule(producer=producers)
    def clear_producer(self, producer: int) -> None:
        self.act(Action("ClearProducer", (("producer", producer),)))
