"""Drives every call of the model's graph, whole and killed after each of its steps, through the ring's segments."""

from __future__ import annotations

import tempfile
from functools import partial
from typing import NamedTuple

import pytest

from models.graph import build
from models.ring_overflow import Config, RingOverflow
from tests.conformance.ring_overflow_bed import Bed
from tests.conformance.ring_overflow_moves import call_of, effects, moves_of
from tests.conformance.walks import reachable_moves, walks

__all__ = ("PLANS", "Driven", "drive")

R = frozenset[int]

PLANS: dict[str, Config] = {
    "a reader is given up, and another one comes": Config(
        segments=2, larger=R({2}), back=True, fenceable=R({0}), mortal=R({1})
    ),
    "one writer leaves, the other one is killed": Config(writers=2, leavers=R({0}), mortal=R({1})),
    "2 slots, 2 writers, one leaves": Config(writers=2, slots=2, leavers=R({0})),
}


class Driven(NamedTuple):
    """What was driven."""

    states: int
    edges: int
    calls: int
    walks: int
    of: int


def drive(config: Config) -> Driven:
    """Drive it. AssertionError: the code does something else than the model."""
    model = RingOverflow(config)
    graph = build(model)
    moves = reachable_moves(graph, partial(moves_of, model))
    (start,) = graph.initial
    edges, states, calls, count = set(), set(), 0, 0
    for walk in walks(start, moves):
        count += 1
        with tempfile.TemporaryDirectory(prefix="fdcomm-segments-", dir="/dev/shm") as folder:
            with pytest.MonkeyPatch.context() as patch:
                bed = Bed(config, folder, patch)
                try:
                    for number, move in enumerate(walk):
                        what, who, killed = call_of(move)
                        bed.call(what, who, effects(move) if killed else None)
                        calls += 1
                        edges |= set(move)
                        states.add(move[-1][2])
                        if wrong := bed.differs(move[-1][2]):
                            done = "; ".join(
                                f"{call_of(one)} {[str(step[1]) for step in one]}" for one in walk[: number + 1]
                            )
                            raise AssertionError(f"{wrong} differ after {done}; the model: {move[-1][2]}")
                finally:
                    bed.close()
    return Driven(len(states), len(edges), calls, count, len(graph.edges))
