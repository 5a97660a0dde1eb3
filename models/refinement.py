"""Does a model do only what a more abstract one allows, seen through a mapping of states?

Every initial state must map to an abstract initial state, and every step to an abstract step or to no change at all
(stuttering). This is the safety half of refinement, checked step by step on the whole reachable graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from models.explore import Path
from models.graph import Graph
from models.kernel import Action, Model, show

__all__ = ("Failure", "Refinement", "refine")

S = TypeVar("S", bound=tuple[Any, ...])
A = TypeVar("A", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Failure(Generic[S, A]):
    """The first concrete step (nearest to an initial state) without an abstract one."""

    path: Path[S]
    before: A | None
    after: A
    allowed: tuple[str, ...]

    def __str__(self) -> str:
        if self.before is None:
            return f"initial state maps to {show(self.after)}, which is not initial"
        last = self.path.actions[-1]
        return (
            f"{last} maps to {show(self.before)} -> {show(self.after)}, which is no abstract step; "
            f"the abstract model allows {', '.join(self.allowed) or 'nothing'}"
        )


@dataclass
class Refinement(Generic[S, A]):
    """Result. ``simulates`` counts, for each concrete action, the abstract actions that it was matched with."""

    name: str
    failure: Failure[S, A] | None = None
    steps: int = 0
    simulates: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Every step was matched."""
        return self.failure is None


def refine(concrete: Graph[S], abstract: Model[A], mapping: Callable[[S], A]) -> Refinement[S, A]:
    """Check every step of the concrete graph. Stops at the first failure."""
    result: Refinement[S, A] = Refinement(f"{concrete.name} refines {abstract.name}")
    initial = set(abstract.initial())
    for state in concrete.initial:
        if (image := mapping(state)) not in initial:
            result.failure = Failure(Path(state), None, image, ())
            return result
    images = {state: mapping(state) for state in concrete.states}
    table: dict[A, dict[A, tuple[Action, ...]]] = {}
    for before, action, after in concrete.edges:
        source, target = images[before], images[after]
        result.steps += 1
        seen = result.simulates.setdefault(action.name, Counter())
        if source == target:
            seen["(stutter)"] += 1
            continue
        if source not in table:
            table[source] = _successors(abstract, source)
        if matches := table[source].get(target):
            seen[matches[0].name] += 1
            continue
        prefix = concrete.path(before)
        allowed = tuple(dict.fromkeys(str(step) for steps in table[source].values() for step in steps))
        path = Path(prefix.start, (*prefix.steps, (action, after)))
        result.failure = Failure(path, source, target, allowed)
        return result
    return result


def _successors(model: Model[A], state: A) -> dict[A, tuple[Action, ...]]:
    table: dict[A, tuple[Action, ...]] = {}
    for action, after in model.steps(state):
        table[after] = (*table.get(after, ()), action)
    return table
