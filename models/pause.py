"""The pause protocol as ``spec/pause.toml`` has it: steps of ranks, of clients, and inside a rank.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import pause_properties as properties
from models.kernel import Action, Model, Step, replaced
from models.pause_state import AWAY, DEAD, KEEP, LIVE, LOST, Config, Guards, State, initial_state

__all__ = ("Config", "Guards", "Pause", "State", "expects", "still")

Steps: TypeAlias = Iterator[Step[State]]


class Pause(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("pause")
        self.ranks = range(self.config.ranks)
        self.clients = range(1, self.config.clients + 1)
        self.actions = {
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
            "Fence": self.fence,
            "CallPause": self.call_pause,
            "Take": self.take,
            "Admit": self.admit,
            "Done": self.done,
            "Park": self.park,
            "Quiet": self.report_quiet,
            "PauseReturns": self.pause_returns,
            "PauseEnded": self.pause_ended,
            "CallResume": self.call_resume,
            "CancelPause": self.cancel_pause,
            "ResumeReturns": self.resume_returns,
            "GiveUp": self.give_up,
            "Hold": self.hold,
            "LetGo": self.let_go,
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
        """A process joins for the rank: it knows the latest order."""
        for rank in self.ranks:
            if s.status[rank] in (AWAY, LOST):
                pause = s.phase == "pause"
                yield (
                    _by_rank("Join", rank),
                    s._replace(
                        status=replaced(s.status, rank, LIVE),
                        seen=replaced(s.seen, rank, s.order),
                        told=replaced(s.told, rank, s.mode),
                        running=replaced(s.running, rank, 0),
                        parked=replaced(s.parked, rank, 0),
                        gate=replaced(s.gate, rank, "shut" if pause and self.guards.JoinsShut else "open"),
                        quiet=s.quiet | {rank} if pause else s.quiet,
                    ),
                )

    def leave(self, s: State) -> Steps:
        """The rank has no job and goes."""
        for rank in sorted(self.config.leavers):
            if s.status[rank] == LIVE and s.running[rank] == s.parked[rank] == 0:
                yield (
                    _by_rank("Leave", rank),
                    s._replace(
                        status=replaced(s.status, rank, AWAY),
                        quiet=s.quiet - {rank},
                        gate=replaced(s.gate, rank, "shut"),
                    ),
                )

    def crash(self, s: State) -> Steps:
        """The process is gone, and its jobs with it; the host has not noticed."""
        for rank in sorted(self.config.mortal):
            if s.status[rank] == LIVE:
                yield (
                    _by_rank("Crash", rank),
                    s._replace(
                        status=replaced(s.status, rank, DEAD),
                        running=replaced(s.running, rank, 0),
                        parked=replaced(s.parked, rank, 0),
                        gate=replaced(s.gate, rank, "shut"),
                    ),
                )

    def fence(self, s: State) -> Steps:
        """The host notices."""
        for rank in self.ranks:
            if s.status[rank] == DEAD:
                after = s._replace(status=replaced(s.status, rank, LOST), quiet=s.quiet - {rank})
                yield _by_rank("Fence", rank), after

    # -- inside a rank -------------------------------------------------------------------------------------------

    def take(self, s: State) -> Steps:
        """An order arrives: the latest; without OldOrdersDropped also the one before it, however late."""
        for rank in self.ranks:
            if s.status[rank] != LIVE:
                continue
            for number in self._arriving(s, rank):
                phase = s.phase if number == s.order else "run"
                yield _by_rank("Take", rank), self.taken(s, rank, number, phase, s.mode)

    def taken(self, s: State, rank: int, number: int, phase: str, mode: int) -> State:
        """The state after a rank has done what an order says."""
        parks = phase == "pause" and mode == KEEP
        shut = "shut" if self.guards.TakeShuts else s.gate[rank]
        return s._replace(
            seen=replaced(s.seen, rank, number),
            told=replaced(s.told, rank, mode),
            gate=replaced(s.gate, rank, "open" if phase == "run" else shut),
            running=s.running if parks else replaced(s.running, rank, s.running[rank] + s.parked[rank]),
            parked=s.parked if parks else replaced(s.parked, rank, 0),
        )

    def _arriving(self, s: State, rank: int) -> Iterable[int]:
        if self.guards.OldOrdersDropped:
            return [s.order] if s.seen[rank] < s.order else []
        return [number for number in (s.order - 1, s.order) if number > 0 and number != s.seen[rank]]

    def admit(self, s: State) -> Steps:
        """A job begins to count."""
        most = self.config.max_jobs
        for rank in self.ranks:
            room = most is None or s.running[rank] + s.parked[rank] < most
            if s.status[rank] == LIVE and s.gate[rank] == "open" and room:
                yield _by_rank("Admit", rank), s._replace(running=replaced(s.running, rank, s.running[rank] + 1))

    def done(self, s: State) -> Steps:
        """A job ends, where it runs or where it is parked."""
        for rank in self.ranks:
            if s.running[rank] > 0:
                yield _by_rank("Done", rank), s._replace(running=replaced(s.running, rank, s.running[rank] - 1))
            if s.parked[rank] > 0:
                yield _by_rank("Done", rank), s._replace(parked=replaced(s.parked, rank, s.parked[rank] - 1))

    def park(self, s: State) -> Steps:
        """A job waits at a checkpoint."""
        for rank in self.ranks:
            shut = s.status[rank] == LIVE and s.gate[rank] == "shut" and s.told[rank] == KEEP
            if shut and s.running[rank] > 0:
                yield (
                    _by_rank("Park", rank),
                    s._replace(
                        running=replaced(s.running, rank, s.running[rank] - 1),
                        parked=replaced(s.parked, rank, s.parked[rank] + 1),
                    ),
                )

    # -- the host ------------------------------------------------------------------------------------------------

    def report_quiet(self, s: State) -> Steps:
        """The rank's report arrives."""
        for rank in self.ranks:
            current = s.phase == "pause" and s.seen[rank] == s.order and rank not in s.quiet
            if s.status[rank] == LIVE and current and s.running[rank] == 0:
                yield _by_rank("Quiet", rank), s._replace(quiet=s.quiet | {rank})

    def call_pause(self, s: State) -> Steps:
        """A client orders a pause, joins one, or makes one sharper."""
        for client in self.clients:
            if s.waiting[client - 1] != "idle":
                continue
            for mode in sorted(self.config.modes):
                begins = s.phase == "run"
                orders = begins or (not still(s, self.guards) and mode > s.mode)
                if orders and not self._may_order(s):
                    continue
                began = s.order + 1 if begins else s.began
                yield (
                    Action("CallPause", (("client", client), ("mode", mode))),
                    s._replace(
                        order=s.order + 1 if orders else s.order,
                        phase="pause",
                        mode=mode if orders else s.mode,
                        quiet=frozenset() if orders else s.quiet,
                        began=began,
                        waiting=replaced(s.waiting, client - 1, "pause"),
                        awaited=replaced(s.awaited, client - 1, began),
                    ),
                )

    def pause_returns(self, s: State) -> Steps:
        """The client is told that no job runs."""
        for client in self.clients:
            mine = s.waiting[client - 1] == "pause" and s.awaited[client - 1] == s.began
            if mine and still(s, self.guards):
                yield _by_client("PauseReturns", client), _returned(s, client)._replace(promised=True)

    def pause_ended(self, s: State) -> Steps:
        """The client is told that its pause is over."""
        for client in self.clients:
            over = s.phase == "run" or s.awaited[client - 1] != s.began
            if s.waiting[client - 1] == "pause" and over:
                yield _by_client("PauseEnded", client), _returned(s, client)

    def call_resume(self, s: State) -> Steps:
        """A client ends a pause that was reached and that nobody holds, or finds that there is none."""
        for client in self.clients:
            if s.waiting[client - 1] != "idle" or client in s.holders:
                continue
            if s.phase == "run":
                yield (
                    _by_client("CallResume", client),
                    s._replace(
                        waiting=replaced(s.waiting, client - 1, "resume"),
                        awaited=replaced(s.awaited, client - 1, s.order),
                    ),
                )
                continue
            told = still(s, self.guards) and not any(expects(s, other) for other in self.clients)
            rests = told or not self.guards.ResumeWaits
            free = not s.holders or not self.guards.HoldBlocks
            if rests and free and self._may_order(s):
                yield _by_client("CallResume", client), _to_run(s, client, "resume")

    def cancel_pause(self, s: State) -> Steps:
        """A client gives up a pause that has not been reached."""
        for client in self.clients:
            under_way = s.phase == "pause" and not still(s, self.guards)
            if s.waiting[client - 1] == "idle" and under_way and self._may_order(s):
                yield _by_client("CancelPause", client), _to_run(s, client, "cancel")

    def resume_returns(self, s: State) -> Steps:
        """The client is told that every rank has taken the order to run."""
        for client in self.clients:
            taken = all(s.seen[r] >= s.awaited[client - 1] for r in self.ranks if s.status[r] in (LIVE, DEAD))
            if s.waiting[client - 1] in ("resume", "cancel") and taken:
                yield _by_client("ResumeReturns", client), _returned(s, client)

    def give_up(self, s: State) -> Steps:
        """The call's time limit ends, or its client is gone. What was ordered stays ordered."""
        for client in sorted(self.config.impatient):
            if s.waiting[client - 1] != "idle":
                yield _by_client("GiveUp", client), _returned(s, client)

    def hold(self, s: State) -> Steps:
        """A client relies on the pause."""
        for client in self.clients:
            if s.waiting[client - 1] == "idle" and client not in s.holders and still(s, self.guards):
                yield _by_client("Hold", client), s._replace(holders=s.holders | {client})

    def let_go(self, s: State) -> Steps:
        """It has done what it held the pause for, or its process is gone."""
        for client in sorted(s.holders):
            yield _by_client("LetGo", client), s._replace(holders=s.holders - {client})

    def _may_order(self, s: State) -> bool:
        return self.config.max_orders is None or s.order < self.config.max_orders


def still(s: State, guards: Guards | None = None) -> bool:
    """Return True when a pause is in force and every rank that it waits for has reported."""
    chosen = guards or Guards()
    waited = (LIVE, DEAD) if chosen.FenceFrees else (LIVE, DEAD, LOST)
    needed = {rank for rank, status in enumerate(s.status) if status in waited and (chosen.AllRanks or rank == 0)}
    return s.phase == "pause" and needed <= s.quiet


def expects(s: State, client: int) -> bool:
    """Return True when the client waits for the present pause, and has not been told of it."""
    return s.waiting[client - 1] == "pause" and s.awaited[client - 1] == s.began


def _to_run(s: State, client: int, call: str) -> State:
    return s._replace(
        order=s.order + 1,
        phase="run",
        quiet=frozenset(),
        promised=False,
        waiting=replaced(s.waiting, client - 1, call),
        awaited=replaced(s.awaited, client - 1, s.order + 1),
    )


def _returned(s: State, client: int) -> State:
    return s._replace(waiting=replaced(s.waiting, client - 1, "idle"), awaited=replaced(s.awaited, client - 1, 0))


def _by_rank(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))


def _by_client(name: str, client: int) -> Action:
    return Action(name, (("client", client),))
