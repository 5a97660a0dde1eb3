"""EngineCacheQueue: a prefix cache manager gives transfer tasks to all transfer ranks and gets their results.

Protocols: ``spec/bitmask.toml``, ``spec/barrier.toml``; docs/protocols/bitmask.md.
"""

from __future__ import annotations

import os
from typing import Any

from fdcomm.barrier import NamedBarrier
from fdcomm.connect import Address, How
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.handle import Handle
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.session import DataPathName, Role
from fdcomm.stats import DispatchStatistics
from fdcomm.transports.base import Transport
from fdcomm.views import ListView, LockView, ValueView, View

__all__ = ("EngineCacheQueue",)


class EngineCacheQueue(Handle):
    """A handle to the queue between a prefix cache manager and the transfer ranks.

    Every rank takes every task exactly once and in order. Unlike FastDeploy's, a put does not wait for ranks that are
    in the middle of reading, and a clear never waits: a task that some rank has taken stays for the others, so nobody
    executes a task that the others never get. Life, threads, errors: as :class:`EngineWorkerQueue`.
    """

    _kind = "cache"

    barrier = NamedBarrier()
    barrier0 = NamedBarrier()
    barrier1 = NamedBarrier()
    barrier2 = NamedBarrier()
    barrier3 = NamedBarrier()
    pause_barrier = NamedBarrier()
    resume_barrier = NamedBarrier()
    swap_to_cpu_barrier1 = NamedBarrier()
    swap_to_cpu_barrier2 = NamedBarrier()
    swap_to_gpu_barrier1 = NamedBarrier()
    swap_to_gpu_barrier2 = NamedBarrier()
    swap_storage_to_gpu_barrier = NamedBarrier()
    swap_to_storage_barrier = NamedBarrier()

    transfer_task_queue = View(ListView, lambda queue: queue._tasks(), "put_transfer_task()")
    tansfer_done_queue = View(ListView, lambda queue: queue._results(), "put_transfer_done_signal()")
    task_sync_value = View(ValueView, lambda queue: queue._mask(), "get_transfer_task()")
    task_lock = View(LockView, lambda queue: "not needed", "put_transfer_task() or get_transfer_task()")
    task_done_lock = View(LockView, lambda queue: "not needed", "put_transfer_done_signal()")

    def __init__(
        self,
        address: Address = ("127.0.0.1", 56666),
        authkey: bytes = b"cache_queue_service",
        is_server: bool = False,
        num_client: int = 1,
        client_id: int = -1,
        local_data_parallel_size: int = 1,
        local_data_parallel_id: int = 0,
        *,
        role: Role | None = None,
        depth: int = 1024,
        max_batch_bytes: int = 1 << 28,
        allow_pickle: bool = False,
        transport: How | Transport = "auto",
        trace: str | os.PathLike[str] = "",
        data_path: DataPathName = "auto",
        connect_timeout: float = 0.0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        """Start a host (server) or connect to one (client).

        Arguments and errors as for :class:`EngineWorkerQueue`; ``depth`` is how many tasks may be queued before a put
        waits.
        """
        super().__init__(
            address,
            authkey,
            is_server,
            num_client,
            client_id,
            local_data_parallel_size,
            local_data_parallel_id,
            role=role,
            depth=depth,
            max_batch_bytes=max_batch_bytes,
            allow_pickle=allow_pickle,
            transport=transport,
            trace=trace,
            data_path=data_path,
            connect_timeout=connect_timeout,
            runtime=runtime,
        )
        self.total_num = (1 << self.num_client) - 1
        self.position = 1 << self.client_id if self.client_id >= 0 else 0

    # -- tasks ---------------------------------------------------------------------------------------------------

    def put_transfer_task(self, item: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Queue a task for every rank. Waits only while ``depth`` tasks are queued; errors as ``put_tasks``.

        Raises:
            ConfigError: The task is None, which tells a reader that there is none.
        """
        self._put("bitmask", self._something(item, "put_transfer_task"), timeout, "put_transfer_task")

    def get_transfer_task(self, *, ticket: int = 0, timeout: Timeout = 0.0) -> tuple[Any | None, bool]:
        """Take this rank's next task.

        Args:
            ticket: Take exactly the task of this :meth:`transfer_ticket`, or nothing. Ranks that are handed the same
                ticket all get the task, or none does, whatever is cleared or put meanwhile; so they stay in step.
            timeout: Seconds to wait for a task. 0, the default, answers at once. Not used with a ticket.

        Returns:
            ``(task, read_finish)``; ``read_finish`` is True for the last rank that takes it. ``(None, False)`` when
            there is none for this rank and ``timeout`` is 0.

        Raises:
            As ``EngineWorkerQueue.get_tasks``.
        """
        self._check_ticket(ticket, "get_transfer_task", "transfer_ticket")
        id_, task, read_finish = self._get("bitmask", ticket, timeout, "get_transfer_task")
        return (task, read_finish) if id_ else (None, False)

    def clear_transfer_task(self) -> tuple[int, ...]:
        """Drop the tasks that no rank has taken. Never waits; applies to the epoch that this handle has seen.

        Returns:
            The ranks that have taken the oldest task that stays, () when none stays.
        """
        _, taken = self._path("bitmask", "clear_transfer_task").clear("clear_transfer_task")
        return tuple(taken)

    def empty(self) -> bool:
        """Return True when no task is queued. One load from shared memory on the host's machine."""
        return self._oldest("bitmask", "empty") == 0

    def transfer_ticket(self) -> int:
        """Return the ticket of this rank's next task, or 0. One load from shared memory, like empty().

        Rank 0 hands the ticket to the other ranks instead of a flag, and each calls ``get_transfer_task(ticket=...)``.

        Raises:
            RankError: The handle has no rank.
            HostLostError: The host is gone.
        """
        return self._ticket("bitmask", "transfer_ticket")

    # -- results -------------------------------------------------------------------------------------------------

    def put_transfer_done_signal(self, item: Any) -> None:
        """Post a result. Never waits.

        Raises:
            ConfigError: The result is None, which tells a taker that there is none.
        """
        name = "put_transfer_done_signal"
        self._act("done", "put", self._pickle(self._something(item, name), name), name)

    def get_transfer_done_signal(self) -> Any | None:
        """Take the oldest result, or None. The result that this handle took before counts as handled now."""
        name = "get_transfer_done_signal"
        taken = self._act("done", "take", 1, name)
        return self._unpickle(taken[0], name) if taken else None

    def result_queue_empty(self) -> bool:
        """Return True when every posted result has been handled: none is queued, and none is in a taker's hands.

        A taker has handled a result when it asks for the next one (or closes).
        """
        return bool(self._view("done", name="result_queue_empty")["empty"])

    def statistics(self) -> DispatchStatistics:
        """Return a snapshot of the task queue. One round trip."""
        return self._statistics("bitmask")

    # -- views ---------------------------------------------------------------------------------------------------

    def _tasks(self) -> list[Any]:
        return self._path("bitmask", "transfer_task_queue").items("transfer_task_queue")

    def _results(self) -> list[Any]:
        view = self._view("done", name="tansfer_done_queue")
        return [self._unpickle(payload, "tansfer_done_queue") for payload in view["items"]]

    def _mask(self) -> int:
        log = self._view("bitmask", name="task_sync_value")["log"]
        return sum(1 << rank for rank in log[0][1]) if log else 0
