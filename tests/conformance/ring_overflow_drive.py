"""Drives every call of the model's graph, whole and killed after each of its steps, through the ring's segments."""

from __future__ import annotations

from functools import partial

from models.graph import build
from models.ring_overflow import Config, RingOverflow, State
from tests.conformance.ring_calls import Driven, drive_calls
from tests.conformance.ring_overflow_bed import Bed
from tests.conformance.ring_overflow_moves import call_of, effects, moves_of
from tests.conformance.walks import Move, reachable_moves

__all__ = ("PLANS", "drive")

R = frozenset[int]

PLANS: dict[str, Config] = {
    "a reader is given up, and another one comes": Config(
        segments=2, larger=R({2}), back=True, fenceable=R({0}), mortal=R({1})
    ),
    "one writer leaves, the other one is killed": Config(writers=2, leavers=R({0}), mortal=R({1})),
    "2 slots, 2 writers, one leaves": Config(writers=2, slots=2, leavers=R({0})),
}


def drive(config: Config) -> Driven:
    """Drive it. AssertionError: the code does something else than the model."""
    model = RingOverflow(config)
    graph = build(model)
    moves = reachable_moves(graph, partial(moves_of, model))
    return drive_calls(graph, moves, partial(Bed, config), _call, _show)


def _call(bed: Bed, move: Move[State]) -> None:
    what, who, killed = call_of(move)
    bed.call(what, who, effects(move) if killed else None)


def _show(move: Move[State]) -> str:
    return f"{call_of(move)} {[str(action) for _, action, _ in move]}"
