"""Drives every put of the model's graph, whole, and killed or stopped after each of its steps, through ``Producer``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from models.graph import build
from models.ring_place import Config, RingPlace, State
from tests.conformance.ring_calls import Driven, drive_calls
from tests.conformance.ring_place_bed import Bed
from tests.conformance.walks import Move, Steps, reachable_moves

__all__ = ("PLANS", "drive")

R = frozenset[int]

PLANS: dict[str, Config] = {
    "one is killed, the other one is stopped": Config(puts=2, mortal=R({0}), stoppable=R({1})),
    "3 processes, 2 are killed": Config(writers=3, mortal=R({0, 1})),
    "3 processes, 2 slots, one is stopped, and perhaps killed": Config(
        writers=3, slots=2, mortal=R({0, 1}), stoppable=R({1})
    ),
}


def moves_of(state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    """Yield the calls that a state allows, whole and cut after each step. Else only what is one step."""
    for action, after in steps[state]:
        edge: Move[State] = ((state, action, after),)
        if action.name == "Ask":
            yield from _puts(edge, action.params[0][1], steps)
        elif action.name in ("Kill", "Stop", "Read"):
            yield edge


def _puts(move: Move[State], process: int, steps: Steps[State]) -> Iterator[Move[State]]:
    while True:
        state = move[-1][2]
        if state.pc[process] == "idle":
            yield move
            return
        goes_on: Move[State] | None = None
        for action, after in steps[state]:
            edge = (state, action, after)
            if action.param("process") != process or action.name == "Read":
                continue
            if action.name in ("Kill", "Stop", "GiveUp"):
                yield (*move, edge)
            else:
                goes_on = (*move, edge)
        if goes_on is None:
            return
        move = goes_on


def _call(config: Config, bed: Bed, move: Move[State]) -> None:
    (_, first, asked), (_, last, _) = move[0], move[-1]
    who = first.params[0][1]
    if first.name == "Ask":
        cut = last.name in ("Kill", "Stop")
        bed.put(who, who * config.puts + asked.asked[who], len(move) - 2 if cut else None, last.name == "Stop")
    elif first.name == "Kill":
        bed.kill(who)
    elif first.name == "Read":
        bed.read()


def drive(config: Config) -> Driven:
    """Drive it. AssertionError: the code does something else than the model."""
    graph = build(RingPlace(config))
    moves = reachable_moves(graph, moves_of)
    return drive_calls(graph, moves, partial(Bed, config), partial(_call, config), _show)


def _show(move: Move[State]) -> list[str]:
    return [str(action) for _, action, _ in move]
