"""A host, the engine's handle and rank 1 in this process; rank 0, or the engine's helper, is the process that dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fdcomm import CommTimeoutError, EngineCacheQueue, EngineWorkerQueue, FdcommError, PeerLostError
from fdcomm.host.layout import BARRIER_GROUPS
from tests.conformance.waiting import Background
from tests.faults.remote import LIMIT_S, Remote, host_pid, until

__all__ = ("BARRIERS", "POINTS", "QUEUES", "World", "at_once", "die", "opened")

POINTS = ["call.send", "call.sent", "call.received"]
AT_ONCE_S = 20.0  # far less than any time limit that is passed here

BARRIERS = {
    kind: [barrier for names in groups.values() for barrier in names] for kind, groups in BARRIER_GROUPS.items()
}
QUEUES: dict[str, Any] = {"worker": EngineWorkerQueue, "cache": EngineCacheQueue}


class World:
    """Two ranks. ``check`` proves that everything works, with a rank 0 of this process."""

    def __init__(self, kind: str, undo: ExitStack, **options: Any) -> None:
        self.kind = kind
        self._queue = QUEUES[kind]
        self.engine: Any = undo.enter_context(self._queue(("0.0.0.0", 0), is_server=True, num_client=2, **options))
        self.one: Any = self.rank(1)
        undo.callback(self.one.close)
        self.engine.statistics()  # opens this thread's connection
        self.one.statistics()
        self.check()  # and the memory in which ranks meet, for as long as rank 1 has its handle

    def rank(self, rank: int) -> Any:
        """Open a handle of a rank in this process."""
        return self._queue(self.engine.address, num_client=2, client_id=rank)

    @contextmanager
    def victim(self, role: str | None = None) -> Iterator[Remote]:
        """Start the process that will die: rank 0, or an engine's helper (``role="producer"``)."""
        with Remote() as remote:
            remote.open(self.engine.get_server_port(), queue=self._queue.__name__, num_client=2, client_id=0, role=role)
            yield remote

    def check(self) -> None:
        """Empty the queue, and use every protocol once."""
        with self.rank(0) as zero:
            ranks = (zero, self.one)
            if self.kind == "worker":
                self._drain(ranks, "get_tasks", "get_cache_info", "get_connect_rdma_task")
                self._use_worker(ranks)
            else:
                self._drain(ranks, "get_transfer_task")
                self._use_cache(ranks)
            for name in BARRIERS[self.kind]:
                assert not getattr(self.engine, name).broken
                assert self.meet(name, *ranks) == [0, 1]

    def kill_host(self) -> None:
        """End the host with SIGKILL."""
        os.kill(host_pid(self.engine), signal.SIGKILL)

    def meet(self, barrier: str, zero: Any, one: Any) -> list[int]:
        """Let the ranks meet at a barrier. Rank 0 comes first: until it is back, rank 1 is told that it is gone."""
        waiting = Background(lambda: getattr(zero, barrier).wait(LIMIT_S))
        until(lambda: getattr(self.engine, barrier).n_waiting == 1, "rank 0 waits")
        mine = getattr(one, barrier).wait(LIMIT_S)
        return [waiting.value(), mine]

    def _drain(self, ranks: tuple[Any, ...], *gets: str) -> None:
        for rank in ranks:
            for get in gets:
                while _some(getattr(rank, get)()):
                    pass

    def _use_worker(self, ranks: tuple[Any, ...]) -> None:
        engine = self.engine
        engine.get_disaggregated_tasks()
        for view, collect in (
            (engine.connect_rdma_task_responses, engine.get_connect_rdma_task_response),
            (engine.finished_send_cache_list, engine.get_finished_req),
            (engine.finished_add_cache_task_list, engine.get_finished_add_cache_task_req),
        ):
            while view != []:  # what the dead have left is given up
                _ends(lambda collect=collect: collect(round_timeout=0))  # type: ignore[misc]
        engine.put_tasks("batch", timeout=LIMIT_S)
        engine.put_cache_info(["info"], timeout=LIMIT_S)
        engine.put_connect_rdma_task("task", timeout=LIMIT_S)
        assert [rank.get_tasks()[0] for rank in ranks] == [["batch"]] * 2
        assert [rank.get_cache_info() for rank in ranks] == [["info"]] * 2
        assert [rank.get_connect_rdma_task() for rank in ranks] == [("task", False), ("task", True)]
        for rank in ranks:
            rank.put_connect_rdma_task_response({"task_id": "last", "success": True}, timeout=LIMIT_S)
            rank.put_finished_req([["last", "finished"]], timeout=LIMIT_S)
            rank.put_finished_add_cache_task_req(["last"], timeout=LIMIT_S)
        assert engine.get_connect_rdma_task_response() == {"task_id": "last", "success": True}
        assert engine.get_finished_req() == [["last", "finished"]]
        assert engine.get_finished_add_cache_task_req() == ["last"]
        engine.put_disaggregated_tasks("item")
        assert self.one.get_disaggregated_tasks() == ["item"]

    def _use_cache(self, ranks: tuple[Any, ...]) -> None:
        engine = self.engine
        while engine.get_transfer_done_signal() is not None:
            pass
        engine.put_transfer_task("task", timeout=LIMIT_S)
        assert [rank.get_transfer_task() for rank in ranks] == [("task", False), ("task", True)]
        ranks[0].put_transfer_done_signal("done")
        assert engine.get_transfer_done_signal() == "done"
        assert engine.get_transfer_done_signal() is None
        assert engine.result_queue_empty()
        assert engine.empty()


def _some(got: Any) -> bool:
    """Return True when a get has returned an item."""
    return bool(got) if isinstance(got, list) else got[0] not in ([], None)


def _ends(collect: Callable[[], Any]) -> None:
    try:
        collect()
    except (CommTimeoutError, PeerLostError) as error:
        if not isinstance(error, FdcommError) or not error.missing:
            raise


@contextmanager
def opened(kind: str, **options: Any) -> Iterator[World]:
    """Start the host, with options of its server."""
    with ExitStack() as undo:
        yield World(kind, undo, **options)


def die(victim: Remote, point: str, method: str, *args: Any, **kwargs: Any) -> None:
    """Let the process call a method and be killed at a point of the call."""
    victim.ask("arm", point, "kill")
    victim.send("call", method, *args, **kwargs)
    assert victim.ended() == -9


def at_once(call: Any) -> Any:
    """Return a call's result or typed error. It must not need its time limit."""
    start = time.monotonic()
    try:
        return call()
    except FdcommError as error:
        return error
    finally:
        assert time.monotonic() - start < AT_ONCE_S
