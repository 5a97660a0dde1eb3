"""The gate protocol as ``spec/gate.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar

from models import gate_properties as properties
from models.gate_state import AWAY, DEAD, HEIR, LIVE, LOST, Answer, Config, Guards, Round, State, initial_state
from models.kernel import Action, Model, Step, replaced

__all__ = ("Answer", "Config", "Gate", "Guards", "Round", "State")

Steps: TypeAlias = Iterator[Step[State]]
T = TypeVar("T")


class Gate(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        guards = self.config.guards
        self.name = guards.title("gate")
        self.guards = guards
        self.everyone = frozenset(range(self.config.ranks))
        self.actions = {
            "Issue": self.issue,
            "Skip": self.skip,
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
            "Fence": self.fence,
            "Vanish": self.vanish,
            "Reappear": self.reappear,
            "PutAnswer": self.put_answer,
            "RefuseLate": self.refuse_late,
            "Collect": self.collect,
            "EndLost": self.end_lost,
            "EndTimeout": self.end_timeout,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nothing was asked, and nobody is there."""
        return (initial_state(self.config),)

    # -- requests ------------------------------------------------------------------------------------------------

    def issue(self, s: State) -> Steps:
        """The engine asks all ranks; how the request reaches them is another protocol."""
        number = len(s.issued) + 1
        if self.config.max_issues is None or number > self.config.max_issues:
            return
        over = s.collected | s.ended
        for key in range(1, self.config.keys + 1):
            if self.config.overlap or all(i in over for i, other in enumerate(s.issued, 1) if other == key):
                todo = tuple(
                    mine if status == LOST else mine | {number} for mine, status in zip(s.todo, s.status, strict=True)
                )
                yield Action("Issue", (("key", key),)), s._replace(issued=(*s.issued, key), todo=todo)

    def next_of(self, s: State, rank: int) -> list[int]:
        """For each key the oldest request that the rank has before it: it answers those of one key in order."""
        oldest: dict[int, int] = {}
        for issue in sorted(s.todo[rank]):
            oldest.setdefault(s.issued[issue - 1], issue)
        return list(oldest.values())

    def skip(self, s: State) -> Steps:
        """A rank passes over a request."""
        for rank in sorted(self.config.skippers):
            if s.status[rank] == LIVE:
                for issue in self.next_of(s, rank):
                    yield _answer("Skip", rank, issue), self._done(s, rank, issue)

    # -- ranks ---------------------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """A handle claims a rank."""
        yield from self._become("Join", s, (AWAY, LOST), LIVE, self.everyone)

    def leave(self, s: State) -> Steps:
        """The handle of a rank closed."""
        yield from self._become("Leave", s, (LIVE,), AWAY, self.config.leavers)

    def crash(self, s: State) -> Steps:
        """The process of a rank is gone; the host has not noticed."""
        yield from self._become("Crash", s, (LIVE,), DEAD, self.config.mortal)

    def reappear(self, s: State) -> Steps:
        """A handle opens that may answer for a lost rank. The host has noticed the end of the process before it."""
        yield from self._become("Reappear", s, (LOST,), AWAY, self.everyone)
        if not self.guards.OpenFences:
            yield from self._become("Reappear", s, (DEAD,), HEIR, self.everyone)

    def fence(self, s: State) -> Steps:
        """The host notices: what the process has not answered it never will."""
        for action, after in self._become("Fence", s, (DEAD, HEIR), LOST, self.everyone):
            yield action, self._gone(after, action.params[0][1])

    def vanish(self, s: State) -> Steps:
        """The process of a rank is gone that has not answered yet."""
        for action, after in self._become("Vanish", s, (AWAY,), LOST, self.config.silent):
            rank = action.params[0][1]
            if self.guards.VanishLost:
                yield action, self._gone(after, rank)
            else:
                yield action, s._replace(todo=replaced(s.todo, rank, frozenset()))

    def _gone(self, s: State, rank: int) -> State:
        rounds, late = s.rounds, s.late
        if self.guards.FenceDooms:
            rounds = tuple(r if rank in r.answered else r._replace(without=r.without | {rank}) for r in rounds)
        if self.guards.FenceForgets:
            late = replaced(late, rank, ())
        return s._replace(rounds=rounds, late=late, todo=replaced(s.todo, rank, frozenset()))

    def _become(self, name: str, s: State, before: tuple[str, ...], after: str, who: frozenset[int]) -> Steps:
        for rank in sorted(who):
            if s.status[rank] in before:
                yield Action(name, (("rank", rank),)), s._replace(status=replaced(s.status, rank, after))

    # -- answers -------------------------------------------------------------------------------------------------

    def complete(self, round_: Round) -> bool:
        """Everybody has answered."""
        if self.guards.OnePerRank:
            return round_.answered == self.everyone
        return len(round_.answers) >= self.config.ranks

    def put_answer(self, s: State) -> Steps:
        """An answer joins the open round of its key, or opens one."""
        for rank, issue, key in self._answers(s):
            if not self._is_late(s, rank, key) and (rounds := self._put(s, rank, issue, key)) is not None:
                action = self._of("PutAnswer", rank, issue, key)
                yield action, self._done(s, rank, issue)._replace(rounds=rounds)

    def refuse_late(self, s: State) -> Steps:
        """A round with this key ended without the rank. If that was another request, the rank puts again."""
        for rank, issue, key in self._answers(s):
            if self._is_late(s, rank, key):
                at = s.late[rank].index(key)
                late = replaced(s.late, rank, s.late[rank][:at] + s.late[rank][at + 1 :])
                after = self._done(s, rank, issue) if issue in s.ended else s
                yield self._of("RefuseLate", rank, issue, key), after._replace(late=late)

    def _answers(self, s: State) -> Iterator[tuple[int, int, int]]:
        for rank, status in enumerate(s.status):
            if status not in (LIVE, DEAD):
                continue
            if self.config.max_issues is None:
                yield from ((rank, 0, key) for key in range(1, self.config.keys + 1))
            else:
                yield from ((rank, issue, s.issued[issue - 1]) for issue in self.next_of(s, rank))

    def _is_late(self, s: State, rank: int, key: int) -> bool:
        return self.guards.LateRefused and key in s.late[rank]

    def _put(self, s: State, rank: int, issue: int, key: int) -> tuple[Round, ...] | None:
        """The rounds with the answer; None when the rank has to wait."""
        keyed, once = self.guards.KeyedRounds, self.guards.OnePerRank
        for index, round_ in enumerate(s.rounds):
            fits = round_.key == key or not keyed
            second = once and rank in round_.answered
            if fits and not self.complete(round_) and not second and rank not in round_.without:
                return replaced(s.rounds, index, round_._replace(answers=round_.answers | {Answer(rank, issue)}))
        if (keyed and any(round_.key == key for round_ in s.rounds)) or len(s.rounds) >= self.config.capacity:
            return None
        lost = (rank for rank, status in enumerate(s.status) if status == LOST and self.guards.FenceDooms)
        return (*s.rounds, Round(key, frozenset({Answer(rank, issue)}), frozenset(lost)))

    def _done(self, s: State, rank: int, issue: int) -> State:
        return s._replace(todo=replaced(s.todo, rank, s.todo[rank] - {issue}))

    def _of(self, name: str, rank: int, issue: int, key: int) -> Action:
        if self.config.max_issues is None:
            return Action(name, (("rank", rank), ("key", key)))
        return _answer(name, rank, issue)

    # -- the engine ----------------------------------------------------------------------------------------------

    def settled(self, s: State) -> int | None:
        """The position of the oldest round that is settled."""
        rounds = s.rounds if self.guards.PassesPending else s.rounds[:1]
        return next((i for i, round_ in enumerate(rounds) if self.complete(round_) or round_.without), None)

    def collect(self, s: State) -> Steps:
        """The oldest settled round is complete, and taken."""
        if (at := self.settled(s)) is not None and self.complete(s.rounds[at]):
            collected = s.collected | s.rounds[at].issues
            yield Action("Collect"), s._replace(rounds=_drop(s.rounds, at), collected=collected)

    def end_lost(self, s: State) -> Steps:
        """The oldest settled round lacks a rank that was lost: it ends."""
        if (at := self.settled(s)) is not None and not self.complete(s.rounds[at]):
            yield Action("EndLost"), self._ended(s, at)

    def end_timeout(self, s: State) -> Steps:
        """The oldest round lacks an answer for too long: it ends."""
        if self.guards.TimeoutEnds and s.rounds and not self.complete(s.rounds[0]) and not s.rounds[0].without:
            yield Action("EndTimeout"), self._ended(s, 0)

    def _ended(self, s: State, at: int) -> State:
        round_ = s.rounds[at]
        fine = round_.answered | round_.without
        late = tuple(
            owed if rank in fine else (*owed, round_.key)[-self.config.max_late :] for rank, owed in enumerate(s.late)
        )
        return s._replace(rounds=_drop(s.rounds, at), ended=s.ended | round_.issues, late=late)


def _drop(values: tuple[T, ...], index: int) -> tuple[T, ...]:
    return values[:index] + values[index + 1 :]


def _answer(name: str, rank: int, issue: int) -> Action:
    return Action(name, (("rank", rank), ("issue", issue)))
