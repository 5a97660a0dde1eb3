"""BlockLists: the free lists of a cache's device and host blocks. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from fdcomm.core.blocks import Blocks, Lease, Task
from fdcomm.deadline import Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    ConfigError,
    FdcommError,
    ForkedHandleError,
    HostLostError,
    NoBlocksError,
    StaleLeaseError,
)
from fdcomm.errors import TransferCancelledError as Cancelled
from fdcomm.forksafety import close_in_child
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.stats import BlockStatistics
from fdcomm.trace import Recorder

__all__ = ("BLOCKS_EVENTS", "BlockLists", "BlockStatistics", "Kind", "Lease")

Kind: TypeAlias = Literal["device", "host"]
KINDS: Final = ("device", "host")

BLOCKS_EVENTS: Final = (
    "Allocate",
    "Free",
    "FreeStale",
    "Reserve",
    "Register",
    "Refuse",
    "Handle",
    "Settle",
    "Cancel",
    "BeginReset",
    "Rebuild",
    "Lose",
    "Close",
)
"""Action names of spec/blocks.toml, as they are recorded."""


class BlockLists:
    """Free lists of device blocks ``0 .. device - 1`` and of host blocks, which are numbered after them.

    Every block is in exactly one place: free, in a lease that somebody has, or in a transfer; also in one that has
    failed, while a rank may still write to the block. A lease ends when it is freed, given to a transfer, or taken back
    by a reset, and is good for nothing after that. Safe to use from several threads; one lock guards the lists together
    with the transfers of :class:`fdcomm.transfer_client.TransferClient`.
    """

    def __init__(
        self, device: int, host: int, *, recorder: Recorder | None = None, dp: int = 0, runtime: Runtime = SYSTEM
    ) -> None:
        """Make lists in which every block is free.

        Args:
            device: Number of device blocks.
            host: Number of host blocks.
            recorder: Records every action, see :mod:`fdcomm.trace`.
            dp: Only for the record: tells the lists of one file apart.
            runtime: For tests.
        """
        self._core = Blocks(device, host)
        self._runtime = runtime
        self._changed = runtime.condition()
        self._why: FdcommError | None = None
        self._stale_frees = 0
        self._recorder = recorder
        self._where = {"protocol": "blocks", "dp": dp}
        self._seq = 0
        self._forked: list[Callable[[], None]] = []
        close_in_child(self)
        if recorder is not None:
            recorder.write({**self._where, "action": "Open", "device": device, "host": host})

    def allocate(self, n: int = 1, kind: Kind = "device", *, timeout: Timeout = 0.0) -> Lease:
        """Take the n lowest free blocks of a kind. Action Allocate.

        Args:
            n: How many.
            kind: ``device`` or ``host``.
            timeout: Seconds to wait until there are so many, and for the end of a reset.

        Raises:
            NoBlocksError: Fewer are free.
            TransferCancelledError: A reset is under way.
            HostLostError: The client of the lists has lost its port.
            ClosedError: The client of the lists was closed.
        """
        which = _kind(kind)
        _at_least_one(n)
        deadline = Deadline(timeout_seconds(timeout, "allocate"), self._runtime.monotonic)
        with self._changed:
            while True:
                self._require_serving("allocate")
                lease = self._core.allocate(which, n) if self._core.phase == "open" else None
                if lease is not None:
                    self._record("Allocate", {"kind": which, "n": n}, {"ids": list(lease.ids)})
                    return lease
                if deadline.expired():
                    break
                self._changed.wait(deadline.remaining())
            self._require_open("allocate")
            raise NoBlocksError(
                f"allocate: {n} {kind} blocks were asked for, and {self._core.count(which)} are free; free some, or "
                "swap them out",
                operation="allocate",
                waited_s=deadline.waited(),
            )

    def free(self, lease: Lease) -> None:
        """Give blocks back. Actions Free and FreeStale.

        Raises:
            StaleLeaseError: A reset has taken them back. Nothing was changed, and nothing is left to do.
            ProtocolViolationError: The lease was freed before, is in a transfer, or is of other lists.
        """
        if not self.recycle(lease):
            raise StaleLeaseError(
                f"free: blocks {_some(lease.ids)} were taken back by a reset; drop the lease", operation="free"
            )

    def recycle(self, lease: Lease) -> bool:
        """As :meth:`free`, for who does not care whether a reset was faster: returns False then."""
        with self._changed:
            block = lease.ids[0]
            if self._core.free(lease):
                self._record("Free", {"block": block})
                self._changed.notify_all()
                return True
            self._stale_frees += 1
            self._record("FreeStale", {"block": block, "gen": lease.generation})
            return False

    def can_allocate(self, n: int, kind: Kind = "device") -> bool:
        """Return True if so many blocks are free now, and no reset is under way."""
        which = _kind(kind)
        with self._changed:
            return self._core.phase == "open" and self._core.count(which) >= n

    def is_current(self, lease: Lease) -> bool:
        """Return True if the lease is somebody's: not freed, not in a transfer, not taken back."""
        with self._changed:
            return self._core.leases.get(lease.ids[0]) is lease

    @property
    def generation(self) -> int:
        """Resets so far."""
        return self._core.generation

    def statistics(self) -> BlockStatistics:
        """Return a snapshot."""
        with self._changed:
            core = self._core
            return BlockStatistics(
                phase=core.phase,
                generation=core.generation,
                device_free=core.count(0),
                host_free=core.count(1),
                leased=sum(len(lease.ids) for lease in core.leases.values()),
                in_flight=sum(len(lease.ids) for task in core.tasks.values() for lease in task.held),
                late=sum(len(task.written.ids) for task in core.tasks.values() if task.late),
                stale_frees=self._stale_frees,
            )

    def check(self) -> None:
        """Look at every block.

        Raises:
            ProtocolViolationError: One is in no place, or in several: a bug of fdcomm.
        """
        with self._changed:
            self._core.check()

    def after_fork_in_child(self) -> None:
        """The child's copy gives out nothing: each block would be given out twice."""
        self._changed = self._runtime.condition()  # the parent's may have been held
        self._recorder = None
        self._why = ForkedHandleError("these block lists came to this process by fork; the parent has them")
        if self._core.serving:
            self._core.lose()
        for tell in self._forked:
            tell()

    # -- for the client of these lists; the lock is held ----------------------------------------------------------

    def _require_serving(self, operation: str) -> None:
        if self._core.phase == "closed":
            raise ClosedError(f"{operation}: the transfer client was closed", operation=operation)
        if isinstance(self._why, ForkedHandleError):
            raise ForkedHandleError(f"{operation}: {self._why}", operation=operation)
        if self._core.phase == "lost":
            why = f": {self._why}" if self._why is not None else ""
            raise HostLostError(f"{operation}: the transfer client has lost its port{why}", operation=operation)

    def _require_open(self, operation: str) -> None:
        self._require_serving(operation)
        if self._core.phase == "resetting":
            raise Cancelled(f"{operation}: a reset is under way; try again when it is over", operation=operation)

    def _require_current(self, leases: tuple[Lease, ...]) -> None:
        for lease in leases:
            if lease.generation < self._core.generation:
                raise StaleLeaseError(
                    f"issue: blocks {_some(lease.ids)} were taken back by a reset; drop the lease", operation="issue"
                )

    def _tell(self, action: str, act: Callable[[], list[Task]]) -> list[Task]:
        told = act()
        self._record(action, {}, {"told": [task.index for task in told]})
        self._changed.notify_all()
        return told

    def _record(self, action: str, args: dict[str, Any], result: dict[str, Any] | None = None) -> None:
        if self._recorder is None:
            return
        self._seq += 1
        core = self._core
        post = {
            "gen": core.generation,
            "phase": core.phase,
            "free": core.free_ids(),
            "leases": sorted(list(lease.ids) for lease in core.leases.values()),
            "tasks": sorted(core.tasks),
        }
        event = {"seq": self._seq, "action": action, "args": args, "result": result or {}, "post": post}
        self._recorder.write({**self._where, **event})


def _kind(kind: str) -> int:
    if kind not in KINDS:
        raise ConfigError(f"kind={kind!r} is neither device nor host")
    return KINDS.index(kind)


def _at_least_one(n: object) -> None:
    if type(n) is not int or n < 1:
        raise ConfigError(f"allocate: n={n!r} is not a number of blocks, at least 1", operation="allocate")


def _some(ids: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ids[:4]))
    return f"{shown}, ... ({len(ids)} in all)" if len(ids) > 4 else shown
