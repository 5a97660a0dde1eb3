"""Long random runs of transfer tasks: a real host beside the model, through handles."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fdcomm import EngineCacheQueue
from fdcomm.errors import PeerLostError, ProtocolViolationError
from fdcomm.transfer_tasks import TransferTasks
from models.dispatch_trace import accept_file
from models.kernel import Action
from models.transfer import Config, State, Transfer
from models.transfer_state import AWAY, LIVE, LOST, QUEUED, STARTED, ended, initial_state, numbers, reported
from tests.conformance.driving import must_raise
from tests.conformance.waiting import Background, until
from tests.stateful.beside import judged, run_machine, step_to

__all__ = ("run_host",)

_LONG_S = 60.0
_REPLICAS = 600


class _HostMachine(RuleBasedStateMachine):
    """Transfer tasks of a real host against the model, through handles; who waits for other ranks has a thread."""

    server: EngineCacheQueue
    replicas: int

    def __init__(self) -> None:
        super().__init__()
        kind = type(self)
        if kind.replicas == _REPLICAS - 1:
            raise RuntimeError("all replicas are used")
        self.replica, kind.replicas = kind.replicas, kind.replicas + 1
        both, client = frozenset({0, 1}), frozenset({1})
        self.model = Transfer(
            Config(2, 1, 2, None, 1 << 16, 0, both, both, both, both, client, client, hasty=True, inside=False)
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
        return self.ranks[rank]._act("transfer", action, *args, timeout=_LONG_S, name=action)

    def take(self, name: str, **params: int) -> bool:
        """Take a step of the model, if it is enabled."""
        after = step_to(self.model, self.state, Action(name, tuple(params.items())))
        if after is None:
            return False
        self.state = after
        return True

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

    @rule()
    def acknowledge(self) -> None:
        """The client has handled what it took."""
        self.client.acknowledge()
        self.take("Acknowledge", client=1)

    # -- ranks ---------------------------------------------------------------------------------------------------

    @rule(rank=st.integers(0, 1))
    def come(self, rank: int) -> None:
        """A rank's loop begins."""
        if rank not in self.ranks:
            self.ranks[rank] = self.handle(rank)
            self.take("Reappear", rank=rank)
        if self.state.status[rank] in (AWAY, LOST):
            self.call(rank, "next_task", 0.0)
            assert self.take("Join", rank=rank)
        self.settle()

    @rule(rank=st.integers(0, 1))
    def accept(self, rank: int) -> None:
        """A rank is ready."""
        self.come(rank)
        if self.state.vote[rank] == "yes":
            return
        if QUEUED not in self.state.state:
            assert self.call(rank, "accept", 0.0) is None
            self.take("Return", rank=rank)
            return
        before = self.state
        assert self.take("Accept", rank=rank)
        self.calls[rank] = Background(lambda: self.call(rank, "accept", _LONG_S))
        if self.take("Start"):
            number = numbers(before, QUEUED)[0]
            for call in (self.calls.pop(0), self.calls.pop(1)):
                assert call.value()[0] == number
        else:
            self.settle()
            if rank in self.calls:
                until(lambda: self.observer.statistics().votes[rank] == "yes", "the vote")

    @rule()
    def both(self) -> None:
        """Both ranks are ready."""
        self.accept(0)
        self.accept(1)

    @rule(rank=st.integers(0, 1), rarely=st.sampled_from((False, True)))
    def refuse(self, rank: int, rarely: bool) -> None:
        """A rank is pausing."""
        if not rarely:
            return
        self.come(rank)
        if self.state.vote[rank] == "yes":
            return
        self.call(rank, "refuse")
        self.take("Refuse", rank=rank)
        self.settle()

    @precondition(lambda self: STARTED in self.state.state)
    @rule(rank=st.integers(0, 1), which=st.integers(0, 3), good=st.booleans())
    def report(self, rank: int, which: int, good: bool) -> None:
        """A rank reports."""
        started = numbers(self.state, STARTED)
        self._report(rank, started[which % len(started)], good=good)

    @precondition(lambda self: STARTED in self.state.state)
    @rule()
    def finish(self) -> None:
        """Both ranks have done the oldest task."""
        number = numbers(self.state, STARTED)[0]
        for rank in (0, 1):
            self._report(rank, number, good=True)

    def _report(self, rank: int, number: int, *, good: bool) -> None:
        if rank not in self.ranks or self.state.status[rank] != LIVE:
            return
        said = self.ranks[rank]._pickle(rank, "test") if good else b"ValueError: no"
        over = ended(self.state, number) or rank in self.state.without[number - 1]
        if not over and rank in reported(self.state, number):
            must_raise(ProtocolViolationError, lambda: self.call(rank, "report", number, good, said))
            return
        assert self.call(rank, "report", number, good, said) is not over
        if not over:
            assert self.take("ReportOk" if good else "ReportFailed", rank=rank, number=number)

    def _live(self) -> list[int]:
        return [rank for rank, status in enumerate(self.state.status) if status == LIVE]

    @precondition(lambda self: self._live())
    @rule(which=st.integers(0, 1), closes=st.booleans())
    def leave(self, which: int, closes: bool) -> None:
        """A rank closes its handle, or its loop."""
        rank = self._live()[which % len(self._live())]
        if closes or rank in self.calls:
            self.ranks.pop(rank).close()
        else:
            self.call(rank, "leave")
        self._ends(rank)
        assert self.take("Leave", rank=rank)
        self.settle()

    @precondition(lambda self: self._live())
    @rule(which=st.integers(0, 1), restarts=st.booleans())
    def crash(self, which: int, restarts: bool) -> None:
        """The connection of a rank is lost; its successor may open before the host has noticed."""
        rank = self._live()[which % len(self._live())]
        _lose(self.ranks.pop(rank))
        self._ends(rank)
        assert self.take("Crash", rank=rank)
        assert self.take("Fence", rank=rank)
        if restarts:
            self.come(rank)
        else:
            until(lambda: rank in self.observer.statistics().lost, "the fence")
        self.settle()

    @rule(rank=st.integers(0, 1), rarely=st.sampled_from((False, False, True)))
    def vanish(self, rank: int, rarely: bool) -> None:
        """The connection of a rank is lost that has had no loop, and has read another channel."""
        if not rarely or self.state.status[rank] == LOST:
            return
        if self.state.status[rank] == LIVE:
            self.leave(self._live().index(rank), closes=True)
        if rank not in self.ranks:
            handle = self.handle(rank)
            handle.get_transfer_task()
            _lose(handle)
            until(lambda: rank in self.observer.statistics().lost, "the loss")
            assert self.take("Vanish", rank=rank)
            self.settle()

    def _ends(self, rank: int) -> None:
        if rank in self.calls:
            assert self.calls.pop(rank).error() is not None

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
        assert self.client.outstanding() == len(s.state) - len(s.handled)

    def teardown(self) -> None:
        for handle in (self.client._queue, self.observer._queue, *self.ranks.values()):
            handle.close()
        for call in self.calls.values():
            call.error()


def _lose(handle: EngineCacheQueue) -> None:
    """The connection ends as with its process."""
    handle._release(goodbye=False)


def run_host(options: settings) -> Counter[str]:
    """Run the machine over one host; return how often each action was recorded, after the model's judgement."""

    class Machine(_HostMachine):
        pass

    with tempfile.TemporaryDirectory(prefix="fdcomm-transfer-") as folder:
        trace = Path(folder) / "host.ndjson"
        with EngineCacheQueue(
            ("0.0.0.0", 0),
            is_server=True,
            num_client=2,
            local_data_parallel_size=_REPLICAS,
            local_data_parallel_id=_REPLICAS - 1,
            trace=trace,
        ) as server:
            Machine.server, Machine.replicas = server, 0
            run_machine(Machine, options)
        return judged(accept_file(str(trace), only=("transfer",)))
