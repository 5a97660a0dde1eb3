"""Drives calls of processes on a ring in a folder of its own, in behaviours that together have every call."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import pytest

from models.graph import Graph
from tests.conformance.walks import Move, Moves, walks

__all__ = ("Driven", "drive_calls")

S = TypeVar("S", bound=tuple[Any, ...])


class Driven(NamedTuple):
    """What was driven."""

    states: int
    edges: int
    calls: int
    walks: int
    of: int


class _Bed(Protocol):
    def differs(self, state: Any, /) -> str:
        """Say what is not as in the model's state; "": nothing."""

    def close(self) -> None:
        """End all processes."""


B = TypeVar("B", bound=_Bed)


def drive_calls(
    graph: Graph[S],
    moves: Moves[S],
    make: Callable[[str, pytest.MonkeyPatch], B],
    call: Callable[[B, Move[S]], None],
    show: Callable[[Move[S]], object],
) -> Driven:
    """Make the calls of every behaviour on a new bed, and compare it with the model after each.

    Args:
        graph: The model's.
        moves: Its calls.
        make: Makes a bed in a folder.
        call: Makes the call of a move.
        show: Says what was called, for the error.

    Raises:
        AssertionError: The code does something else than the model.
    """
    (start,) = graph.initial
    edges, states, calls, count = set(), set(), 0, 0
    for walk in walks(start, moves):
        count += 1
        with tempfile.TemporaryDirectory(prefix="fdcomm-ring-", dir="/dev/shm") as folder:
            with pytest.MonkeyPatch.context() as patch:
                bed = make(folder, patch)
                try:
                    for number, move in enumerate(walk):
                        call(bed, move)
                        calls += 1
                        edges |= set(move)
                        states.add(move[-1][2])
                        if wrong := bed.differs(move[-1][2]):
                            done = "; ".join(str(show(one)) for one in walk[: number + 1])
                            raise AssertionError(f"{wrong} differ after {done}; the model: {move[-1][2]}")
                finally:
                    bed.close()
    return Driven(len(states), len(edges), calls, count, len(graph.edges))
