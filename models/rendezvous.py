"""What it means to meet; the twin of ``tla/common/Rendezvous.tla``, and what barriers are in its terms.

Members enter places; when the last one enters a place, all have met there and go on. Who waits may give up. The loss
of a member ends all waits, and none begins until it is back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, TypeAlias

from models import barrier_state as barrier
from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "Rendezvous", "State", "abstract", "image")

OUT, IN, DYING, LOST = "out", "in", "dying", "lost"
NOWHERE = -1


class State(NamedTuple):
    """All variables of the spec."""

    at: tuple[int, ...]
    met: tuple[tuple[int, ...], ...]
    member: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """Members 0 .. members-1, places 0 .. places-1."""

    members: int = 2
    places: int = 1
    most: int = 2

    def constants(self) -> dict[str, int | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "Members": frozenset(range(self.members)),
            "Places": frozenset(range(self.places)),
            "Most": self.most,
        }


Steps: TypeAlias = Iterator[Step[State]]


class Rendezvous(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.name = "rendezvous"
        self.config = config = config or Config()
        self.members = range(config.members)
        self.actions = {
            "Come": lambda s: self._become(s, "Come", (OUT, LOST), IN),
            "Go": lambda s: (
                (action, after._replace(at=replaced(after.at, action.params[0][1], NOWHERE)))
                for action, after in self._become(s, "Go", (IN,), OUT)
            ),
            "Die": lambda s: self._become(s, "Die", (IN,), DYING),
            "Lose": lambda s: (
                (action, after._replace(at=(NOWHERE,) * config.members))
                for action, after in self._become(s, "Lose", (DYING,), LOST)
            ),
            "Enter": self.enter,
            "Meet": self.meet,
            "GiveUp": self.give_up,
        }
        self.invariants = {
            "Together": lambda s: len(set(s.met)) == 1,
            "NotAllWait": lambda s: NOWHERE in s.at,
            "NoGhost": lambda s: all(
                place == NOWHERE or life in (IN, DYING) for place, life in zip(s.at, s.member, strict=True)
            ),
            "LossEndsWaits": lambda s: LOST not in s.member or set(s.at) == {NOWHERE},
        }
        self.action_properties = {}
        self.sometimes = {"all have met everywhere": lambda s: all(set(counts) == {config.most} for counts in s.met)}
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        n = self.config.members
        return (State((NOWHERE,) * n, ((0,) * self.config.places,) * n, (OUT,) * n),)

    def _may_enter(self, s: State) -> Iterator[tuple[int, int, tuple[tuple[str, int], ...]]]:
        if LOST in s.member:
            return
        for m in self.members:
            for place in range(self.config.places):
                if s.at[m] == NOWHERE and s.member[m] in (IN, DYING) and s.met[m][place] < self.config.most:
                    yield m, place, (("rank", m), ("place", place))

    def enter(self, s: State) -> Steps:
        """A member waits, and somebody else does not."""
        for m, place, params in self._may_enter(s):
            if any(s.at[q] == NOWHERE for q in self.members if q != m):
                yield Action("Enter", params), s._replace(at=replaced(s.at, m, place))

    def meet(self, s: State) -> Steps:
        """The last one enters: all go on."""
        for m, place, params in self._may_enter(s):
            if all(s.at[q] == place for q in self.members if q != m):
                met = tuple(replaced(counts, place, counts[place] + 1) for counts in s.met)
                yield Action("Meet", params), s._replace(at=(NOWHERE,) * len(s.at), met=met)

    def give_up(self, s: State) -> Steps:
        """Some of those who wait do so no longer."""
        waiting = [m for m in self.members if s.at[m] != NOWHERE]
        for size in range(1, len(waiting) + 1):
            for some in combinations(waiting, size):
                at = tuple(NOWHERE if m in some else place for m, place in enumerate(s.at))
                yield Action("GiveUp", tuple(("rank", m) for m in some)), s._replace(at=at)

    def _become(self, s: State, name: str, before: tuple[str, ...], after: str) -> Steps:
        for m in self.members:
            if s.member[m] in before:
                yield Action(name, (("rank", m),)), s._replace(member=replaced(s.member, m, after))


def abstract(config: barrier.Config) -> Rendezvous:
    """Return the rendezvous that barriers refine under a (bounded) configuration."""
    if config.max_rounds is None:
        raise ValueError("refinement is checked on bounded configurations")
    return Rendezvous(Config(config.ranks, config.barriers, config.max_rounds))


_MEMBER = {barrier.AWAY: OUT, barrier.LIVE: IN, barrier.DEAD: DYING, barrier.LOST: LOST}


def image(s: barrier.State) -> State:
    """Return what a state of the barriers is as a rendezvous."""
    places = {a.rank: number for number, there in enumerate(s.arrived) for a in there}
    return State(
        at=tuple(places.get(rank, NOWHERE) for rank in range(len(s.status))),
        met=s.passed,
        member=tuple(_MEMBER[status] for status in s.status),
    )
