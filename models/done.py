"""The done queue: results are handed to one taker each; the twin of ``tla/bitmask/Done.tla``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from models.kernel import Action, Model, Step

__all__ = ("Config", "Done", "State", "empty")


class State(NamedTuple):
    """All variables of the spec. ``handled`` is history."""

    results: tuple[int, ...]
    inHand: tuple[tuple[int, ...], ...]
    handled: frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec; takers are 0 .. takers-1. None: unbounded, for recorded runs."""

    takers: int = 2
    max_done: int | None = 3
    most: int | None = 2
    counts_in_hand: bool = True

    def constants(self) -> dict[str, int | bool | frozenset[int] | None]:
        """Return the constants under their names in the spec."""
        takers = frozenset(range(self.takers))
        return {"Takers": takers, "MaxDone": self.max_done, "Most": self.most, "CountsInHand": self.counts_in_hand}


def posted(s: State) -> int:
    """Return how many results were posted: they are numbered."""
    return len(s.results) + sum(map(len, s.inHand)) + len(s.handled)


def empty(s: State, *, counts_in_hand: bool = True) -> bool:
    """Return the answer of result_queue_empty."""
    return not s.results and not (counts_in_hand and any(s.inHand))


class Done(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None, asked: Iterable[int] = ()) -> None:
        """Without a bound on what a call takes, ``asked`` has the numbers that calls may ask for."""
        self.config = config = config or Config()
        self.asked = range(1, config.most + 1) if config.most is not None else sorted(set(asked))
        self.name = "done queue"
        self.actions = {"Post": self.post, "Take": self.take, "Gone": self.gone}
        self.invariants = {
            "TypeOK": lambda s: config.most is None or all(len(held) <= config.most for held in s.inHand),
            "OnePlace": self._one_place,
            "EmptyMeansHandled": lambda s: (
                not empty(s, counts_in_hand=config.counts_in_hand) or len(s.handled) == posted(s)
            ),
        }
        self.action_properties = {}
        self.sometimes = {
            "nothing is queued and a result is in hand": lambda s: not s.results and any(s.inHand),
            "all is handled": lambda s: posted(s) > 0 and empty(s),
        }
        if config.takers > 1:
            self.sometimes["two takers have results"] = lambda s: sum(map(bool, s.inHand)) > 1
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was posted."""
        return (State((), ((),) * self.config.takers, frozenset()),)

    def post(self, s: State) -> Iterator[Step[State]]:
        """A result is queued."""
        if self.config.max_done is None or posted(s) < self.config.max_done:
            yield Action("Post"), s._replace(results=(*s.results, posted(s) + 1))

    def take(self, s: State) -> Iterator[Step[State]]:
        """A taker comes back from what it had, and is given what there is, up to what it asks for."""
        for taker in range(self.config.takers):
            for most in self.asked:
                back = _release(s, taker)
                held = (*back.inHand[:taker], s.results[:most], *back.inHand[taker + 1 :])
                yield (
                    Action("Take", (("taker", taker), ("most", most))),
                    back._replace(results=s.results[most:], inHand=held),
                )

    def gone(self, s: State) -> Iterator[Step[State]]:
        """A taker closed, or its process ended: nobody has what it had."""
        for taker, held in enumerate(s.inHand):
            if held:
                yield Action("Gone", (("taker", taker),)), _release(s, taker)

    def _one_place(self, s: State) -> bool:
        held = [number for numbers in s.inHand for number in numbers]
        everything = [*s.results, *held, *s.handled]
        out = {*held, *s.handled}
        return sorted(everything) == list(range(1, len(everything) + 1)) and all(
            number < left for number in out for left in s.results
        )


def _release(s: State, taker: int) -> State:
    held = (*s.inHand[:taker], (), *s.inHand[taker + 1 :])
    return s._replace(handled=s.handled | {*s.inHand[taker]}, inHand=held)
