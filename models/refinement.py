"""Does a model do only what a more abstract one allows, seen through a mapping of states?

Every initial state must map to an abstract initial state, and every step to an abstract step or to no change at all
(stuttering). This is the safety half of refinement, checked step by step on the whole reachable graph.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from models.explore import Path, path_to
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


def refine(
    concrete: Model[S], abstract: Model[A], mapping: Callable[[S], A], max_states: int = 200_000
) -> Refinement[S, A]:
    """Check every step, nearest first. Stops at the first failure; ValueError beyond ``max_states``."""
    result: Refinement[S, A] = Refinement(f"{concrete.name} refines {abstract.name}")
    initial = set(abstract.initial())
    images: dict[S, A] = {}
    parents: dict[S, tuple[Action, S] | None] = {}
    for state in concrete.initial():
        images[state] = mapping(state)
        parents[state] = None
        if images[state] not in initial:
            result.failure = Failure(Path(state), None, images[state], ())
            return result
    table: dict[A, dict[A, tuple[Action, ...]]] = {}
    queue = deque(images)
    while queue:
        before = queue.popleft()
        source = images[before]
        if source not in table:
            table[source] = _successors(abstract, source)
        for action, after in concrete.steps(before):
            result.steps += 1
            if after not in images:
                if len(images) >= max_states:
                    raise ValueError(f"{concrete.name} has more than {max_states} states")
                images[after] = mapping(after)
                parents[after] = (action, before)
                queue.append(after)
            target = images[after]
            seen = result.simulates.setdefault(action.name, Counter())
            if matches := table[source].get(target):
                seen[matches[0].name] += 1
            elif source == target:
                seen["(stutter)"] += 1
            else:
                prefix = path_to(parents, before)
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
