"""What a reader of the status word sees of rearrangements (``tla/common/Handshake.tla``, ``RearrangeRefines.tla``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from models import rearrange
from models.kernel import Action, Model, Step

__all__ = ("WORDS", "Handshake", "State", "image")

WORDS = {"FREE": 0, "ASKED": 1, "DOING": 1, "LOAD_SUCC": 2, "UPDATING": 2, "DONE": 3}


class State(NamedTuple):
    """The status word, and how many requests there have been."""

    word: int
    asked: int


class Handshake(Model[State]):
    """One request at a time; one that fails goes back to free, but not once it is done."""

    def __init__(self, most: int) -> None:
        self.name = "handshake"
        self.most = most
        self.actions = {
            "Start": lambda s: self._from(s, "Start", (0,), 1),
            "Loads": lambda s: self._from(s, "Loads", (1,), 2),
            "Finish": lambda s: self._from(s, "Finish", (2,), 3),
            "Fail": lambda s: self._from(s, "Fail", (1, 2), 0),
            "Release": lambda s: self._from(s, "Release", (3,), 0),
        }
        self.invariants = {}
        self.action_properties = {}
        self.sometimes = {}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Free."""
        return (State(0, 0),)

    def _from(self, s: State, name: str, words: tuple[int, ...], after: int) -> Iterator[Step[State]]:
        asked = s.asked + (name == "Start")
        if s.word in words and asked <= self.most:
            yield Action(name), State(after, asked)


def image(s: rearrange.State) -> State:
    """Return what a state of rearrange is to the reader."""
    return State(WORDS[s.phase], s.running)
