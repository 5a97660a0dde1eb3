"""Random walks of a model, as a host would record them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from models.kernel import Action, Step

__all__ = ("draw", "fenced", "random_walk")

S = TypeVar("S", bound=tuple[Any, ...])


class Fencing(Protocol[S]):
    """A model in which who has crashed is fenced."""

    def steps(self, state: S, /) -> Iterable[Step[S]]: ...

    def fence(self, state: S, /) -> Iterable[Step[S]]: ...


def draw(rng: random.Random, model: Fencing[S], state: S, weight: Callable[[str], float]) -> list[Step[S]]:
    """Return the steps of one action of those that the state allows, drawn by the weights of their names."""
    choices: dict[str, list[Step[S]]] = {}
    for action, after in model.steps(state):
        choices.setdefault(action.name, []).append((action, after))
    names = sorted(choices)
    return choices[rng.choices(names, [weight(name) for name in names])[0]]


def fenced(model: Fencing[S], action: Action, after: S) -> Step[S]:
    """Return a step as a host sees it: a crash is hidden before the fence, which follows it at once."""
    if action.name != "Crash":
        return action, after
    fence = Action("Fence", action.params)
    return fence, next(then for step, then in model.fence(after) if step == fence)


def random_walk(
    rng: random.Random, model: Fencing[S], state: S, weight: Callable[[str], float]
) -> Iterator[tuple[Action, S, S]]:
    """Yield the steps of an endless walk as a host sees them: action, and the states before and after it."""
    while True:
        action, after = fenced(model, *rng.choice(draw(rng, model, state, weight)))
        yield action, state, after
        state = after
