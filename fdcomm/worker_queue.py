"""EngineWorkerQueue: an engine gives batches of tasks to all tensor-parallel ranks.

Protocol: ``spec/dispatch.toml``, ``tla/dispatch/Dispatch.tla``, docs/protocols/dispatch.md.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from fdcomm.arguments import is_truth
from fdcomm.barrier import NamedBarrier
from fdcomm.connect import Address, How
from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.errors import ConfigError
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.session import DataPathName, Role
from fdcomm.stats import DispatchStatistics
from fdcomm.transports.base import Transport
from fdcomm.views import ListView, LockView, QueueView, SharedValue, SignalView, ValueView, View
from fdcomm.worker_cache import WorkerCacheMethods

__all__ = ("EngineWorkerQueue",)


class EngineWorkerQueue(WorkerCacheMethods):
    """A handle to the task queue between an engine and its workers.

    The server instance starts a host process; client instances, in any process of this machine, connect to it. All
    instances can put, clear and ask; a client instance with a rank can get.

    | | |
    |---|---|
    | delivery | each rank takes each batch exactly once |
    | order | that of the puts, the same for all ranks |
    | depth | ``depth`` batches are retained (1: the next put waits until every rank has taken the previous batch) |
    | blocking | ``put_tasks``, and ``get_tasks`` with a positive timeout; all bounded |
    | threads | any number on one handle |
    | processes | one handle per process; a handle that came through fork raises ForkedHandleError |
    | a rank's process dies | put raises PeerLostError until it is restarted; the others go on reading |
    | the host dies | every call raises HostLostError |

    Use it as a context manager, or call :meth:`close` (clients) and :meth:`cleanup` (server). A reader that is not
    closed, or whose ``with`` block ends with an exception, counts as lost: the engine's next put says so.
    """

    _NO_LOCK = "the queue's methods, each of which is one atomic action"

    finish_request_barrier = NamedBarrier()
    worker_process_tp_barrier = NamedBarrier()
    connect_task_barrier = NamedBarrier()
    connect_task_response_barrier = NamedBarrier()
    finish_add_cache_task_barrier = NamedBarrier()
    begin_send_cache_barrier = NamedBarrier()
    finish_send_cache_barrier = NamedBarrier()
    cache_info_barrier = NamedBarrier()

    tasks = View(ListView, lambda q: q._path("dispatch", "tasks").items("tasks"), "put_tasks() or clear_data()")
    client_read_flag = View(ListView, lambda q: q._read_flags("dispatch", 1), "get_tasks()")
    exist_tasks_inter_signal = View(ValueView, lambda q: q._exists(), "put_tasks() or clear_data()")
    exist_tasks_intra_signal = View(SignalView, lambda q: q._exists(), "put_tasks() or clear_data()")
    connected_client_counter = View(ValueView, lambda q: q._clients(), "the constructor and close()")
    cache_infos = View(ListView, lambda q: q._cache_infos(), "put_cache_info()")
    client_read_info_flag = View(ListView, lambda q: q._read_flags("cache_info", 0), "get_cache_info()")
    disaggregate_requests = View(
        QueueView,
        lambda q: q._view("disaggregate", name="disaggregate_requests")["length"],
        "put_disaggregated_tasks() or get_disaggregated_tasks()",
    )
    connect_rdma_tasks = View(ListView, lambda q: q._path("connect", "view").items("view"), "put_connect_rdma_task()")
    connect_rdma_task_responses = View(
        ListView, lambda q: q._answers("connect_response"), "put_connect_rdma_task_response()"
    )
    finished_send_cache_list = View(ListView, lambda q: q._answers("send_cache"), "put_finished_req()")
    finished_add_cache_task_list = View(
        ListView, lambda q: q._answers("add_cache"), "put_finished_add_cache_task_req()"
    )
    client_get_connect_task_flag = View(ListView, lambda q: q._read_flags("connect", 0), "get_connect_rdma_task()")
    client_get_connect_task_response_flag = View(
        ListView, lambda q: q._answer_flags("connect_response"), "put_connect_rdma_task_response()"
    )
    client_get_finished_add_cache_task_flag = View(
        ListView, lambda q: q._answer_flags("add_cache"), "put_finished_add_cache_task_req()"
    )
    client_get_finish_send_cache_flag = View(ListView, lambda q: q._answer_flags("send_cache"), "put_finished_req()")
    can_put_next_connect_task_response_flag = View(
        ValueView, lambda q: q._can_put("connect_response"), "get_connect_rdma_task_response()"
    )
    can_put_next_add_task_finished_flag = View(
        ValueView, lambda q: q._can_put("add_cache"), "get_finished_add_cache_task_req()"
    )
    can_put_next_send_cache_finished_flag = View(ValueView, lambda q: q._can_put("send_cache"), "get_finished_req()")
    lock = View(LockView, lambda q: "not needed", _NO_LOCK)
    lock_info = View(LockView, lambda q: "not needed", _NO_LOCK)
    connect_task_lock = View(LockView, lambda q: "not needed", _NO_LOCK)
    connect_task_response_lock = View(LockView, lambda q: "not needed", _NO_LOCK)
    finish_add_cache_task_lock = View(LockView, lambda q: "not needed", _NO_LOCK)
    finish_send_cache_lock = View(LockView, lambda q: "not needed", _NO_LOCK)

    def __init__(
        self,
        address: Address = ("0.0.0.0", 5000),
        authkey: bytes = b"secret_key",
        is_server: bool = False,
        num_client: int = 1,
        client_id: int = -1,
        local_data_parallel_size: int = 1,
        local_data_parallel_id: int = 0,
        *,
        role: Role | None = None,
        depth: int = 1,
        max_batch_bytes: int = 1 << 28,
        allow_pickle: bool = False,
        transport: How | Transport = "auto",
        trace: str | os.PathLike[str] = "",
        data_path: DataPathName = "auto",
        connect_timeout: float = 0.0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        """Start a host (server) or connect to one (client).

        Args:
            address: ``(host, port)``. ``"0.0.0.0"`` and loopback mean this machine, by AF_UNIX. Port 0 (server) lets
                the system choose; :meth:`get_server_port` tells. A client finds the host by port, whichever of the
                machine's addresses it writes.
            authkey: A well-known default means "none chosen": the host then makes a random key and hands it over in a
                file that only this user may read. Any other key must be given to every client too.
            is_server: Start the host. It ends with this process.
            num_client: Number of ranks (tensor-parallel size).
            client_id: Rank of a client, ``0 <= client_id < num_client``. The rank is claimed by the first read, so an
                engine may use an id that a worker has.
            local_data_parallel_size: Number of independent replicas of the queue (server).
            local_data_parallel_id: The replica that this handle uses.
            role: ``"reader"`` claims the rank now, ``"producer"`` never; None on the first read.
            depth: Batches retained at once (server).
            max_batch_bytes: Largest pickled batch (server).
            allow_pickle: Required to serve, or connect to, another machine: whoever holds the key can run code.
            transport: ``"tcp"`` makes a host also listen on TCP on this machine, and a client use that; ``"zmq"``, or a
                :class:`~fdcomm.link.options.ZmqLink` with keys and limits, on ZeroMQ, whose connections may break. A
                :class:`~fdcomm.transports.base.Transport` object is used as it is (tests, simulations).
            trace: File for the host's events (server), see :mod:`fdcomm.trace`; "" records nothing.
            data_path: How items go. ``"auto"``: through shared memory, where host and handle are on one machine of
                the kind that it is proved for (Linux, x86-64), ``depth`` is at most 4096 and nothing is recorded;
                ``"ring"``: so, or a ConfigError; ``"host"``: through the host, as do those who do not reach the memory.
                FDCOMM_DATA_PATH says what ``"auto"`` means; FDCOMM_SPIN_S, how long a reader looks before it sleeps.
            connect_timeout: Seconds that a client waits for a host that is not there yet; 0 fails at once.
            runtime: Threads, time and shared words; for tests.

        Raises:
            RankError: ``client_id`` is out of range.
            ConfigError: Another argument cannot work, or disagrees with the host's.
            UnsafeConfigError: The address would expose the host; the message says what must be written.
            AddressInUseError: The port is taken (server).
            HostNotFoundError: Nobody serves the address (client).
            AuthError: Wrong key (client).
            DuplicateRankError: ``role="reader"`` and the rank has a live reader.
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
        self._unreadable = deque()
        self._looked = 0  # exist_tasks(): a batch that this rank had taken and others had not

    # -- protocol actions ----------------------------------------------------------------------------------------

    def put_tasks(self, tasks: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Give a batch to every rank. Actions CallPut and PutTasks (or PutLost, PutTimeout).

        Blocks while the queue is full, that is, with ``depth=1``, until every rank has taken the previous batch. Where
        items go through the host, put calls are served in the order in which they arrive there. Ranks that have not
        connected yet are waited for; they find the batch when they come.

        Args:
            tasks: Any picklable object; FastDeploy puts ``(list of tasks, batch size)``.
            timeout: Seconds; None waits for ever; the default is FDCOMM_TIMEOUT, else 600.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that have not taken the oldest batch. Nothing was put.
            PeerLostError: ``missing`` names ranks whose process is gone. Nothing was put.
            PayloadError: The batch cannot be pickled. Nothing was put.
            PayloadTooLargeError: It is larger than ``max_batch_bytes``. Nothing was put.
            HostLostError: The host is gone.
        """
        self._put("dispatch", tasks, timeout, "put_tasks")

    def get_tasks(self, *, ticket: int = 0, timeout: Timeout = 0.0) -> tuple[list[Any], bool]:
        """Take this rank's next batch. Action GetTasks (after Join, on the handle's first read).

        Args:
            ticket: Take exactly the batch of this :meth:`task_ticket`, or nothing. Ranks that are handed the same
                ticket all get the batch, or none does, whatever is cleared or put meanwhile; so they stay in step.
            timeout: Seconds to wait for a batch. 0, the default, answers at once. Not used with a ticket.

        Returns:
            ``([batch], all_read)``, where ``all_read`` is True for the last rank that takes this batch; or
            ``([], all_read)`` when there is nothing for this rank and ``timeout`` is 0: then ``all_read`` is True if
            there is nothing for any rank (with a ticket it is always False).

        Raises:
            CommTimeoutError: No batch came within a positive ``timeout``.
            RankError: The handle has no rank, or ``role="producer"``.
            DuplicateRankError: Another live handle reads for this rank.
            FencedError: The host had given this handle up.
            PayloadError: The batch was taken, and cannot be unpickled here; ``__cause__`` says why.
            HostLostError: The host is gone.
        """
        self._check_ticket(ticket, "get_tasks", "task_ticket")
        id_, batch, all_read = self._get("dispatch", ticket, timeout, "get_tasks")
        return ([batch], all_read) if id_ else ([], all_read)

    def clear_data(self) -> None:
        """Drop the batches that no rank has taken. Action ClearRank or ClearProducer.

        A batch that some rank has taken stays for the others: dropping it would leave the ranks running different
        batches. The clear applies to the epoch that this handle has seen, so when every rank calls it after the same
        event, the first call clears, and a batch put after it survives the rest. Never waits.

        Raises:
            HostLostError: The host is gone.
        """
        self._path("dispatch", "clear_data").clear("clear_data")

    # -- reads ---------------------------------------------------------------------------------------------------

    def exist_tasks(self) -> bool:
        """Return True when there is a batch to take. Loads from shared memory on the host's machine, no round trip.

        On a handle that reads for a rank (has called :meth:`get_tasks`, or ``role="reader"``) it is about that rank:
        True when there is a batch that this rank has not taken. A batch that only other ranks have not taken they may
        be taking right now; it counts from the second call on that finds it so, because then somebody has to tell
        them. On any other handle it is True while some rank has a batch to take.

        Racy: taken without the host's critical section. It is sound because the host raises and lowers the words
        inside the critical section that changes the queue (invariant ExistCoherent), so True means that there was an
        unread batch at the moment of the load.

        Raises:
            HostLostError: The host is gone (noticed within 0.1 s of polling).
        """
        oldest = self._oldest("dispatch", "exist_tasks")
        if not oldest or not self._path("dispatch", "exist_tasks").has_claimed():
            return oldest != 0
        own = self._ticket("dispatch", "exist_tasks")
        again, self._looked = self._looked == oldest, 0 if own else oldest
        return own != 0 or again

    def task_ticket(self) -> int:
        """Return the ticket of this rank's next batch, or 0. One load from shared memory, like exist_tasks().

        Rank 0 hands the ticket to the other ranks instead of a flag, and each calls ``get_tasks(ticket=...)``.

        Raises:
            RankError: The handle has no rank.
            HostLostError: The host is gone.
        """
        return self._ticket("dispatch", "task_ticket")

    def num_tasks(self) -> int:
        """Return how many batches are retained. Loads from shared memory on the host's machine, no round trip."""
        return self._path("dispatch", "num_tasks").num_items("num_tasks")

    def set_exist_tasks(self, flag: bool) -> None:
        """Accepted for FastDeploy's callers: the flag follows the queue by itself.

        Raises:
            ProtocolViolationError: ``flag`` is not what is so.
            ConfigError: ``flag`` is neither a truth value nor 0 or 1.
        """
        if not (is_truth(flag) or (isinstance(flag, int) and flag in (0, 1))):
            raise ConfigError(f"set_exist_tasks: flag={flag!r} must be True or False", operation="set_exist_tasks")
        self._act("dispatch", "set_exist_tasks", bool(flag))

    def statistics(self) -> DispatchStatistics:
        """Return a snapshot of the queue. One round trip."""
        return self._statistics("dispatch")

    # -- views ---------------------------------------------------------------------------------------------------

    def _exists(self) -> bool:
        return self._oldest("dispatch", "exist_tasks") != 0

    def _read_flags(self, protocol: str, idle: int) -> list[int]:
        """1 for each rank that has taken the oldest item; ``idle`` for all when there is none."""
        log = self._view(protocol, name="view")["log"]
        return [int(rank in log[0][1]) for rank in range(self.num_client)] if log else [idle] * self.num_client

    def _answers(self, gate: str) -> list[Any]:
        view = self._view(gate, name="view")
        return [self._unpickle(answer, "view") for answer in (view["answers"][0] if view["answers"] else [])]

    def _answer_flags(self, gate: str) -> list[int]:
        rounds = self._view(gate, name="view")["rounds"]
        return [int(bool(rounds) and rank in rounds[0][1]) for rank in range(self.num_client)]

    def _can_put(self, gate: str) -> int:
        return int(self._view(gate, name="view")["can_put"])

    def _clients(self) -> int:
        return int(self._view("dispatch", name="connected_client_counter")["clients"])

    @property
    def read_finish_flag(self) -> SharedValue:
        """A number that the workers share for their own use, as in FastDeploy: ``get()`` and ``set()``."""
        return SharedValue(self, "read_finish_flag")
