"""Breadth-first exploration of a model: counts, invariants, action properties, deadlocks, reachability.

Counts are TLC's: ``generated`` includes the initial states, ``depth`` is the number of states on the longest of the
shortest paths. A path to a violation is therefore as short as any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from models.kernel import Action, Model

__all__ = ("Path", "Result", "Violation", "explore", "path_to")

S = TypeVar("S", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Path(Generic[S]):
    """A behaviour: an initial state, then steps."""

    start: S
    steps: tuple[tuple[Action, S], ...] = ()

    @property
    def last(self) -> S:
        """The state at the end."""
        return self.steps[-1][1] if self.steps else self.start

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions, in order."""
        return tuple(action for action, _ in self.steps)

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Violation(Generic[S]):
    """A property that does not hold, and a shortest behaviour that shows it (its last state or its last step)."""

    property: str
    kind: str
    path: Path[S]

    def __str__(self) -> str:
        return f"{self.kind} {self.property} is violated after {len(self.path)} steps"


@dataclass
class Result(Generic[S]):
    """What an exploration found. ``complete`` is False when it stopped early (at a violation, or at max_states)."""

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    complete: bool = False
    violations: dict[str, Violation[S]] = field(default_factory=dict)
    deadlocks: list[S] = field(default_factory=list)
    reached: dict[str, Path[S]] = field(default_factory=dict)
    unreached: tuple[str, ...] = ()
    coverage: Counter[str] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        """Everything was explored, nothing is violated, and every `sometimes` was reached."""
        return self.complete and not self.violations and not self.unreached

    @property
    def violation(self) -> Violation[S] | None:
        """The violation that was found first."""
        return next(iter(self.violations.values()), None)


def explore(
    model: Model[S],
    *,
    only: Collection[str] | None = None,
    stop: bool = True,
    max_states: int | None = None,
) -> Result[S]:
    """Visit every reachable state, nearest first.

    ``only`` limits the properties that are checked to these names. With ``stop`` the first violation ends the
    search; without it the first violation of each property is kept. ``max_states`` bounds an infinite model.
    """
    known = {*model.invariants, *model.action_properties}
    if only is not None and not known.issuperset(only):
        raise ValueError(f"{model.name} has no property {sorted(set(only) - known)}; it has {sorted(known)}")
    wanted = known if only is None else set(only)
    invariants = {name: check for name, check in model.invariants.items() if name in wanted}
    step_checks = {name: check for name, check in model.action_properties.items() if name in wanted}
    sometimes = dict(model.sometimes)
    sometimes_steps = dict(model.sometimes_steps)
    result: Result[S] = Result()
    parents: dict[S, tuple[Action, S] | None] = {}
    layer: list[S] = []

    def visit(state: S) -> None:
        """Check a state that has just been found."""
        layer.append(state)
        for name, check in invariants.items():
            if name not in result.violations and not check(state):
                result.violations[name] = Violation(name, "invariant", path_to(parents, state))
        for name in [name for name, check in sometimes.items() if check(state)]:
            del sometimes[name]
            result.reached[name] = path_to(parents, state)

    for state in model.initial():
        result.generated += 1
        if state not in parents:
            parents[state] = None
            visit(state)
    done = False
    while layer and not done:
        result.depth += 1
        frontier, layer = layer, []
        for state in frontier:
            if done := _full(result, parents, stop, max_states):
                break
            dead = True
            for action, after in model.steps(state):
                dead = False
                result.generated += 1
                result.coverage[action.name] += 1
                for name, holds in step_checks.items():
                    if name not in result.violations and not holds(state, action, after):
                        path = _extend(path_to(parents, state), action, after)
                        result.violations[name] = Violation(name, "action property", path)
                for name in [name for name, holds in sometimes_steps.items() if holds(state, action, after)]:
                    del sometimes_steps[name]
                    result.reached[name] = _extend(path_to(parents, state), action, after)
                if after not in parents:
                    parents[after] = (action, state)
                    visit(after)
            if dead:
                result.deadlocks.append(state)
    result.distinct = len(parents)
    result.complete = not done and not (stop and bool(result.violations))
    result.unreached = (*sometimes, *sometimes_steps)
    return result


def path_to(parents: dict[S, tuple[Action, S] | None], state: S) -> Path[S]:
    """Return the path along parent links, from an initial state to ``state``."""
    steps: list[tuple[Action, S]] = []
    while (link := parents[state]) is not None:
        steps.append((link[0], state))
        state = link[1]
    return Path(state, tuple(reversed(steps)))


def _extend(path: Path[S], action: Action, after: S) -> Path[S]:
    return Path(path.start, (*path.steps, (action, after)))


def _full(result: Result[S], parents: Collection[S], stop: bool, max_states: int | None) -> bool:
    """Return True when the search should end before the next state is expanded."""
    return (stop and bool(result.violations)) or (max_states is not None and len(parents) >= max_states)
