"""The parts of the ring under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models import (
    ring,
    ring_bias,
    ring_bias_state,
    ring_last,
    ring_last_state,
    ring_overflow,
    ring_place,
    ring_state,
    ring_wait,
)
from models.graph import Difference, Named, build, compare, named
from models.ring_bugs import BIAS as BIAS_BUGS
from models.ring_bugs import BUGS, WAIT
from models.ring_bugs import LAST as LAST_BUGS
from models.ring_bugs import OVERFLOW as OVERFLOW_BUGS
from models.ring_bugs import PLACE as PLACE_BUGS
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("BIAS", "FAULTY", "FIXED", "LAST", "OVERFLOW", "PLACE", "SMALL", "WAITING", "compared")

R = frozenset[int]

# Small enough for TLC to dump in a few seconds, and together every action.
FIXED: dict[str, ring.Config] = {
    "a reader is given up, and another one comes": ring.Config(ranks=1, puts=1, joins=1, fenceable=R({0})),
    "a reader is given up twice, and comes back twice": ring.Config(ranks=1, puts=1, joins=2, fenceable=R({0})),
    "a clear, which may be killed": ring.Config(ranks=1, puts=1, clears=1, mortal=R({2})),
    "a put after a clear": ring.Config(ranks=1, puts=2, clears=1),
    "a clear of 2 puts": ring.Config(ranks=1, puts=2, clears=1, mortal=R({2})),
    "a clear of 2 slots": ring.Config(ranks=1, slots=2, puts=2, clears=1, mortal=R({2})),
    "2 ranks": ring.Config(ranks=2, mortal=R({1})),
    "2 slots": ring.Config(ranks=1, slots=2, puts=4, mortal=R({1})),
    "any order of stores": ring.Config(ranks=1, ordered=False),
}
WAITING: dict[str, ring_wait.Config] = {
    "one sleeps": ring_wait.Config(mortal=R({0})),
    "a writer that waits for 2 readers": ring_wait.Config(tellers=2, decides=True),
    "2 sleep": ring_wait.Config(sleepers=2),
}
OVERFLOW: dict[str, ring_overflow.Config] = {
    "segments: a reader is given up, and another one comes": ring_overflow.Config(
        segments=2, larger=R({2}), back=True, fenceable=R({0}), mortal=R({1})
    ),
    "segments: one writer leaves, the other one is killed": ring_overflow.Config(
        writers=2, leavers=R({0}), mortal=R({1})
    ),
}
PLACE: dict[str, ring_place.Config] = {
    "2 processes put in turn": ring_place.Config(puts=2, mortal=R({0}), stoppable=R({1})),
}
BIAS: dict[str, ring_bias_state.Config] = {
    "one process is biased, killed or interrupted": ring_bias_state.Config(mortal=R({0}), cuts=True),
}
LAST: dict[str, ring_last_state.Config] = {
    "the last of 2 readers, one is killed": ring_last_state.Config(mortal=R({0}), back=R({0})),
}

SMALL = (
    "a reader is given up, and another one comes",
    "a reader is given up twice, and comes back twice",
    "a clear, which may be killed",
    "a put after a clear",
    "one sleeps",
    *OVERFLOW,
    *PLACE,
    *BIAS,
    *LAST,
)

# Some need too many states for a dump: smaller configurations have all of their steps.
_Config = (
    ring.Config
    | ring_wait.Config
    | ring_overflow.Config
    | ring_place.Config
    | ring_bias_state.Config
    | ring_last_state.Config
)

FAULTY: dict[str, _Config] = {
    **{name: bug.config for name, bug in BUGS.items()},
    **{name: bug.config for name, bug in WAIT.items()},
    **{name: bug.config for name, bug in OVERFLOW_BUGS.items()},
    **{name: bug.config for name, bug in PLACE_BUGS.items()},
    **{f"{name}, bias": bug.config for name, bug in BIAS_BUGS.items()},
    **{f"{name}, last reader": bug.config for name, bug in LAST_BUGS.items()},
    "Doubts, bias": ring_bias_state.Config(cuts=True, guards=ring_bias_state.Guards.without("Doubts")),
    "OwnWord, last reader": ring_last_state.Config(
        fenceable=R({0}), back=R({0}), guards=ring_last_state.Guards.without("OwnWord")
    ),
    "LivesLast": ring.Config(ranks=2, puts=1, guards=ring.Guards.without("LivesLast")),
    "MarksOnce": ring.Config(ranks=1, puts=1, clears=2, guards=ring.Guards.without("MarksOnce")),
    "FreshBell": ring_wait.Config(tellers=2, guards=ring_wait.Guards.without("FreshBell")),
}


def _rows(value: Any, size: int) -> tuple[Any, ...]:
    return tuple(tuple(tuple(store) for store in stores) for stores in function(value, size))


def _decode(state: Mapping[str, Any]) -> ring.State:
    lines, size = len(state["pos"]), len(state["pc"])
    mem = {name: function(value, len(value)) for name, value in state["mem"].items()}
    rest = {name: function(state[name], size) for name in ("pc", "at", "low", "alive")}
    rest |= {name: function(state[name], lines) for name in ("pos", "took", "saw", "start")}
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


_FUNCTIONS = ("pc", "owner", "holds", "data", "use", "where", "life", "begun", "pos", "hand")


_PLACE_FUNCTIONS = ("seq", "data", "pc", "known", "asked", "told")


def _decode_overflow(state: Mapping[str, Any]) -> ring_overflow.State:
    return ring_overflow.State(**{**state, **{name: function(state[name], len(state[name])) for name in _FUNCTIONS}})


def _decode_place(state: Mapping[str, Any]) -> ring_place.State:
    functions = {name: function(state[name], len(state[name])) for name in _PLACE_FUNCTIONS}
    return ring_place.State(**{**state, **functions, "got": tuple(state["got"]), "sent": tuple(state["sent"])})


def _decode_bias(state: Mapping[str, Any]) -> ring_bias_state.State:
    size = len(state["pc"])
    # Functions over 1 .. T are sequences.
    mem = {name: function(state["mem"][name], 1) for name in ("bias", "head")}
    rest = {name: function(state[name], size) for name in ("pc", "mine", "aim", "at", "known", "sure", "asked")}
    rest |= {name: tuple(state[name]) for name in ("held", "sent")}
    mem["putting"] = tuple(state["mem"]["putting"])
    return ring_bias_state.State(
        **{**state, **rest, "mem": ring_bias_state.Mem(**mem), "buf": _rows(state["buf"], size)}
    )


def _decode_last(state: Mapping[str, Any]) -> ring_last_state.State:
    size, ranks = len(state["pc"]), len(state["mem"]["life"])
    mem = {name: function(value, len(value)) for name, value in state["mem"].items()}
    rest = {name: function(state[name], size) for name in ("pc", "at", "begun", "pos", "last")}
    rest["known"] = tuple(function(known, ranks) for known in function(state["known"], size))
    rest["heard"] = tuple(state["heard"])
    return ring_last_state.State(
        **{**state, **rest, "mem": ring_last_state.Mem(**mem), "buf": _rows(state["buf"], size)}
    )


def compared(
    config: _Config,
) -> tuple[Named[Any], Difference[Any]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    wanted: Named[Any]
    model: Any
    if isinstance(config, ring.Config):
        wanted = tlc_graph("ring/Ring.tla", config.constants(), ring.State._fields, _decode)
        model = ring.Ring(config)
    elif isinstance(config, ring_wait.Config):
        wanted = tlc_graph("ring/RingWait.tla", config.constants(), ring_wait.State._fields, _decode_waiting)
        model = ring_wait.RingWait(config)
    elif isinstance(config, ring_last_state.Config):
        of = ring_last_state.State._fields
        wanted = tlc_graph("ring/RingLast.tla", config.constants(), of, _decode_last)
        model = ring_last.RingLast(config)
    elif isinstance(config, ring_bias_state.Config):
        wanted = tlc_graph("ring/RingBias.tla", config.constants(), ring_bias_state.State._fields, _decode_bias)
        model = ring_bias.RingBias(config)
    elif isinstance(config, ring_place.Config):
        wanted = tlc_graph("ring/RingPlace.tla", config.constants(), ring_place.State._fields, _decode_place)
        model = ring_place.RingPlace(config)
    else:
        fields = ring_overflow.State._fields
        wanted = tlc_graph("ring/RingOverflow.tla", config.constants(), fields, _decode_overflow)
        model = ring_overflow.RingOverflow(config)
    return wanted, compare(wanted, named(build(model)))
