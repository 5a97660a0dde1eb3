"""A real host's transfer tasks beside the model: the state of both, and the rules of their client."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from fdcomm import EngineCacheQueue
from fdcomm.errors import PeerLostError
from fdcomm.transfer_port import TransferSettled
from fdcomm.transfer_tasks import TransferTasks
from models.transfer import Config, State, Transfer
from models.transfer_state import AWAY, LIVE, LOST, QUEUED, STARTED, initial_state, numbers, reported
from tests.conformance.driving import must_raise
from tests.conformance.waiting import Background
from tests.stateful.beside import TakesSteps

__all__ = ("LONG_S", "REPLICAS", "ClientRules")

LONG_S = 60.0
REPLICAS = 600


class ClientRules(TakesSteps):
    """A host's transfer tasks beside the model, and what their client does. Who waits for other ranks has a thread."""

    server: EngineCacheQueue
    replicas: int

    def __init__(self) -> None:
        super().__init__()
        kind = type(self)
        if kind.replicas == REPLICAS - 1:
            raise RuntimeError("all replicas are used")
        self.replica, kind.replicas = kind.replicas, kind.replicas + 1
        both, client = frozenset({0, 1}), frozenset({1})
        self.model = Transfer(
            Config(2, 1, 2, None, 1 << 16, 0, both, both, both, both, both, client, client, hasty=True, inside=False)
        )
        self.state: State = initial_state(self.model.config)
        self.observer = TransferTasks(self.handle(0, "producer"))
        self.client = TransferTasks(self.handle(0, "producer"))
        self.ranks: dict[int, EngineCacheQueue] = {}
        self.calls: dict[int, Background] = {}

    def handle(self, client_id: int, role: Any = None) -> EngineCacheQueue:
        """Open a handle to this run's replica."""
        return EngineCacheQueue(
            self.server.address,
            num_client=2,
            client_id=client_id,
            local_data_parallel_id=self.replica,
            role=role,
        )

    def call(self, rank: int, action: str, *args: Any) -> Any:
        """One call of a rank's loop."""
        return self.ranks[rank]._act("transfer", action, *args, timeout=LONG_S, name=action)

    # -- clients -------------------------------------------------------------------------------------------------

    @rule(kind=st.sampled_from(("x", "y")))
    def issue(self, kind: str) -> None:
        """The client issues a task."""
        if LOST in self.state.status:
            refusal = must_raise(PeerLostError, lambda: self.client.issue("task", kind))
            assert refusal.missing == tuple(r for r in (0, 1) if self.state.status[r] == LOST)
            return
        number = self.client.issue("task", kind)
        assert self.take("Issue", client=1, kind=1 if kind == "x" else 2)
        assert number == len(self.state.state)

    @precondition(lambda self: QUEUED in self.state.state)
    @rule(clears=st.booleans(), rarely=st.sampled_from((False, False, True)))
    def withdraw(self, clears: bool, rarely: bool) -> None:
        """What has not started is cancelled."""
        if rarely:
            queued = tuple(numbers(self.state, QUEUED))
            assert (self.observer.clear() if clears else self.client.withdraw()) == queued
            assert self.take("Clear") if clears else self.take("Withdraw", client=1)
            self.settle()

    @precondition(lambda self: STARTED in self.state.state)
    @rule(which=st.integers(0, 3))
    def abandon(self, which: int) -> None:
        """The client does not wait any longer."""
        started = numbers(self.state, STARTED)
        number = started[which % len(started)]
        assert self.client.abandon(number)
        assert self.take("Abandon", number=number)

    @rule()
    def result(self) -> None:
        """The client takes its next result, if there is one."""
        found = self.client.result(0.0)
        if not self.take("HandOut", client=1):
            self.take("Acknowledge", client=1)
            assert found is None
            return
        number, s = self.state.hand[0], self.state
        assert found is not None
        assert (found.number, found.outcome) == (number, s.state[number - 1])
        bad = {report.rank for report in s.reports[number - 1] if not report.ok} | s.without[number - 1]
        assert found.ranks == (tuple(sorted(bad)) if found.outcome == "failed" else ())
        assert found.value == ([0, 1] if found.outcome == "ok" else None)
        assert found.running == tuple(sorted(s.busy[number - 1]))

    @rule(asks=st.sampled_from(("settled", "news")))
    def told(self, asks: str) -> None:
        """The client is told of a task that has settled, if one has."""
        due = {number for number in self.state.held[0] if not self.state.busy[number - 1]}
        if asks == "news" and (due or not self.state.results[0]):
            found = self.client.news(0.0)
            self.take("Acknowledge", client=1)
            assert isinstance(found, TransferSettled) if due else found is None
            number = found.number if isinstance(found, TransferSettled) else None
        else:
            number = self.client.settled(0.0)
        assert (number in due) if due else number is None
        assert number is None or self.take("Settled", client=1, number=number)

    @precondition(lambda self: any(self.state.busy))
    @rule(rank=st.integers(0, 1), which=st.integers(0, 3))
    def late(self, rank: int, which: int) -> None:
        """A handler runs over its limit, or has ended after that."""
        busy = [number for number, ranks in enumerate(self.state.busy, 1) if rank in ranks]
        if rank not in self.ranks or self.state.status[rank] != LIVE or not busy:
            return
        number = busy[which % len(busy)]
        if self.state.state[number - 1] == STARTED and rank not in reported(self.state, number):
            assert self.call(rank, "overdue", number, b"too long")
            assert self.take("Overdue", rank=rank, number=number)
        else:
            self.call(rank, "settle", number)
            assert self.take("Settle", rank=rank, number=number)

    @rule()
    def acknowledge(self) -> None:
        """The client has handled what it took."""
        self.client.acknowledge()
        self.take("Acknowledge", client=1)

    # -- both ----------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Who waits in vain has backed off."""
        s = self.state
        if QUEUED in s.state and "no" not in s.vote and not {AWAY, LOST} & set(s.status):
            return
        for rank in list(self.calls):
            assert self.calls.pop(rank).value() is None
            assert self.take("BackOff", rank=rank)

    @invariant()
    def same_state(self) -> None:
        said, s = self.observer.statistics(), self.state
        assert (said.issued, said.queued) == (len(s.state), tuple(numbers(s, QUEUED)))
        assert [number for number, *_ in said.started] == numbers(s, STARTED)
        assert (said.votes, said.results) == (s.vote, len(s.results[0]))
        for number, _, ranks in said.started:
            assert set(ranks) == {0, 1} - reported(s, number) - s.without[number - 1]
        for ranks, status in ((said.live, LIVE), (said.lost, LOST), (said.away, AWAY)):
            assert list(ranks) == [rank for rank, found in enumerate(s.status) if found == status]
        unsettled = [(n, tuple(sorted(r))) for n, r in enumerate(s.busy, 1) if r and s.state[n - 1] != STARTED]
        assert list(said.unsettled) == unsettled
        assert self.client.outstanding() == len(s.state) - len(s.handled)

    def teardown(self) -> None:
        for handle in (self.client._queue, self.observer._queue, *self.ranks.values()):
            handle.close()
        for call in self.calls.values():
            call.error()
