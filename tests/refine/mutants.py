"""Planted faults of the dispatch model: each is one small mistake that a person could make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from models.dispatch import Config, Dispatch, Guards, State
from models.dispatch_state import DEAD, DOWN, LIVE, initial_state
from models.kernel import Action, Step

__all__ = ("CONFIG", "MUTANTS")

# Every mutant shows under this configuration: a rank and a producer crash, clears and timeouts happen, calls queue up.
CONFIG = Config(ranks=2, per_producer=2, max_calls=2, mortal=frozenset({0}), mortal_producers=frozenset({0}))

Change = Callable[[State, Action, State], Iterable[Step[State]]]


class _Mutant(Dispatch):
    """The model, with each step passed through ``change``."""

    def __init__(self, change: Change) -> None:
        super().__init__(CONFIG)
        self._change = change

    def steps(self, state: State) -> Iterator[Step[State]]:
        for action, after in super().steps(state):
            yield from self._change(state, action, after)


class _StartsDown(Dispatch):
    def initial(self) -> Iterable[State]:
        return (initial_state(self.config, DOWN),)


def _wrong_label(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    yield (action._replace(name="PutTimeout") if action.name == "PutLost" else action), after


def _swapped_labels(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    """As many states, edges and labels as before: counting does not see it."""
    swap = {"Fence": "FenceProducer", "FenceProducer": "Fence"}
    yield action._replace(name=swap.get(action.name, action.name)), after


def _no_timeout_in_the_queue(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    if action.name != "PutTimeout" or action.param("id") == before.waiting[0].id:
        yield action, after


def _the_dead_are_not_served(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    if action.name != "GetTasks" or before.status[action.params[0][1]] == LIVE:
        yield action, after


def _the_dead_may_rejoin(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    yield action, after
    if action.name == "Fence":
        yield Action("Join", action.params), before._replace(status=(LIVE, *before.status[1:]))


def _get_forgets_the_epoch(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    yield action, (after._replace(rankSeen=before.rankSeen) if action.name == "GetTasks" else after)


def _exist_is_lowered_too_early(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    yield action, (after._replace(exist=False) if action.name == "GetTasks" else after)


def _a_crash_takes_the_calls(before: State, action: Action, after: State) -> Iterable[Step[State]]:
    if action.name == "CrashProducer":
        after = after._replace(waiting=tuple(call for call in after.waiting if after.producer[call.producer] != DEAD))
    yield action, after


MUTANTS: dict[str, Callable[[], Dispatch]] = {
    "wrong label": lambda: _Mutant(_wrong_label),
    "swapped labels": lambda: _Mutant(_swapped_labels),
    "dropped edge: no timeout in the queue": lambda: _Mutant(_no_timeout_in_the_queue),
    "stronger guard: the dead are not served": lambda: _Mutant(_the_dead_are_not_served),
    "extra edge: the dead may rejoin": lambda: _Mutant(_the_dead_may_rejoin),
    "wrong effect: a get forgets the epoch": lambda: _Mutant(_get_forgets_the_epoch),
    "wrong effect: exist is lowered too early": lambda: _Mutant(_exist_is_lowered_too_early),
    "wrong effect: a crash takes the calls": lambda: _Mutant(_a_crash_takes_the_calls),
    "other initial state": lambda: _StartsDown(CONFIG),
    "removed guard: joins skip nothing": lambda: Dispatch(replace(CONFIG, guards=Guards.without("JoinSkips"))),
    "removed guard: every clear is effective": lambda: Dispatch(
        replace(CONFIG, guards=Guards.without("ClearOncePerEpoch"))
    ),
}
