"""Long random runs of transfer tasks: a real host beside the model, through handles."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from fdcomm import EngineCacheQueue
from fdcomm.errors import ProtocolViolationError
from models.dispatch_trace import accept_file
from models.transfer_state import AWAY, LIVE, LOST, QUEUED, STARTED, ended, numbers, reported
from tests.conformance.driving import must_raise
from tests.conformance.waiting import Background, until
from tests.stateful.beside import judged, run_machine
from tests.stateful.transfer_host_clients import LONG_S, REPLICAS, ClientRules

__all__ = ("run_host",)


class _HostMachine(ClientRules):
    """The same with what ranks do."""

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
        self.calls[rank] = Background(lambda: self.call(rank, "accept", LONG_S))
        if self.take("Start"):
            number = numbers(before, QUEUED)[0]
            for call in (self.calls.pop(0), self.calls.pop(1)):
                assert call.value()[0] == number
        else:
            self.settle()
            if rank in self.calls:
                until(lambda: self.observer.statistics().votes[rank] == "yes", "the vote")

    @rule(kind=st.sampled_from(("x", "y")))
    def both(self, kind: str) -> None:
        """Both ranks are ready, and a task waits."""
        for rank in (0, 1):
            self.come(rank)
        if QUEUED not in self.state.state:
            self.issue(kind)
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
    @rule(good=st.booleans())
    def finish(self, good: bool) -> None:
        """Both ranks have done the oldest task, or rank 0 has failed at it."""
        number = numbers(self.state, STARTED)[0]
        self._report(0, number, good=good)
        self._report(1, number, good=True)

    @precondition(lambda self: STARTED in self.state.state)
    @rule(rank=st.integers(0, 1), lost=st.sampled_from((False, False, True)))
    def late_and_told(self, rank: int, lost: bool) -> None:
        """The client has the result of a task while a rank is at it; the rank's handler ends, or it is lost."""
        number = numbers(self.state, STARTED)[0]
        assert self.client.abandon(number)
        assert self.take("Abandon", number=number)
        while self.state.hand[0] != number:
            self.result()
        if lost and self.state.status[rank] == LIVE:
            self.crash(self._live().index(rank), restarts=False)
        for other in (0, 1):
            if other in self.state.busy[number - 1]:
                self._report(other, number, good=True)
        self.told("news" if lost else "settled")

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
        else:
            self.take("Settle", rank=rank, number=number)

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
            local_data_parallel_size=REPLICAS,
            local_data_parallel_id=REPLICAS - 1,
            trace=trace,
        ) as server:
            Machine.server, Machine.replicas = server, 0
            run_machine(Machine, options)
        return judged(accept_file(str(trace), only=("transfer",)))
