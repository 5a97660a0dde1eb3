"""The parts of the ring under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import ring, ring_state, ring_wait
from models.graph import Difference, Named, build, compare, named
from models.ring_bugs import BUGS, WAIT
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("FAULTY", "FIXED", "SMALL", "WAITING", "compared", "compared_waiting")

R = frozenset[int]

# Small enough for TLC to dump in a few seconds, and together every action.
FIXED: dict[str, ring.Config] = {
    "a reader is given up, and another one comes": ring.Config(ranks=1, puts=1, joins=1, fenceable=R({0})),
    "a clear, which may be killed": ring.Config(ranks=1, puts=1, clears=1, mortal=R({2})),
    "a clear of 2 puts": ring.Config(ranks=1, puts=2, clears=1, mortal=R({2})),
    "2 ranks": ring.Config(ranks=2, mortal=R({1})),
    "2 slots": ring.Config(ranks=1, slots=2, puts=4, mortal=R({1})),
    "any order of stores": ring.Config(ranks=1, ordered=False),
}
WAITING: dict[str, ring_wait.Config] = {
    "one sleeps": ring_wait.Config(mortal=R({0})),
    "a writer that waits for 2 readers": ring_wait.Config(tellers=2),
    "2 sleep": ring_wait.Config(sleepers=2),
}
SMALL = ("a reader is given up, and another one comes", "a clear, which may be killed", "one sleeps")

# LivesLast and FreshBell need too many states for a dump: smaller configurations have all of their steps.
FAULTY: dict[str, ring.Config | ring_wait.Config] = {
    **{name: bug.config for name, bug in BUGS.items()},
    **{name: bug.config for name, bug in WAIT.items()},
    "LivesLast": ring.Config(ranks=2, puts=1, guards=ring.Guards.without("LivesLast")),
    "FreshBell": ring_wait.Config(tellers=2, guards=ring_wait.Guards.without("FreshBell")),
}


def _rows(value: Any, size: int) -> tuple[Any, ...]:
    return tuple(tuple(tuple(store) for store in stores) for stores in function(value, size))


def _decode(state: Mapping[str, Any]) -> ring.State:
    lines, size = len(state["pos"]), len(state["pc"])
    mem = {name: function(value, len(value)) for name, value in state["mem"].items()}
    rest = {name: function(state[name], size) for name in ("pc", "at", "low", "alive")}
    rest |= {name: function(state[name], lines) for name in ("pos", "took", "start")}
    return ring.State(
        **{
            **state,
            **rest,
            "mem": ring_state.Mem(**mem),
            "buf": _rows(state["buf"], size),
            "known": function(state["known"], len(state["known"])),
            "got": tuple(tuple(got) for got in function(state["got"], lines)),
        }
    )


def _decode_waiting(state: Mapping[str, Any]) -> ring_wait.State:
    size = len(state["pc"])
    mem = {name: function(value, len(value)) for name, value in state["mem"].items()}
    rest = {name: function(state[name], size) for name in ("pc", "at", "seen", "counts", "alive")}
    return ring_wait.State(**{**state, **rest, "mem": ring_wait.Mem(**mem), "buf": _rows(state["buf"], size)})


def compared(config: ring.Config) -> tuple[Named[ring.State], Difference[ring.State]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted = tlc_graph("ring/Ring.tla", config.constants(), ring.State._fields, _decode)
    return wanted, compare(wanted, named(build(ring.Ring(config))))


def compared_waiting(config: ring_wait.Config) -> tuple[Named[ring_wait.State], Difference[ring_wait.State]]:
    """The same for sleeping and waking."""
    wanted = tlc_graph("ring/RingWait.tla", config.constants(), ring_wait.State._fields, _decode_waiting)
    return wanted, compare(wanted, named(build(ring_wait.RingWait(config))))
