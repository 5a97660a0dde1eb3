"""Channels of real hosts for bitmask, cache infos and connect tasks, driven through handles, beside the model."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from fdcomm.errors import CommTimeoutError, PeerLostError
from fdcomm.handle import Handle
from models.dispatch import Config, Dispatch
from models.dispatch_state import DEAD, LIVE, LOST
from models.dispatch_trace import accept_file
from models.kernel import Action
from tests.conformance.backends import lose
from tests.conformance.waiting import until
from tests.stateful.beside import judged

__all__ = ("APIS", "Api", "ItemDriver", "ItemHost", "config_of")

RANKS = 2


@dataclass(frozen=True)
class Api:
    """The public names of a protocol. ``get`` returns None for nothing."""

    queue: type[Handle]
    put: Callable[[Any, int, float], None]
    get: Callable[[Any], tuple[int, bool] | None]
    clear: Callable[[Any], tuple[int, ...]] | None = None


def _get_info(queue: EngineWorkerQueue) -> tuple[int, bool] | None:
    infos = queue.get_cache_info()
    return (infos[0], False) if infos else None


def _got(answer: tuple[Any, bool]) -> tuple[int, bool] | None:
    return None if answer[0] is None else answer


APIS: dict[str, Api] = {
    "bitmask": Api(
        EngineCacheQueue,
        lambda queue, item, timeout: queue.put_transfer_task(item, timeout=timeout),
        lambda queue: _got(queue.get_transfer_task()),
        lambda queue: tuple(queue.clear_transfer_task()),
    ),
    "cache_info": Api(
        EngineWorkerQueue,
        lambda queue, item, timeout: queue.put_cache_info([item, "info"], timeout=timeout),
        _get_info,
    ),
    "connect": Api(
        EngineWorkerQueue,
        lambda queue, item, timeout: queue.put_connect_rdma_task(item, timeout=timeout),
        lambda queue: _got(queue.get_connect_rdma_task()),
    ),
}


def config_of(protocol: str, depth: int) -> Config:
    """Return the unbounded model's configuration: two ranks, two producers, everybody may go."""
    both = frozenset({0, 1})
    free: dict[str, Any] = {"max_calls": None, "max_epoch": None, "per_producer": None}
    return Config(RANKS, 2, depth, leavers=both, mortal=both, mortal_producers=both, quitters=both, **free)


class ItemHost:
    """A host with many replicas, each a fresh channel."""

    def __init__(self, protocol: str, depth: int, count: int) -> None:
        self.protocol, self.depth, self.count, self.used = protocol, depth, count, 0
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-items-")
        self.trace = Path(self._folder.name) / "host.ndjson"
        options: dict[str, Any] = {} if protocol != "bitmask" else {"depth": depth}
        self.server: Any = APIS[protocol].queue(
            ("127.0.0.1", 0),
            is_server=True,
            num_client=RANKS,
            local_data_parallel_size=count,
            trace=self.trace,
            **options,
        )

    def take(self) -> int:
        """Return a replica that nobody has used; number 0 is the server's own."""
        self.used += 1
        if self.used == self.count:
            raise RuntimeError("all channels are used")
        return self.used

    def client(self, dp: int, client_id: int, role: Literal["reader", "producer"]) -> Any:
        """Open a handle."""
        return APIS[self.protocol].queue(  # type: ignore[call-arg]
            ("127.0.0.1", self.server.get_server_port()),
            num_client=RANKS,
            client_id=client_id,
            local_data_parallel_id=dp,
            role=role,
        )

    def judge(self) -> Counter[str]:
        """Have the models judge everything that was recorded."""
        return judged(accept_file(str(self.trace), only=(self.protocol, "done")))

    def close(self) -> None:
        """End the host."""
        self.server.close()
        self._folder.cleanup()


class ItemDriver:
    """One channel and handles to it; ``state`` is the model's."""

    def __init__(self, host: ItemHost) -> None:
        self.host, self.api = host, APIS[host.protocol]
        self.model = Dispatch(config_of(host.protocol, host.depth))
        (self.state,) = self.model.initial()
        self.dp = host.take()
        self.observer = host.client(self.dp, 0, "producer")
        self.producers = {p: host.client(self.dp, 0, "producer") for p in range(2)}
        self.readers: dict[int, Any] = {}

    def can(self, name: str) -> bool:
        """Return True when the model allows the action for somebody."""
        return any(True for _ in self.model.actions[name](self.state))

    def do(self, name: str, number: int) -> bool:
        """Do it through the handles if the model allows it; return False when it does not."""
        if name == "PutTasks":
            return self._put(number)
        key = "producer" if name in ("Connect", "Disconnect", "CrashProducer", "ClearProducer") else "rank"
        if name in ("ClearRank", "ClearProducer") and self.api.clear is None:
            return False
        action = Action(name, ((key, number),))
        if not self._advance(action):
            return name == "GetTasks" and self._get_nothing(number)
        handles = self.readers if key == "rank" else self.producers
        if name == "Join":
            handles[number] = reader = self.host.client(self.dp, number, "reader")
            if self.host.protocol != "bitmask":  # the first get claims the rank
                self._first_get(number, reader)
        elif name == "Connect":
            handles[number] = self.host.client(self.dp, 0, "producer")
        elif name in ("Leave", "Disconnect"):
            handles.pop(number).close()
        elif name in ("Crash", "CrashProducer"):
            before = self._view()["sessions"]
            lose(handles.pop(number))
            until(lambda: self._view()["sessions"] < before, "the fence")
            assert self._advance(Action("Fence" if name == "Crash" else "FenceProducer", ((key, number),)))
        elif name == "GetTasks":
            self._got(number, self.api.get(handles[number]))
        else:
            assert self.api.clear is not None
            oldest = self.state.log[0].taken if self.state.log else ()
            assert self.api.clear(handles[number]) == tuple(sorted(oldest))
        self.compare()
        return True

    def _first_get(self, rank: int, reader: Any) -> None:
        answer = self.api.get(reader)
        if self._advance(Action("GetTasks", (("rank", rank),))):
            self._got(rank, answer)
        else:
            assert answer is None

    def _got(self, rank: int, answer: tuple[int, bool] | None) -> None:
        id_ = self.state.got[rank][-1]
        assert answer is not None, f"rank {rank} got nothing instead of {id_}"
        last = all(entry.id != id_ for entry in self.state.log)
        assert answer[0] == id_, f"rank {rank} got {answer[0]} instead of {id_}"
        assert self.host.protocol == "cache_info" or answer[1] is last

    def _get_nothing(self, rank: int) -> bool:
        if self.state.status[rank] != LIVE:
            return False
        assert self.api.get(self.readers[rank]) is None
        return True

    def _put(self, p: int) -> bool:
        """CallPut and its answer, in no time: served, refused for a lost rank, or given up."""
        id_ = self.state.calls + 1
        params = (("producer", p), ("id", id_))
        if not self._advance(Action("CallPut", params)):
            return False
        outcome = next(name for name in ("PutTasks", "PutLost", "PutTimeout") if self._advance(Action(name, params)))
        error = {"PutTasks": None, "PutLost": PeerLostError, "PutTimeout": CommTimeoutError}[outcome]
        raised: PeerLostError | CommTimeoutError | None = None
        try:
            self.api.put(self.producers[p], id_, 0.0)
        except (PeerLostError, CommTimeoutError) as caught:
            raised = caught
        assert error is (raised and type(raised)), f"{raised!r} instead of {outcome}"
        if raised is not None:
            lost = tuple(rank for rank, status in enumerate(self.state.status) if status == LOST)
            late = tuple(rank for rank in range(RANKS) if self.state.log and rank not in self.state.log[0].taken)
            assert raised.missing == (lost or late)
        self.compare()
        return True

    def _advance(self, action: Action) -> bool:
        steps = self.model.actions[action.name](self.state)
        after = next((to for step, to in steps if step == action), None)
        self.state = after or self.state
        return after is not None

    def _view(self) -> dict[str, Any]:
        view: dict[str, Any] = self.observer._view(self.host.protocol, name="view")
        return view

    def compare(self) -> None:
        """The host's own view is the model's state."""
        view, state = self._view(), self.state
        assert DEAD not in state.status
        assert view["log"] == [(entry.id, sorted(entry.taken)) for entry in state.log]
        assert (view["calls"], view["epoch"], view["exist"]) == (state.calls, state.epoch, state.exist)
        assert view["live"] == [rank for rank, status in enumerate(state.status) if status == LIVE]
        assert view["lost"] == [rank for rank, status in enumerate(state.status) if status == LOST]
        if self.host.protocol == "bitmask":
            assert self.observer.empty() is not state.exist
            assert self.observer.task_sync_value.value == sum(1 << r for r in (state.log[0].taken if state.log else ()))

    def close(self) -> None:
        """Close all handles."""
        for handle in (*self.readers.values(), *self.producers.values(), self.observer):
            handle.close()
