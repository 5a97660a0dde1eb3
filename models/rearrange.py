"""The rearrange protocol as ``spec/rearrange.toml`` has it: one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents. The loader of rank r is party r, its worker is party ``ranks + r``, the coordinator is party
``2 * ranks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import rearrange_properties as properties
from models.kernel import Action, Model, Step, replaced
from models.rearrange_state import AWAY, DEAD, LIVE, Config, Guards, State, initial_state

__all__ = ("Config", "Guards", "Rearrange", "State")

Steps: TypeAlias = Iterator[Step[State]]


class Rearrange(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        guards = self.config.guards
        self.name = guards.title("rearrange")
        self.guards = guards
        self.ranks = range(self.config.ranks)
        self.peers = range(1, self.config.peers + 1)
        self.actions = {
            "Join": self.join,
            "Leave": self.leave,
            "Crash": self.crash,
            "Fence": self.fence,
            "Request": self.request,
            "Take": self.take,
            "BeginLoad": self.begin_load,
            "PeerReady": self.peer_ready,
            "PeerFailed": self.peer_failed,
            "DeclareLoaded": self.declare_loaded,
            "CallOff": self.call_off,
            "TakeLoad": self.take_load,
            "ReportOk": self.report_ok,
            "ReportFailed": self.report_failed,
            "RefuseReport": self.refuse_report,
            "Update": self.update,
            "Arrive": self.arrive,
            "Withdraw": self.withdraw,
            "Updated": self.updated,
            "Free": self.free,
            "EndTimeout": self.end_timeout,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nothing was asked."""
        return (initial_state(self.config),)

    # -- parties -------------------------------------------------------------------------------------------------

    def join(self, s: State) -> Steps:
        """A process claims to be a party."""
        yield from self._become("Join", s, AWAY, LIVE)

    def crash(self, s: State) -> Steps:
        """A process is gone; the host has not noticed."""
        for action, after in self._become("Crash", s, LIVE, DEAD):
            if action.params[0][1] in self.config.movers:
                yield action, after

    def leave(self, s: State) -> Steps:
        """A party closes its handle."""
        for action, after in self._become("Leave", s, LIVE, AWAY):
            if action.params[0][1] in self.config.movers:
                yield action, self._part(s, after, action.params[0][1])

    def fence(self, s: State) -> Steps:
        """The host notices that a process is gone."""
        for action, after in self._become("Fence", s, DEAD, AWAY):
            yield action, self._part(s, after, action.params[0][1])

    def _become(self, name: str, s: State, before: str, after: str) -> Steps:
        for party, status in enumerate(s.status):
            if status == before:
                yield Action(name, (("party", party),)), s._replace(status=replaced(s.status, party, after))

    def _part(self, s: State, after: State, party: int) -> State:
        """What becomes of the running request, and of the rank, without the party."""
        n = self.config.ranks
        needed = s.phase == "DOING" or (
            s.phase in ("LOAD_SUCC", "UPDATING") and party != self.config.coordinator and not s.committed
        )
        if party < n:
            after = after._replace(job=replaced(s.job, party, 0))
            if s.swap[party] == 0:
                after = after._replace(table=replaced(s.table, party, 0))
        elif party < 2 * n:
            rank = party - n
            after = after._replace(swap=replaced(s.swap, rank, 0))
            if s.swap[rank]:
                after = after._replace(table=replaced(s.table, rank, 0))
        if not self.guards.FenceEnds:
            return after
        if needed:
            return _end(after, "lost")
        if n <= party < 2 * n and s.worker[party - n] == "swap":
            others = [w for rank, w in enumerate(s.worker) if rank != party - n]
            if "swap" in others:
                return after._replace(worker=replaced(s.worker, party - n, "lost"))
            return _end(after, "lost")
        return after

    def _may(self, s: State, party: int) -> bool:
        """A party that has died may still be served: its call had arrived."""
        return s.status[party] in (LIVE, DEAD)

    def _coordinates(self, s: State, phase: str) -> bool:
        return self._may(s, self.config.coordinator) and s.phase == phase

    # -- the request and its coordinator -------------------------------------------------------------------------

    def request(self, s: State) -> Steps:
        """Somebody asks for a rearrangement."""
        most = self.config.max_requests
        if most is not None and s.running >= most:
            return
        if s.phase == "FREE" or (not self.guards.OneAtATime and s.phase != "DONE"):
            after = _fresh(s, "ASKED")._replace(outcome=(*s.outcome, "open"))
            if most is not None:
                yield Action("Request"), after
                return
            for named in range(len(self.peers) + 1):  # the others count as reached
                reached = frozenset(range(named + 1, len(self.peers) + 1))
                yield Action("Request", (("addresses", named),)), after._replace(reached=reached)

    def take(self, s: State) -> Steps:
        """The coordinator takes the request."""
        if self._coordinates(s, "ASKED"):
            yield Action("Take"), s._replace(phase="DOING")

    def begin_load(self, s: State) -> Steps:
        """The coordinator tells every rank to load."""
        if self._coordinates(s, "DOING") and set(s.load) == {"none"}:
            yield Action("BeginLoad"), s._replace(load=("asked",) * len(s.load))

    def peer_ready(self, s: State) -> Steps:
        """An address has done its part."""
        if self._coordinates(s, "DOING"):
            for peer in self.peers:
                if peer not in s.reached:
                    yield Action("PeerReady", (("peer", peer),)), s._replace(reached=s.reached | {peer})

    def peer_failed(self, s: State) -> Steps:
        """An address is out of reach, or has failed."""
        if self._coordinates(s, "DOING"):
            for peer in sorted(self.config.deaf - s.reached):
                yield Action("PeerFailed", (("peer", peer),)), _end(s, "failed")

    def declare_loaded(self, s: State) -> Steps:
        """The coordinator has seen that all have loaded."""
        all_reached = s.reached == set(self.peers) or not self.guards.AllPeers
        if self._coordinates(s, "DOING") and set(s.load) == {"ok"} and all_reached:
            yield Action("DeclareLoaded"), s._replace(phase="LOAD_SUCC")

    def call_off(self, s: State) -> Steps:
        """The coordinator gives the request up."""
        if self._coordinates(s, "DOING"):
            yield Action("CallOff"), _end(s, "failed")

    # -- loaders -------------------------------------------------------------------------------------------------

    def take_load(self, s: State) -> Steps:
        """A loader begins."""
        for rank in self.ranks:
            free = s.job[rank] == 0 or self.config.max_requests is None
            if self._may(s, rank) and s.load[rank] == "asked" and free:
                after = s._replace(load=replaced(s.load, rank, "taken"), job=replaced(s.job, rank, s.running))
                yield _of("TakeLoad", rank), after

    def _counts(self, s: State, rank: int) -> bool:
        if s.phase != "DOING":
            return False
        if not self.guards.ReportsKeyed and s.load[rank] in ("asked", "taken"):
            return True
        return s.load[rank] == "taken" and s.job[rank] == s.running

    def _reports(self, s: State) -> Iterator[tuple[int, bool]]:
        for rank in self.ranks:
            if self._may(s, rank) and s.job[rank]:
                yield rank, self._counts(s, rank)

    def report_ok(self, s: State) -> Steps:
        """A loader has loaded."""
        for rank, counts in self._reports(s):
            if counts:
                table, job = replaced(s.table, rank, s.job[rank]), replaced(s.job, rank, 0)
                yield _of("ReportOk", rank), s._replace(load=replaced(s.load, rank, "ok"), table=table, job=job)

    def report_failed(self, s: State) -> Steps:
        """A loader could not load."""
        for rank, counts in self._reports(s):
            if counts and rank in self.config.failing:
                yield _of("ReportFailed", rank), _end(s._replace(job=replaced(s.job, rank, 0)), "failed")

    def refuse_report(self, s: State) -> Steps:
        """A loader reports about a request that is over. It has written its table all the same."""
        for rank, counts in self._reports(s):
            if not counts:
                table = replaced(s.table, rank, s.job[rank])
                yield _of("RefuseReport", rank), s._replace(table=table, job=replaced(s.job, rank, 0))

    # -- workers -------------------------------------------------------------------------------------------------

    def update(self, s: State) -> Steps:
        """The exchange of weights is allowed."""
        if s.phase == "LOAD_SUCC":
            yield Action("Update"), s._replace(phase="UPDATING")

    def arrive(self, s: State) -> Steps:
        """A worker is ready to exchange its weights; the last one to come begins for all."""
        if s.phase != "UPDATING":
            return
        for rank in self.ranks:
            if self._may(s, self.config.ranks + rank) and s.worker[rank] == "idle":
                others = [w for other, w in enumerate(s.worker) if other != rank]
                if self.guards.InStep and any(w != "here" for w in others):
                    after = s._replace(worker=replaced(s.worker, rank, "here"))
                elif self.guards.InStep:
                    after = s._replace(worker=("swap",) * len(s.worker), swap=(s.running,) * len(s.worker))
                else:
                    after = s._replace(worker=replaced(s.worker, rank, "swap"), swap=replaced(s.swap, rank, s.running))
                yield _of("Arrive", rank), after

    def withdraw(self, s: State) -> Steps:
        """A worker waits no longer for the others."""
        for rank in self.ranks:
            if self.guards.WaitsLimited and s.worker[rank] == "here":
                yield _of("Withdraw", rank), s._replace(worker=replaced(s.worker, rank, "idle"))

    def updated(self, s: State) -> Steps:
        """A worker has exchanged its weights; the last one ends the request."""
        for rank in self.ranks:
            here = self._may(s, self.config.ranks + rank) and s.worker[rank] == "swap" and s.swap[rank] == s.running
            if not here:
                continue
            after = s._replace(swap=replaced(s.swap, rank, 0), table=replaced(s.table, rank, 0))
            others = [w for other, w in enumerate(s.worker) if other != rank]
            if any(w not in ("done", "lost") for w in others):
                after = after._replace(worker=replaced(s.worker, rank, "done"))
            elif "lost" in others:
                after = _end(after, "lost")
            else:
                after = _end(after, "done", "DONE")
            yield _of("Updated", rank), after

    # -- the end -------------------------------------------------------------------------------------------------

    def free(self, s: State) -> Steps:
        """What is done was looked at."""
        if s.phase == "DONE":
            yield Action("Free"), s._replace(phase="FREE")

    def end_timeout(self, s: State) -> Steps:
        """The request's time limit ends."""
        running = s.phase in ("ASKED", "DOING", "LOAD_SUCC", "UPDATING")
        if not self.guards.TimeoutEnds or not running or (s.committed and self.guards.SwapKept):
            return
        if s.phase == "DOING" and not self.guards.FailureFrees:
            yield Action("EndTimeout"), s._replace(phase="LOAD_SUCC")
        else:
            yield Action("EndTimeout"), _end(s, "late")


def _fresh(s: State, phase: str) -> State:
    ranks = len(s.load)
    return s._replace(phase=phase, reached=frozenset(), load=("none",) * ranks, worker=("idle",) * ranks)


def _end(s: State, why: str, phase: str = "FREE") -> State:
    """The running request is over. What the processes of the ranks are doing does not end by that."""
    return _fresh(s, phase)._replace(outcome=(*s.outcome[:-1], why))


def _of(name: str, rank: int) -> Action:
    return Action(name, (("rank", rank),))
