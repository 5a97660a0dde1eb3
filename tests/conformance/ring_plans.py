"""The configurations under which the code of the ring is driven, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models import ring, ring_bias_state, ring_wait
from tests.conformance.ring_bias_part import BiasPart
from tests.conformance.ring_parts import RingPart
from tests.conformance.ring_wait_part import ReadersSleep, WriterSleeps
from tests.conformance.word_walks import Part

__all__ = ("LARGE", "RANDOM", "SMALL", "part_of")

R = frozenset[int]
Plan = tuple[Callable[[Any], Part], Any]

SMALL: dict[str, Plan] = {
    "a reader is given up, and another one comes": (RingPart, ring.Config(ranks=1, puts=1, joins=1, fenceable=R({0}))),
    "a reader is killed twice, and comes back twice": (
        RingPart,
        ring.Config(ranks=1, puts=1, joins=2, mortal=R({0, 1})),
    ),
    "a clear, which may be killed": (RingPart, ring.Config(ranks=1, puts=1, clears=1, mortal=R({2}))),
    "a put after a clear": (RingPart, ring.Config(ranks=1, puts=2, clears=1)),
    "a reader sleeps": (ReadersSleep, ring_wait.Config(mortal=R({0}))),
    "a bias is ended": (BiasPart, ring_bias_state.Config()),
}
LARGE: dict[str, Plan] = {
    "2 ranks": (RingPart, ring.Config(ranks=2, mortal=R({1, 2}))),
    "2 slots": (RingPart, ring.Config(ranks=1, slots=2, puts=4, mortal=R({1}))),
    "a reader comes back, the writer may be killed": (
        RingPart,
        ring.Config(ranks=1, puts=2, joins=1, mortal=R({0, 2})),
    ),
    "a reader is given up twice, and comes back twice": (
        RingPart,
        ring.Config(ranks=1, puts=1, joins=2, fenceable=R({0})),
    ),
    "2 clears, which may be killed": (RingPart, ring.Config(ranks=1, puts=2, clears=2, mortal=R({2}))),
    "a clear, and the writer may be killed": (RingPart, ring.Config(ranks=1, puts=2, clears=1, mortal=R({1, 2}))),
    "a clear, and a reader comes back": (RingPart, ring.Config(ranks=1, puts=1, joins=1, clears=1, fenceable=R({0}))),
    "a clear of 2 slots": (RingPart, ring.Config(ranks=1, slots=2, puts=2, clears=1, mortal=R({2}))),
    "2 readers sleep": (ReadersSleep, ring_wait.Config(sleepers=2, mortal=R({1}))),
    "a writer sleeps": (WriterSleeps, ring_wait.Config(mortal=R({0, 1}), decides=True)),
    "a biased process is killed, or interrupted": (BiasPart, ring_bias_state.Config(mortal=R({0}), cuts=True)),
    "who ends a bias has no barrier": (BiasPart, ring_bias_state.Config(mortal=R({0}), deaf=R({1}))),
    "a writer sleeps until 2 readers are done": (WriterSleeps, ring_wait.Config(tellers=2, decides=True)),
}

# Too large for every edge: random behaviours.
RANDOM: dict[str, Plan] = {
    "2 ranks, 2 slots, everything": (
        RingPart,
        ring.Config(ranks=2, slots=2, puts=12, joins=2, clears=3, mortal=R({0, 1, 2, 4, 5}), fenceable=R({0, 1})),
    ),
    "3 producers, 2 tokens, everything": (
        BiasPart,
        ring_bias_state.Config(writers=3, tokens=2, puts=40, mortal=R({0, 1}), stoppable=R({0}), cuts=True),
    ),
    "3 ranks, 1 slot": (RingPart, ring.Config(ranks=3, puts=8, joins=1, mortal=R({1}), fenceable=R({0}))),
}


def part_of(name: str) -> Part:
    """Return the part that drives a plan."""
    kind, config = {**SMALL, **LARGE, **RANDOM}[name]
    return kind(config)
