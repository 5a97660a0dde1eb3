"""Long random runs of barriers of a real host beside the model: handles, connections, and waits in threads."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, rule

from fdcomm import EngineCacheQueue
from fdcomm.barrier import RankBarrier
from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    ClosedError,
    CommTimeoutError,
    FencedError,
    PeerLostError,
    ProtocolViolationError,
)
from fdcomm.session import DataPathName
from models.barrier import State
from models.barrier_state import LOST, UNSAID
from models.barrier_trace import accept_file
from models.kernel import Action
from tests.conformance.barrier_core import endings, label_of
from tests.conformance.waiting import Background, until
from tests.stateful.barrier_rules import WAITS, Rules, ranks, unbounded
from tests.stateful.beside import judged, run_machine

__all__ = ("run_host",)

_LONG_S = 60.0
NAMES = ("swap_to_cpu_barrier1", "swap_to_cpu_barrier2")
COUNT = 2


class Host:
    """A host with a replica for each example."""

    def __init__(self, replicas: int, **options: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-barriers-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        self._next = 0
        options = options or {"trace": self.trace}
        self.server = EngineCacheQueue(
            ("0.0.0.0", 0), is_server=True, num_client=COUNT, local_data_parallel_size=replicas, **options
        )

    def replica(self) -> int:
        """Return a fresh one."""
        self._next += 1
        return self._next

    def client(self, dp: int, rank: int, data_path: DataPathName = "auto") -> EngineCacheQueue:
        """Open a handle."""
        return EngineCacheQueue(
            ("0.0.0.0", self.server.get_server_port()),
            num_client=COUNT,
            client_id=rank,
            local_data_parallel_id=dp,
            data_path=data_path,
        )

    def judge(self) -> Counter[str]:
        """Have the model judge all that was recorded; return how often each action occurred."""
        return judged(accept_file(str(self.trace)))

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


class HostMachine(Rules):
    """A group of barriers of a real host against the unbounded model.

    What a host does in one call is one step here: a rank joins by its first wait, a crash brings its fence, and a
    wait without time to wait arrives and gives up.
    """

    host: Host
    names: ClassVar[tuple[str, ...]] = NAMES

    @initialize()
    def start(self) -> None:
        self.model = unbounded(COUNT, len(self.names))
        (self.state,) = self.model.initial()
        self.dp = type(self).host.replica()
        self.engine = type(self).host.client(self.dp, 0)
        self.handles: dict[int, EngineCacheQueue] = {}
        self.waiting: dict[int, Background] = {}
        self.limit = _LONG_S

    def open(self, rank: int) -> EngineCacheQueue:
        """Open a handle of a rank."""
        return type(self).host.client(self.dp, rank)

    def number(self, rank: int, place: object) -> object:
        """What a wait of the rank returns that was the ``place``-th to arrive."""
        return place

    def join(self, rank: int) -> None:
        """Not by itself."""

    def fence(self, rank: int) -> None:
        """Not by itself."""

    @rule(rank=ranks)
    def timeout(self, rank: int) -> None:
        """A wait that gives up at once, if it has to wait."""
        if rank < COUNT and rank not in self.waiting:
            self.limit = 0.0
            self._wait(rank, 0, 0, None)
            self.limit = _LONG_S

    def _wait(self, rank: int, place: int, label: int, ahead: int | None) -> None:
        if rank in self.waiting:
            with pytest.raises(ProtocolViolationError):
                self._barrier(self.handles[rank], place).wait(0)
            return
        if rank not in self.handles:
            self.handles[rank] = self.open(rank)
            self.take("Join", rank=rank)
        super()._wait(rank, place, label, ahead)
        if self.limit == 0.0:
            self.take("Timeout", rank=rank)

    def act(self, action: Action, after: State) -> None:
        name, rank, place = action.name, action.param("rank") or 0, action.param("barrier") or 0
        ended = endings(action, self.state, after)
        own = ended.pop(rank, None) if name in WAITS else None
        if name == "Leave":
            self.handles.pop(rank).close()
            if rank in self.waiting:
                assert isinstance(self.waiting.pop(rank).error(), (FencedError, ClosedError))
        elif name == "Crash":
            self.handles.pop(rank)._release(goodbye=False)
            if rank in self.waiting:
                assert self.waiting.pop(rank).error() is not None
        elif name == "Fence":
            until(lambda: self._barrier(self.engine, 0)._view()["lost"] == _lost(after), "the fence")
        elif name == "Abort":
            self._barrier(self.engine, place).abort()
        elif name == "Reset":
            self._barrier(self.engine, place).reset()
        elif name in WAITS:
            self._call(action, rank, place, own)
        for who, ending in ended.items():
            self._told(who, self.waiting.pop(who), ending)
        if name not in ("Join", "Crash", "Timeout") and self.limit:
            self._compare(after)

    def take(self, name: str, **params: int) -> bool:
        if name == "Timeout" and self.limit:
            return False  # who waits has time
        done = super().take(name, **params)
        if done and name == "Crash":
            super().take("Fence", **params)
        return done

    def _call(self, action: Action, rank: int, place: int, own: tuple[str, object] | None) -> None:
        number = action.param("round")
        said = None if number == UNSAID else number
        barrier, label = self._barrier(self.handles[rank], place), label_of(action.param("label") or 0)
        limit = self.limit
        call = Background(lambda: barrier.wait(limit, label=label, generation=said))
        if own is not None:
            self._told(rank, call, own)
        elif limit == 0.0:
            assert isinstance(call.error(), CommTimeoutError)
        else:
            self.waiting[rank] = call
            seen = self._barrier(self.engine, place)
            until(lambda: rank not in seen.missing, str(action))

    def _compare(self, state: State) -> None:
        for place in range(len(self.names)):
            view = self._barrier(self.engine, place)._view()
            there = {a.rank for a in state.arrived[place]}
            wanted = (state.generation[place], state.broken[place], len(there), COUNT)
            assert (view["generation"], view["broken"], view["n_waiting"], view["parties"]) == wanted
            assert set(view["missing"]) == set(range(COUNT)) - there

    @classmethod
    def _barrier(cls, queue: EngineCacheQueue, place: int) -> RankBarrier:
        barrier: RankBarrier = getattr(queue, cls.names[place])
        return barrier

    def _told(self, rank: int, call: Background, ending: tuple[str, object]) -> None:
        error = call.error()
        outcome, beside = ending
        if outcome == "passed":
            assert error is None, f"a wait that passed raised {error!r}"
            assert isinstance(beside, tuple)
            assert call.value() == self.number(rank, beside[1])
            return
        assert type(error) is _ERROR[outcome], f"{error!r} instead of {outcome}"
        if outcome == "lost":
            assert error.missing == beside

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            for handle in (*self.handles.values(), self.engine):
                handle.close()
            for call in self.waiting.values():
                call.error()


_ERROR = {
    "lost": PeerLostError,
    "mismatch": BarrierMismatchError,
    "broken": BarrierBrokenError,
    "over": BarrierMismatchError,
}


def _lost(state: State) -> list[int]:
    return [rank for rank, status in enumerate(state.status) if status == LOST]


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record."""
    host = Host(replicas=50 + 6 * options.max_examples)  # invalid examples use one too
    try:

        class Machine(HostMachine):
            pass

        Machine.host = host
        run_machine(Machine, options)
        return host.judge()
    finally:
        host.close()
