"""TLC's transition graph of a spec, in the states of its Python model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from models.graph import Named
from models.kernel import show
from tla.dot import StateGraph
from tla.manifest import with_graph
from tla.run import ROOT, Run, dump, graph_of
from tla.shared import graph_run

__all__ = ("config_text", "function", "tlc_graph")

S = TypeVar("S", bound=tuple[Any, ...])


def config_text(constants: Mapping[str, object], spec: str = "Spec") -> str:
    """Return a TLC configuration: the spec under these constants, and nothing to check."""
    unbounded = [name for name, value in constants.items() if value is None]
    if unbounded:
        raise ValueError(f"TLC needs a bound for {', '.join(unbounded)}")
    lines = [f"    {name} = {show(value)}" for name, value in constants.items()]
    return "\n".join([f"SPECIFICATION {spec}", "CONSTANTS", *lines, ""])


def tlc_graph(
    module: str,
    constants: Mapping[str, object],
    fields: tuple[str, ...],
    decode: Callable[[Mapping[str, Any]], S],
    formula: str = "Spec",
) -> Named[S]:
    """Run TLC on ``tla/<module>`` and return its graph. The spec's variables must be exactly ``fields``."""
    graph = _graph(ROOT / module, constants, formula)
    states = {}
    for state in graph.states:
        if set(state) != set(fields):
            raise ValueError(f"{module} has the variables {sorted(state)}, and the model has {sorted(fields)}")
        states[state] = decode(state)
    if len(set(states.values())) != len(states):
        raise ValueError(f"{module}: two states of TLC are one state of the model")
    return Named(
        frozenset(states[state] for state in graph.initial),
        frozenset(states.values()),
        frozenset((states[before], label, states[after]) for before, label, after in graph.edges),
    )


def _graph(spec: Path, constants: Mapping[str, object], formula: str) -> StateGraph:
    text = config_text(constants, formula)
    listed = with_graph(spec, {name: show(value) for name, value in constants.items()}, formula)
    if listed is not None:  # TLC checks the properties of this one, and dumps its graph on the way
        result, dumped = graph_run(listed.run())
        return graph_of(listed.run(), result, dumped)
    with tempfile.TemporaryDirectory(prefix="fdcomm-graph-") as folder:
        # TLC looks for the configuration beside the root module, so both are made here.
        root, config = Path(folder) / "Graph.tla", Path(folder) / "Graph.cfg"
        root.write_text(f"---- MODULE Graph ----\nEXTENDS {spec.stem}\n====\n", encoding="utf-8")
        config.write_text(text, encoding="utf-8")
        return dump(Run(root, config, library=(spec.parent,)))[1]


def function(value: Any, size: int) -> tuple[Any, ...]:
    """Return a function over ``0 .. size - 1`` as a tuple. TLC may print it only as such."""
    if set(value) != set(range(size)):
        raise ValueError(f"not a function over 0 .. {size - 1}: {value}")
    return tuple(value[index] for index in range(size))
