"""The control protocol as ``spec/control.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import control_properties as properties
from models.control_state import AWAY, DEAD, LIVE, LOST, Config, Given, Guards, State, initial_state
from models.kernel import Action, Model, Step, replaced

__all__ = ("Config", "Control", "Given", "Guards", "State")

Steps: TypeAlias = Iterator[Step[State]]


class Control(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("control")
        self.ranks = range(self.config.ranks)
        self.actions = {
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
            "Fence": self.fence,
            "Vanish": self.vanish,
            "Reappear": self.reappear,
            "Ask": self.ask,
            "Take": self.take,
            "Answer": self.answer,
            "RefuseLate": self.refuse_late,
            "Collect": self.collect,
            "EndLost": self.end_lost,
            "EndTimeout": self.end_timeout,
            "Withdraw": self.withdraw,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        return (initial_state(self.config),)

    # -- life of the ranks ---------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """Somebody acts for the rank."""
        for rank in self.ranks:
            if s.status[rank] in (AWAY, LOST):
                yield _by_rank("Join", rank), s._replace(status=replaced(s.status, rank, LIVE))

    def leave(self, s: State) -> Steps:
        """The rank goes; what it was doing stays undone."""
        for rank in sorted(self.config.leavers):
            if s.status[rank] == LIVE:
                undone = s.doing[rank]
                yield (
                    _by_rank("Leave", rank),
                    s._replace(
                        status=replaced(s.status, rank, AWAY),
                        without=_doom(s, rank, lambda number, undone=undone: number == undone),  # type: ignore[misc]
                        doing=replaced(s.doing, rank, 0),
                    ),
                )

    def crash(self, s: State) -> Steps:
        """The process is gone; the host has not noticed."""
        for rank in sorted(self.config.mortal):
            if s.status[rank] == LIVE:
                yield _by_rank("Crash", rank), s._replace(status=replaced(s.status, rank, DEAD))

    def fence(self, s: State) -> Steps:
        """The host notices: the rank will answer nothing that is open."""
        for rank in self.ranks:
            if s.status[rank] == DEAD:
                yield (
                    _by_rank("Fence", rank),
                    s._replace(
                        status=replaced(s.status, rank, LOST),
                        without=self._doomed(s, rank),
                        doing=replaced(s.doing, rank, 0),
                    ),
                )

    def vanish(self, s: State) -> Steps:
        """A process ends that had not taken anything."""
        for rank in sorted(self.config.silent):
            if s.status[rank] == AWAY:
                after = s._replace(status=replaced(s.status, rank, LOST), without=self._doomed(s, rank))
                yield _by_rank("Vanish", rank), after

    def reappear(self, s: State) -> Steps:
        """A process acts for the rank again."""
        for rank in self.ranks:
            if s.status[rank] == LOST:
                yield _by_rank("Reappear", rank), s._replace(status=replaced(s.status, rank, AWAY))

    def _doomed(self, s: State, rank: int) -> tuple[frozenset[int], ...]:
        return _doom(s, rank, lambda number: True) if self.guards.FenceDooms else s.without

    # -- requests ------------------------------------------------------------------------------------------------

    def ask(self, s: State) -> Steps:
        """A client asks all ranks."""
        if self.config.max_asked is not None and s.asked >= self.config.max_asked:
            return
        if s.state.count("open") >= self.config.capacity:
            return
        lost = [rank for rank in self.ranks if s.status[rank] == LOST] if self.guards.FenceDooms else []
        yield (
            Action("Ask"),
            s._replace(
                asked=s.asked + 1,
                state=(*s.state, "open"),
                answers=(*s.answers, frozenset()),
                without=(*s.without, frozenset(lost)),
            ),
        )

    def take(self, s: State) -> Steps:
        """An idle rank takes the next request."""
        for rank in self.ranks:
            if s.status[rank] != LIVE or s.doing[rank]:
                continue
            for number in range(s.served[rank] + 1, s.asked + 1):
                ended = self.guards.SkipsEnded and s.state[number - 1] != "open"
                if not ended and rank not in s.without[number - 1]:
                    after = s._replace(doing=replaced(s.doing, rank, number), served=replaced(s.served, rank, number))
                    yield _by_rank("Take", rank), after
                    break

    def _target(self, s: State, rank: int) -> int:
        """Where the rank's answer goes."""
        lacking = [
            number
            for number in range(1, s.asked + 1)
            if s.state[number - 1] == "open" and rank not in answered(s, number) and rank not in s.without[number - 1]
        ]
        return s.doing[rank] if self.guards.Keyed or not lacking else lacking[0]

    def answer(self, s: State) -> Steps:
        """A rank answers what it has done; its call may have arrived before its end."""
        for rank in self.ranks:
            if s.status[rank] not in (LIVE, DEAD) or not s.doing[rank]:
                continue
            index = self._target(s, rank) - 1
            refused = self.guards.LateRefused and s.state[index] != "open"
            if not refused and rank not in s.without[index]:
                given = s.answers[index] | {Given(rank, s.doing[rank])}
                after = s._replace(answers=replaced(s.answers, index, given), doing=replaced(s.doing, rank, 0))
                yield _by_rank("Answer", rank), after

    def refuse_late(self, s: State) -> Steps:
        """The request has ended meanwhile."""
        for rank in self.ranks:
            if s.status[rank] not in (LIVE, DEAD) or not s.doing[rank] or not self.guards.LateRefused:
                continue
            if s.state[self._target(s, rank) - 1] != "open":
                yield _by_rank("RefuseLate", rank), s._replace(doing=replaced(s.doing, rank, 0))

    def collect(self, s: State) -> Steps:
        """All have answered."""
        yield from self._end(s, "Collect", "done", lambda n: answered(s, n) == set(self.ranks))

    def end_lost(self, s: State) -> Steps:
        """All have answered but those that never will."""
        yield from self._end(s, "EndLost", "lost", lambda n: not self._awaited(s, n) and bool(s.without[n - 1]))

    def end_timeout(self, s: State) -> Steps:
        """The time is over."""
        if self.guards.TimeoutEnds:
            yield from self._end(s, "EndTimeout", "late", lambda n: bool(self._awaited(s, n)))

    def withdraw(self, s: State) -> Steps:
        """Nobody waits for the answers any more."""
        yield from self._end(s, "Withdraw", "withdrawn", lambda n: True)

    def _awaited(self, s: State, number: int) -> set[int]:
        return set(self.ranks) - answered(s, number) - s.without[number - 1]

    def _end(self, s: State, name: str, how: str, when: properties.ByNumber) -> Steps:
        for number in range(1, s.asked + 1):
            if s.state[number - 1] == "open" and when(number):
                yield Action(name, (("number", number),)), s._replace(state=replaced(s.state, number - 1, how))


def answered(s: State, number: int) -> set[int]:
    """Return the ranks that have answered a request."""
    return {given.rank for given in s.answers[number - 1]}


def _doom(s: State, rank: int, which: properties.ByNumber) -> tuple[frozenset[int], ...]:
    return tuple(
        without | {rank}
        if which(number) and s.state[number - 1] == "open" and rank not in answered(s, number)
        else without
        for number, without in enumerate(s.without, 1)
    )


def _by_rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))
