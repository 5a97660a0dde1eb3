"""The transfer protocol as ``spec/transfer.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents. What happens inside a rank (``Config.inside``) is left out where it is not seen: in recorded
runs of a host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from models import transfer_moves as moves
from models import transfer_properties as properties
from models.kernel import Action, Model, Step, each, once, replaced
from models.transfer_reports import STEPS
from models.transfer_state import (
    AWAY,
    CANCELLED,
    DEAD,
    FAILED,
    LIVE,
    LOST,
    QUEUED,
    STARTED,
    Config,
    Guards,
    Report,
    State,
    initial_state,
    numbers,
    reported,
)

__all__ = ("Config", "Guards", "Report", "State", "Transfer")

Steps: TypeAlias = Iterator[Step[State]]


class Transfer(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("transfer")
        ranks, clients = range(self.config.ranks), range(1, self.config.clients + 1)
        self.ranks = ranks

        def of_rank(name: str, step: Callable[[State, int], State | None]) -> Callable[[State], Steps]:
            return partial(each, name, "rank", ranks, step)

        def of_client(name: str, step: Callable[[State, int], State | None]) -> Callable[[State], Steps]:
            return partial(each, name, "client", clients, step)

        self.actions = {
            "Join": of_rank("Join", self.join),
            "Leave": of_rank("Leave", self.leave),
            "Crash": of_rank("Crash", self.crash),
            "Fence": self.fence,
            "Vanish": of_rank("Vanish", self.vanish),
            "Reappear": of_rank("Reappear", self.reappear),
            "Issue": self.issue,
            "Withdraw": of_client("Withdraw", self.withdraw),
            "Clear": partial(once, "Clear", self.clear),
            "Abandon": partial(self._by_number, "Abandon", self.abandon),
            "HandOut": of_client("HandOut", self.hand_out),
            "Acknowledge": of_client("Acknowledge", self.acknowledge),
            "Settled": self.settled,
            "Gone": of_client("Gone", self.client_gone),
            "Admit": of_rank("Admit", self.admit),
            "Accept": of_rank("Accept", self.accept),
            "Refuse": of_rank("Refuse", self.refuse),
            "Return": of_rank("Return", self.return_),
            "BackOff": of_rank("BackOff", self.back_off),
            "Release": of_rank("Release", self.release),
            "Start": partial(once, "Start", self.start),
            **{name: partial(self._of_task, name, partial(step, self.config)) for name, step in STEPS.items()},
            "Stop": partial(once, "Stop", partial(moves.stop, self.config)),
            "Order": of_rank("Order", partial(moves.order, self.config)),
            "Still": partial(once, "Still", moves.still),
            "Resume": partial(once, "Resume", moves.resume),
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nobody is there."""
        return (initial_state(self.config),)

    # -- life of the ranks ---------------------------------------------------------------------------------------

    def join(self, s: State, rank: int) -> State | None:
        """Somebody acts for the rank."""
        if s.status[rank] not in (AWAY, LOST):
            return None
        is_open = self.config.inside and s.phase == "run"
        return s._replace(status=replaced(s.status, rank, LIVE), open=replaced(s.open, rank, is_open))

    def leave(self, s: State, rank: int) -> State | None:
        """The rank goes: its loop when no job is left, or its handle at any time."""
        if rank not in self.config.leavers or s.status[rank] != LIVE or s.spare[rank] or s.jobs[rank]:
            return None
        s = moves.not_at(moves.lack(s, rank, STARTED), rank)
        return moves.leave_inside(s, rank)._replace(status=replaced(s.status, rank, AWAY))

    def crash(self, s: State, rank: int) -> State | None:
        """The process is gone, and writes nothing more; the host has not noticed."""
        if rank not in self.config.mortal or s.status[rank] != LIVE:
            return None
        return s._replace(status=replaced(s.status, rank, DEAD), running=replaced(s.running, rank, frozenset()))

    def fence(self, s: State) -> Steps:
        """The host notices that a process is gone."""
        return each("Fence", "rank", self.ranks, self.fence_of, s)

    def fence_of(self, s: State, rank: int) -> State | None:
        """What the rank has not reported fails, and so does what waits to start."""
        if s.status[rank] != DEAD:
            return None
        states = (QUEUED, STARTED) if self.guards.FenceFrees else ()
        s = moves.lack(s, rank, *states)
        if self.guards.FenceSettles:
            s = moves.not_at(s, rank)
        return moves.leave_inside(s, rank)._replace(status=replaced(s.status, rank, LOST))

    def vanish(self, s: State, rank: int) -> State | None:
        """A process ends that had not done anything here."""
        if rank not in self.config.silent or s.status[rank] != AWAY:
            return None
        states = (QUEUED,) if self.guards.FenceFrees else ()
        return moves.lack(s, rank, *states)._replace(status=replaced(s.status, rank, LOST))

    def reappear(self, s: State, rank: int) -> State | None:
        """A process acts for the rank again."""
        return s._replace(status=replaced(s.status, rank, AWAY)) if s.status[rank] == LOST else None

    # -- clients -------------------------------------------------------------------------------------------------

    def issue(self, s: State) -> Steps:
        """A client gives a task."""
        if self.config.max_issued is not None and len(s.state) >= self.config.max_issued:
            return
        if len(numbers(s, QUEUED)) >= self.config.capacity or LOST in s.status:
            return
        for client in range(1, self.config.clients + 1):
            if client in s.gone:
                continue
            for kind in range(1, self.config.kinds + 1):
                yield (
                    Action("Issue", (("client", client), ("kind", kind))),
                    s._replace(
                        owner=(*s.owner, client),
                        kind=(*s.kind, kind),
                        state=(*s.state, QUEUED),
                        reports=(*s.reports, frozenset()),
                        without=(*s.without, frozenset()),
                        busy=(*s.busy, frozenset()),
                    ),
                )

    def withdraw(self, s: State, client: int) -> State | None:
        """A client cancels those of its tasks that have not started."""
        states = (QUEUED,) if self.guards.KeepsStarted else (QUEUED, STARTED)
        mine = [number for number in numbers(s, *states) if s.owner[number - 1] == client]
        return moves.cancel(s, mine, tells=self.guards.WithdrawTells) if mine and client not in s.gone else None

    def clear(self, s: State) -> State | None:
        """Somebody cancels all tasks that have not started."""
        queued = numbers(s, QUEUED)
        return moves.cancel(s, queued, tells=self.guards.WithdrawTells) if queued else None

    def abandon(self, s: State, number: int) -> State | None:
        """A client does not wait any longer for a task that has started."""
        if s.owner[number - 1] not in self.config.impatient - s.gone or s.state[number - 1] != STARTED:
            return None
        missing = frozenset(self.ranks) - reported(s, number)
        busy = s.busy if self.guards.AbandonHolds else replaced(s.busy, number - 1, frozenset())
        return moves.end(s._replace(without=replaced(s.without, number - 1, missing), busy=busy), number, FAILED)

    def hand_out(self, s: State, client: int) -> State | None:
        """A client takes its next result; the one before was handled."""
        waiting = s.results[client - 1]
        if not waiting:
            return None
        after, number = moves.handle(s, client), waiting[0]
        held = s.held[client - 1] | ({number} if s.busy[number - 1] else frozenset())
        return after._replace(
            results=replaced(s.results, client - 1, waiting[1:]),
            hand=replaced(s.hand, client - 1, number),
            held=replaced(s.held, client - 1, held),
        )

    def acknowledge(self, s: State, client: int) -> State | None:
        """A client has handled what it took."""
        return moves.handle(s, client) if s.hand[client - 1] else None

    def settled(self, s: State) -> Steps:
        """A client is told that no rank is at a task any more whose result it has."""
        for client, held in enumerate(s.held, 1):
            for number in sorted(held):
                if not s.busy[number - 1]:
                    params = (("client", client), ("number", number))
                    yield Action("Settled", params), s._replace(held=replaced(s.held, client - 1, held - {number}))

    def client_gone(self, s: State, client: int) -> State | None:
        """A client is gone: nobody waits for its tasks."""
        if client not in self.config.frail - s.gone:
            return None
        queued = {number for number in numbers(s, QUEUED) if s.owner[number - 1] == client}
        state = tuple(CANCELLED if number in queued else old for number, old in enumerate(s.state, 1))
        return s._replace(
            state=state,
            results=replaced(s.results, client - 1, ()),
            hand=replaced(s.hand, client - 1, 0),
            held=replaced(s.held, client - 1, frozenset()),
            gone=s.gone | {client},
        )

    # -- from queued to started ----------------------------------------------------------------------------------

    def admit(self, s: State, rank: int) -> State | None:
        """A rank admits a job, for a task that it does not have yet."""
        if not self.config.inside or s.status[rank] != LIVE or not s.open[rank] or s.spare[rank]:
            return None
        return s._replace(spare=replaced(s.spare, rank, True))

    def accept(self, s: State, rank: int) -> State | None:
        """A rank that has admitted a job is ready for the next task."""
        if not self._is_ready(s, rank) or s.vote[rank] == "yes" or QUEUED not in s.state:
            return None
        return s._replace(vote=replaced(s.vote, rank, "yes"))

    def refuse(self, s: State, rank: int) -> State | None:
        """A rank that is pausing says so."""
        if s.status[rank] != LIVE or s.vote[rank] != "none" or s.spare[rank] or s.open[rank]:
            return None
        return s._replace(vote=replaced(s.vote, rank, "no"))

    def return_(self, s: State, rank: int) -> State | None:
        """A rank that had refused would be ready again, and there is nothing."""
        if not self._is_ready(s, rank) or s.vote[rank] != "no" or QUEUED in s.state:
            return None
        return s._replace(vote=replaced(s.vote, rank, "none"))

    def back_off(self, s: State, rank: int) -> State | None:
        """A rank stops waiting for the others."""
        if s.vote[rank] != "yes" or self._can_start(s):
            return None
        refused = "no" in s.vote and self.guards.RefusalFrees
        absent = any(status not in (LIVE, DEAD) for status in s.status)
        if not (self.config.hasty or refused or absent or QUEUED not in s.state):
            return None
        return s._replace(vote=replaced(s.vote, rank, "none"))

    def release(self, s: State, rank: int) -> State | None:
        """A rank ends the job that it had admitted for nothing."""
        if s.status[rank] != LIVE or not s.spare[rank] or s.vote[rank] == "yes":
            return None
        return s._replace(spare=replaced(s.spare, rank, False))

    def start(self, s: State) -> State | None:
        """All ranks begin the oldest task: at one point of the order, in all of them or in none."""
        if not self._can_start(s):
            return None
        number = numbers(s, QUEUED)[0]
        begin = [vote == "yes" for vote in s.vote]
        counts = self.config.inside and self.guards.StartCounts
        return s._replace(
            state=replaced(s.state, number - 1, STARTED),
            vote=tuple("none" if yes else vote for yes, vote in zip(begin, s.vote, strict=True)),
            spare=tuple(spare and not yes for yes, spare in zip(begin, s.spare, strict=True)),
            jobs=tuple(jobs | {number} if counts and yes else jobs for yes, jobs in zip(begin, s.jobs, strict=True)),
            busy=replaced(s.busy, number - 1, frozenset(self.ranks)),
            running=tuple(
                s.running[rank] | {number}
                if self.config.inside and begin[rank] and s.status[rank] == LIVE
                else s.running[rank]
                for rank in self.ranks
            ),
        )

    def _is_ready(self, s: State, rank: int) -> bool:
        return s.status[rank] == LIVE and (s.spare[rank] or not self.config.inside)

    def _can_start(self, s: State) -> bool:
        return QUEUED in s.state and (all if self.guards.Agreed else any)(vote == "yes" for vote in s.vote)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _by_number(self, name: str, step: Callable[[State, int], State | None], s: State) -> Steps:
        return each(name, "number", range(1, len(s.state) + 1), step, s)

    def _of_task(self, name: str, step: Callable[[State, int, int], State | None], s: State) -> Steps:
        for rank in self.ranks:
            for number in range(1, len(s.state) + 1):
                if (after := step(s, rank, number)) is not None:
                    yield Action(name, (("rank", rank), ("number", number))), after
