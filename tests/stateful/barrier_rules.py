"""What ranks, an engine and the environment do to barriers, as Hypothesis rules."""

from __future__ import annotations

from collections import Counter

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from models.barrier import Barrier, Config, State
from models.barrier_state import UNSAID
from models.kernel import Action
from tests.stateful.beside import step_to, when

__all__ = ("BARRIERS", "MOST_RANKS", "WAITS", "Rules", "ranks", "unbounded")

MOST_RANKS, BARRIERS = 3, 2
WAITS = ("Arrive", "Pass", "Mismatch", "Refuse")
ranks = st.integers(0, MOST_RANKS - 1)
places = st.integers(0, BARRIERS - 1)
labels = st.sampled_from([0, 0, 0, 1])
rounds = st.sampled_from([None, None, None, 0, 0, -1, 1])


def unbounded(count: int, barriers: int = BARRIERS) -> Barrier:
    """Return the model in which everything may happen, for ever."""
    everybody = frozenset(range(count))
    return Barrier(
        Config(
            ranks=count,
            barriers=barriers,
            labels=2,
            max_rounds=None,
            max_aborts=None,
            named=True,
            leavers=everybody,
            mortal=everybody,
        )
    )


class Rules(RuleBasedStateMachine):
    """What a rank, an engine and the environment do. ``act`` is what that is to the system under test."""

    occurred: Counter[str]
    model: Barrier
    state: State

    def act(self, action: Action, after: State) -> None:
        """Take an action that the model allows."""
        raise NotImplementedError

    def take(self, name: str, **params: int) -> bool:
        """Take the action if the model allows it now."""
        action = Action(name, tuple(params.items()))
        after = step_to(self.model, self.state, action)
        if after is None:
            return False
        self.act(action, after)
        self.state = after
        event(name)
        self.occurred[name] += 1
        return True

    @precondition(when("Join"))
    @rule(rank=ranks)
    def join(self, rank: int) -> None:
        self.take("Join", rank=rank)

    @precondition(when("Leave"))
    @rule(rank=ranks)
    def leave(self, rank: int) -> None:
        self.take("Leave", rank=rank)

    @precondition(when("Crash"))
    @rule(rank=ranks)
    def crash(self, rank: int) -> None:
        self.take("Crash", rank=rank)

    @precondition(when("Fence"))
    @rule(rank=ranks)
    def fence(self, rank: int) -> None:
        self.take("Fence", rank=rank)

    @precondition(when("Timeout"))
    @rule(rank=ranks)
    def timeout(self, rank: int) -> None:
        self.take("Timeout", rank=rank)

    @precondition(when("Abort"))
    @rule(place=places)
    def abort(self, place: int) -> None:
        self.take("Abort", barrier=self._place(place))

    @precondition(when("Reset"))
    @rule(place=places)
    def reset(self, place: int) -> None:
        place = self._place(place)
        self.take("Reset", barrier=place, abort=self.state.aborts[place])

    @rule(rank=ranks, place=places, label=labels, ahead=rounds)
    def wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        """Arrive, Pass, Mismatch or Refuse: the model says which."""
        if rank < len(self.state.status):
            self._wait(rank, self._place(place), label, ahead)

    def _place(self, number: int) -> int:
        return number % len(self.state.generation)

    def _wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        number = UNSAID if ahead is None else max(0, self.state.generation[place] + ahead)
        for name in WAITS[:3]:
            if self.take(name, rank=rank, barrier=place, label=label, round=number):
                return
        self.take("Refuse", rank=rank, barrier=place, round=number)

    @rule(place=places, order=st.permutations(range(MOST_RANKS)), giving_up=st.booleans())
    def meet(self, place: int, order: list[int], giving_up: bool) -> None:
        """What barriers are for: without it, random waits seldom get as far as a pass."""
        place = self._place(place)
        for number, rank in enumerate(rank for rank in order if rank < len(self.state.status)):
            self.take("Join", rank=rank)
            self._wait(rank, place, 0, None)
            if giving_up and number == 1:
                self.take("Timeout", rank=order[0])
        if giving_up:
            self._wait(order[0] if order[0] < len(self.state.status) else 0, place, 0, None)
