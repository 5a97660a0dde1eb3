"""The configurations under which the code of typed access is driven, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models import word, word_counter, word_lock, word_sequence
from tests.conformance.word_lock_part import LockPart
from tests.conformance.word_parts import CounterPart, SequencePart, WordPart
from tests.conformance.word_walks import Part

__all__ = ("LARGE", "RANDOM", "SMALL", "part_of")

R = frozenset[int]
Plan = tuple[Callable[[Any], Part], Any]

SMALL: dict[str, Plan] = {
    "set and wait": (WordPart, word.Config(sets=1, limited=True, mortal=R({0, 1}))),
    "add, compare and set": (CounterPart, word_counter.Config(2, 1, 1, R({0, 2}))),
    "write and read as one": (SequencePart, word_sequence.Config(mortal=R({0}))),
    "lock": (LockPart, word_lock.Config(processes=3, mortal=R({1}))),
}
LARGE: dict[str, Plan] = {
    "set twice": (WordPart, word.Config(limited=True)),
    "superseded": (WordPart, word.Config(sets=1, supersede=True)),
    "2 writers": (SequencePart, word_sequence.Config(writers=2, mortal=R({0}))),
    "lock, shared": (LockPart, word_lock.Config(processes=3, clearers=R({0, 1}), sharers=R({0, 2}))),
}

# Too large for every edge: random behaviours.
RANDOM: dict[str, Plan] = {
    "2 set 8 times, 2 wait": (WordPart, word.Config(2, 2, 8, supersede=True, mortal=R({1, 3}))),
    "3 add, 2 compare and set": (CounterPart, word_counter.Config(3, 2, 4, R({0, 4}))),
    "3 write 3 cells, 2 read": (SequencePart, word_sequence.Config(3, 2, 3, 3, mortal=R({0, 1}))),
    "4 lock, 2 of them shared": (
        LockPart,
        word_lock.Config(4, 4, sharers=R({0, 2}), clearers=R({0, 1, 2}), mortal=R({1, 2})),
    ),
}


def part_of(name: str) -> Part:
    """Return the part that drives a plan."""
    kind, config = {**SMALL, **LARGE, **RANDOM}[name]
    return kind(config)
