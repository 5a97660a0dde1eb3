"""How a race shows in its specification: the actions of a shortest counterexample, as the model finds it.

TLC is pinned to as many states (``tla/manifest.toml``), and the model's graph is the specification's.
"""

from __future__ import annotations

from functools import cache

from models.explore import explore
from tests.verify.faults import model_of
from tla.manifest import Entry, load

__all__ = ("actions_of",)

_MOST_STATES = 20_000


@cache
def _entries() -> dict[str, Entry]:
    return {entry.name: entry for entry in load()}


@cache
def actions_of(name: str) -> tuple[str, ...]:
    """Return the actions that lead to the violation; () where it is that something never comes, or no model has it."""
    entry = _entries().get(name)
    if entry is None or (entry.mode, entry.expect) != ("check", "violates"):
        return ()
    model = model_of(entry)
    found = explore(model, only={entry.violates}, max_states=_MOST_STATES).violation if model is not None else None
    if found is None:
        return ()
    return tuple(f"{action.name}{_short(action.params)}" for action in found.path.actions)


def _short(params: tuple[tuple[str, int], ...]) -> str:
    return f"({', '.join(str(value) for _, value in params)})" if params else ""
