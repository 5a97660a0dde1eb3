"""EngineWorkerQueue: an engine gives batches of tasks to all tensor-parallel ranks.

Protocol: ``spec/dispatch.toml``, ``tla/dispatch/Dispatch.tla``, docs/protocols/dispatch.md.
"""

from __future__ import annotations

import os
import pickle
from typing import Any

from fdcomm.connect import Address, TransportName
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, PayloadError, PayloadTooLargeError, RankError
from fdcomm.handle import Handle, Role
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.stats import DispatchStatistics
from fdcomm.transports.base import Transport

__all__ = ("EngineWorkerQueue",)


class EngineWorkerQueue(Handle):
    """A handle to the task queue between an engine and its workers.

    The server instance starts a host process; client instances, in any process of this machine, connect to it. All
    instances can put, clear and ask; a client instance with a rank can get.

    | | |
    |---|---|
    | delivery | each rank takes each batch exactly once |
    | order | the order in which put calls arrived |
    | depth | ``depth`` batches are retained (1: the next put waits until every rank has taken the previous batch) |
    | blocking | ``put_tasks``, and ``get_tasks`` with a positive timeout; all bounded |
    | threads | any number on one handle |
    | processes | one handle per process; a handle that came through fork raises ForkedHandleError |
    | a rank's process dies | put raises PeerLostError until it is restarted; the others go on reading |
    | the host dies | every call raises HostLostError |

    Use it as a context manager, or call :meth:`close` (clients) and :meth:`cleanup` (server). A reader that is not
    closed, or whose ``with`` block ends with an exception, counts as lost: the engine's next put says so.
    """

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
        transport: TransportName | Transport = "auto",
        trace: str | os.PathLike[str] = "",
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
            transport: ``"tcp"`` makes a host also listen on TCP on this machine, and a client use that. A
                :class:`~fdcomm.transports.base.Transport` object is used as it is (tests, simulations).
            trace: File for the host's events (server), see :mod:`fdcomm.trace`; "" records nothing.
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
            connect_timeout=connect_timeout,
            runtime=runtime,
        )

    # -- protocol actions ----------------------------------------------------------------------------------------

    def put_tasks(self, tasks: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Give a batch to every rank. Actions CallPut and PutTasks (or PutLost, PutTimeout).

        Blocks while the queue is full, that is, with ``depth=1``, until every rank has taken the previous batch. Put
        calls are served in the order in which they arrive at the host. Ranks that have not connected yet are waited
        for; they find the batch when they come.

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
        limit = timeout_seconds(timeout, "put_tasks")
        transport = self._use("put_tasks")
        try:
            payload = pickle.dumps(tasks, protocol=5)
        except Exception as error:  # __reduce__ of the caller's objects may raise anything
            raise PayloadError(f"put_tasks: the batch cannot be pickled: {error}", operation="put_tasks") from error
        if len(payload) > self._welcome["max_batch_bytes"]:
            raise PayloadTooLargeError(
                f"put_tasks: the batch has {len(payload)} bytes when pickled and the host allows "
                f"{self._welcome['max_batch_bytes']}; start its server with a larger max_batch_bytes",
                operation="put_tasks",
            )
        transport.call("put_tasks", payload, limit, timeout=limit)

    def get_tasks(self, *, ticket: int = 0, timeout: Timeout = 0.0) -> tuple[list[Any], bool]:
        """Take this rank's next batch. Action GetTasks (after Join, on the handle's first read).

        Args:
            ticket: Take exactly the batch of this :meth:`task_ticket`, or nothing. Ranks that are handed the same
                ticket all get the batch, or none does, whatever is cleared or put meanwhile; so they stay in step.
            timeout: Seconds to wait for a batch. 0, the default, answers at once. Not used with a ticket.

        Returns:
            ``([batch], all_read)``, where ``all_read`` is True for the last rank that takes this batch; or
            ``([], False)`` when there is nothing for this rank and ``timeout`` is 0.

        Raises:
            CommTimeoutError: No batch came within a positive ``timeout``.
            RankError: The handle has no rank, or ``role="producer"``.
            DuplicateRankError: Another live handle reads for this rank.
            FencedError: The host had given this handle up.
            PayloadError: The batch was taken, and cannot be unpickled here; ``__cause__`` says why.
            HostLostError: The host is gone.
        """
        limit = timeout_seconds(timeout, "get_tasks")
        transport = self._use("get_tasks")
        if self._role == "producer" or self.client_id < 0:
            raise RankError(
                "get_tasks: this handle reads for no rank; use a client with client_id= and without role='producer'",
                operation="get_tasks",
            )
        if isinstance(ticket, bool) or not isinstance(ticket, int) or ticket < 0:
            raise ConfigError(f"get_tasks: ticket={ticket!r} must be a value of task_ticket()", operation="get_tasks")
        batch_id, payload, all_read = transport.call("get_tasks", ticket, limit, timeout=limit)
        if not batch_id:
            return [], False
        try:
            return [pickle.loads(payload)], all_read
        except Exception as error:  # unpickling may raise anything
            raise PayloadError(
                f"get_tasks: batch {batch_id} was taken but cannot be unpickled in this process: {error}",
                operation="get_tasks",
            ) from error

    def clear_data(self) -> None:
        """Drop the batches that no rank has taken. Action ClearRank or ClearProducer.

        A batch that some rank has taken stays for the others: dropping it would leave the ranks running different
        batches. The clear applies to the epoch that this handle has seen, so when every rank calls it after the same
        event, the first call clears, and a batch put after it survives the rest. Never waits.

        Raises:
            HostLostError: The host is gone.
        """
        self._use("clear_data").call("clear_data", timeout=0.0)

    # -- reads ---------------------------------------------------------------------------------------------------

    def exist_tasks(self) -> bool:
        """Return True while some rank has a batch to take. One load from shared memory on the host's machine.

        Racy: taken without the host's critical section. It is sound because the host raises and lowers the word
        inside the critical section that changes the queue (invariant ExistCoherent), so True means that there was an
        unread batch at the moment of the load.

        Raises:
            HostLostError: The host is gone (noticed within 0.1 s of polling).
        """
        if not self._has_words():
            return bool(self._view("exist_tasks")["exist"])
        return self._load(0, "exist_tasks") != 0

    def task_ticket(self) -> int:
        """Return the ticket of this rank's next batch, or 0. One load from shared memory, like exist_tasks().

        Rank 0 hands the ticket to the other ranks instead of a flag, and each calls ``get_tasks(ticket=...)``.

        Raises:
            RankError: The handle has no rank.
            HostLostError: The host is gone.
        """
        if self.client_id < 0:
            raise RankError("task_ticket: this handle has no client_id", operation="task_ticket")
        if not self._has_words():
            return int(self._view("task_ticket")["ticket"])
        return self._load(1 + self.client_id, "task_ticket")

    def num_tasks(self) -> int:
        """Return how many batches are retained. One round trip."""
        return int(self._view("num_tasks")["num_tasks"])

    def set_exist_tasks(self, flag: bool) -> None:
        """Accepted for FastDeploy's callers: the flag follows the queue by itself.

        Raises:
            ProtocolViolationError: ``flag`` is not what is so.
        """
        self._use("set_exist_tasks").call("set_exist_tasks", bool(flag), timeout=0.0)

    def statistics(self) -> DispatchStatistics:
        """Return a snapshot of the queue. One round trip."""
        view = self._view("statistics")
        ranks = range(self._welcome["tp_size"])
        return DispatchStatistics(
            num_tasks=view["num_tasks"],
            unread=tuple((id_, tuple(r for r in ranks if r not in taken)) for id_, taken in view["log"]),
            waiting_puts=len(view["waiting"]),
            puts=view["calls"],
            epoch=view["epoch"],
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
            away=tuple(view["away"]),
            sessions=view["sessions"],
        )
