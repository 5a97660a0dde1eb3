"""The barrier protocol as ``spec/barrier.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import barrier_properties as properties
from models.barrier_state import (
    AWAY,
    DEAD,
    LIVE,
    LOST,
    UNSAID,
    Arrival,
    Config,
    Guards,
    State,
    initial_state,
)
from models.kernel import Action, Model, Step, replaced

__all__ = ("Arrival", "Barrier", "Config", "Guards", "State")

Steps: TypeAlias = Iterator[Step[State]]


class Barrier(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        guards = self.config.guards
        self.name = guards.title("barrier")
        self.guards = guards
        self.ranks = range(self.config.ranks)
        self.barriers = range(self.config.barriers)
        self.actions = {
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
            "Fence": self.fence,
            "Arrive": lambda s: self._waits(s, "Arrive"),
            "Pass": lambda s: self._waits(s, "Pass"),
            "Mismatch": lambda s: self._waits(s, "Mismatch"),
            "Refuse": self.refuse,
            "Timeout": self.timeout,
            "Abort": self.abort,
            "Reset": self.reset,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        return (initial_state(self.config),)

    # -- ranks ---------------------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """Somebody acts for the rank."""
        yield from self._become(s, "Join", (AWAY, LOST), LIVE, frozenset(self.ranks))

    def leave(self, s: State) -> Steps:
        """The rank's handle closed; a wait of another thread goes with it."""
        for action, after in self._become(s, "Leave", (LIVE,), AWAY, self.config.leavers):
            yield action, after._replace(arrived=_without(s, action.params[0][1]))

    def crash(self, s: State) -> Steps:
        """The rank's process is gone; the host has not noticed."""
        yield from self._become(s, "Crash", (LIVE,), DEAD, self.config.mortal)

    def fence(self, s: State) -> Steps:
        """The host notices: no round can complete, so every wait ends."""
        for action, after in self._become(s, "Fence", (DEAD,), LOST, frozenset(self.ranks)):
            gone = action.params[0][1]
            kept = tuple(tuple(a for a in there if self._outlives(a, gone)) for there in s.arrived)
            yield action, after._replace(arrived=kept)

    def _outlives(self, arrival: Arrival, gone: int) -> bool:
        return not (self.guards.FenceWithdraws if arrival.rank == gone else self.guards.FenceWakes)

    def _become(self, s: State, name: str, before: tuple[str, ...], to: str, who: frozenset[int]) -> Steps:
        for rank in self.ranks:
            if s.status[rank] in before and rank in who:
                yield Action(name, (("rank", rank),)), s._replace(status=replaced(s.status, rank, to))

    # -- waits ---------------------------------------------------------------------------------------------------

    def rounds(self, s: State) -> Iterable[int]:
        """What a wait may say about its round."""
        if not self.config.named:
            return (UNSAID,)
        most = self.config.max_rounds
        return range(UNSAID, (max(s.generation) + 1 if most is None else most) + 1)

    def may_arrive(self, s: State, rank: int) -> bool:
        """Return True when a wait of the rank is possible: its call may have arrived before its death."""
        return s.status[rank] in (LIVE, DEAD) and not (self.guards.OneWaitPerRank and waits(s, rank))

    def refused(self, s: State, barrier: int, number: int) -> bool:
        """A rank is lost, the barrier is aborted, or the round is over."""
        over = self.guards.RoundsChecked and UNSAID != number < s.generation[barrier]
        return LOST in s.status or s.broken[barrier] or over

    def outcome(self, s: State, rank: int, barrier: int, label: int, number: int) -> str:
        """What becomes of a wait that is not refused."""
        guards, there = self.guards, s.arrived[barrier]
        last = len(there) == self.config.ranks - 1 or (not guards.RoundsCount and s.generation[barrier] > 0)
        if guards.RoundsChecked and number > s.generation[barrier]:
            return "Mismatch"
        if guards.LabelsChecked and any(a.label != label for a in there):
            return "Mismatch"
        if last:
            return "Pass"
        others = [other for other in self.ranks if other != rank]
        if guards.CrossWaitFound and all(waits(s, other) for other in others):
            return "Mismatch"
        return "Arrive"

    def _waits(self, s: State, name: str) -> Steps:
        most = self.config.max_rounds
        for rank in self.ranks:
            if not self.may_arrive(s, rank):
                continue
            for barrier in self.barriers:
                if most is not None and s.generation[barrier] >= most:
                    continue
                for label in range(self.config.labels):
                    for number in self.rounds(s):
                        if self.refused(s, barrier, number):
                            continue
                        if self.outcome(s, rank, barrier, label, number) == name:
                            yield self._wait(s, name, rank, barrier, label, number)

    def _wait(self, s: State, name: str, rank: int, barrier: int, label: int, number: int) -> Step[State]:
        action = Action(name, (("rank", rank), ("barrier", barrier), ("label", label), ("round", number)))
        there = s.arrived[barrier]
        if name == "Arrive":
            now = (*there, Arrival(rank, label, number))
            return action, s._replace(arrived=replaced(s.arrived, barrier, now))
        if name == "Mismatch":
            return action, s._replace(arrived=((),) * len(s.arrived))
        met = {rank, *(a.rank for a in there)}
        return action, s._replace(
            generation=replaced(s.generation, barrier, s.generation[barrier] + 1),
            arrived=replaced(s.arrived, barrier, ()),
            passed=tuple(
                replaced(counts, barrier, counts[barrier] + 1) if who in met else counts
                for who, counts in enumerate(s.passed)
            ),
        )

    def refuse(self, s: State) -> Steps:
        """A wait that cannot begin. Nothing changes."""
        for rank in self.ranks:
            if not self.may_arrive(s, rank):
                continue
            for barrier in self.barriers:
                for number in self.rounds(s):
                    if self.refused(s, barrier, number):
                        yield Action("Refuse", (("rank", rank), ("barrier", barrier), ("round", number))), s

    def timeout(self, s: State) -> Steps:
        """A rank gives up its wait. The others go on waiting."""
        for rank in self.ranks:
            if s.status[rank] in (LIVE, DEAD) and waits(s, rank):
                yield Action("Timeout", (("rank", rank),)), s._replace(arrived=_without(s, rank))

    # -- abort, reset --------------------------------------------------------------------------------------------

    def abort(self, s: State) -> Steps:
        """The waits at a barrier end, and new ones are refused."""
        most = self.config.max_aborts
        for barrier in self.barriers:
            if not s.broken[barrier] and (most is None or s.aborts[barrier] < most):
                yield (
                    Action("Abort", (("barrier", barrier),)),
                    s._replace(
                        broken=replaced(s.broken, barrier, True),
                        aborts=replaced(s.aborts, barrier, s.aborts[barrier] + 1),
                        arrived=replaced(s.arrived, barrier, ()),
                    ),
                )

    def reset(self, s: State) -> Steps:
        """An abort is undone by who was told of it."""
        for barrier in self.barriers:
            newest = s.aborts[barrier]
            if s.broken[barrier]:
                for number in (newest,) if self.guards.ResetNamesAbort else range(newest + 1):
                    yield (
                        _reset(barrier, number),
                        s._replace(
                            broken=replaced(s.broken, barrier, False),
                            undone=replaced(s.undone, barrier, number),
                        ),
                    )
            elif s.arrived[barrier] and not self.guards.ResetHarmless:
                yield _reset(barrier, 0), s._replace(arrived=replaced(s.arrived, barrier, ()))


def waits(s: State, rank: int) -> bool:
    """Return True when the rank waits somewhere."""
    return any(a.rank == rank for there in s.arrived for a in there)


def _reset(barrier: int, number: int) -> Action:
    return Action("Reset", (("barrier", barrier), ("abort", number)))


def _without(s: State, rank: int) -> tuple[tuple[Arrival, ...], ...]:
    return tuple(tuple(a for a in there if a.rank != rank) for there in s.arrived)
