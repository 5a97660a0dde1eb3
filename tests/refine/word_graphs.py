"""The parts of the word protocol under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import word, word_counter, word_lock, word_sequence
from models.graph import Difference, Named, build, compare, named
from models.word_bugs import BUGS, SHIPPED, model_of
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SMALL", "compared", "decode")

R = frozenset[int]

# Name -> part, configuration. Small enough for TLC to dump in a few seconds, and together every action.
FIXED: dict[str, tuple[str, Any]] = {
    "set and wait": ("Word", word.Config(sets=1, limited=True, mortal=R({0, 1}))),
    "set and wait, superseded": ("Word", word.Config(sets=1, supersede=True)),
    "set twice": ("Word", word.Config(limited=True)),
    "add, compare and set": ("Counter", word_counter.Config(2, 1, 1, R({0, 2}))),
    "write and read as one": ("Sequence", word_sequence.Config(mortal=R({0}))),
    "2 writers": ("Sequence", word_sequence.Config(writers=2, mortal=R({0}))),
    "lock": ("IpcLock", word_lock.Config(processes=3, mortal=R({1}))),
    "lock, shared": ("IpcLock", word_lock.Config(processes=3, clearers=R({0, 1}), sharers=R({0, 2}))),
}
SMALL = ("set and wait", "write and read as one")

# FreshTokens needs too many states for a dump: a smaller configuration has all of its steps.
FAULTY: dict[str, tuple[str, Any]] = {name: (bug.part, bug.config) for name, bug in BUGS.items()} | {
    "FreshTokens": ("Word", word.Config(guards=word.Guards.without("FreshTokens"))),
    "both guards of IPCLock": (SHIPPED.part, SHIPPED.config),
}


def decode(part: str, state: Mapping[str, Any]) -> Any:
    """Return the model's state for a state of TLC."""
    if part == "Word":
        size = len(state["pc"])
        mem = tuple(int(state["mem"][name]) for name in ("value", "waiters", "wake", "gone"))
        rest = {name: function(state[name], size) for name in ("pc", "seen", "barred", "counts", "alive")}
        return word.State(**{**state, **rest, "mem": mem, "buf": _sequences(state["buf"], size)})
    if part == "Counter":
        size = len(state["pc"])
        functions = {name: function(state[name], size) for name in ("pc", "old", "left")}
        return word_counter.State(**{**state, **functions})
    if part == "Sequence":
        size = len(state["pc"])
        names = ("pc", "next", "seen", "left")
        functions = {name: function(state[name], size) for name in names}
        functions["mem"] = function(state["mem"], len(state["mem"]))
        functions["buf"] = _sequences(state["buf"], size)
        functions["copy"] = tuple(tuple(cells) for cells in function(state["copy"], size))
        return word_sequence.State(**{**state, **functions})
    size = len(state["pc"])
    functions = {name: function(state[name], size) for name in ("fd", "locked", "pc", "left")}
    return word_lock.State(**{**state, **functions})


def _sequences(value: Any, size: int) -> tuple[Any, ...]:
    return tuple(tuple(tuple(store) for store in stores) for stores in function(value, size))


def compared(part: str, config: Any) -> tuple[Named[Any], Difference[Any]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    model = model_of(part, config)
    fields = next(iter(model.initial()))._fields
    wanted = tlc_graph(f"word/{part}.tla", config.constants(), fields, lambda state: decode(part, state))
    return wanted, compare(wanted, named(build(model)))
