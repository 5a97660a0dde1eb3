"""TransferClient: gives transfers of cache blocks to the ranks, and resets. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, Protocol

from fdcomm.blocks import BlockLists, Lease
from fdcomm.core.blocks import Task
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import (
    CommTimeoutError,
    ConfigError,
    FdcommError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    ProtocolViolationError,
)
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.stats import TransferClientStatistics
from fdcomm.swap import Callback, Swap, SwapResult
from fdcomm.transfer_port import TransferPort
from fdcomm.transfer_receiver import Receiver
from fdcomm.transfer_reset import Reset

__all__ = ("Pauses", "Swap", "SwapResult", "TransferClient", "TransferClientStatistics")

_NOT_ISSUED: Final = (PeerLostError, CommTimeoutError, ConfigError, PayloadError, PayloadTooLargeError)


class Pauses(Protocol):
    """What a reset needs of :class:`fdcomm.pause.PauseControl`."""

    def paused(self, *, timeout: Timeout = DEFAULT) -> contextlib.AbstractContextManager[Any]:
        """Pause for a block: when it is entered no rank runs a job, and none starts one before its end."""


class TransferClient:
    """The prefix cache's side of transfers, over a port whose results nobody else takes.

    A transfer holds its blocks until its result is handled, under the lock that guards the lists, whatever becomes of
    who waits for it. When a rank may still write then, what it may write to is free only when the last such rank has
    ended. A thread takes the results; who waits is told when it ends: closed, or the port lost.
    """

    def __init__(
        self, port: TransferPort, blocks: BlockLists, control: Pauses | None = None, *, runtime: Runtime = SYSTEM
    ) -> None:
        """Start to take results.

        Args:
            port: Where tasks go to. It is this client's alone, and has to stay open as long.
            blocks: The lists of the blocks that the tasks move. They are this client's alone, too.
            control: What stops the ranks during a reset. None: a reset waits for what they have taken, and other
                clients' tasks go on.
            runtime: For tests.
        """
        self._port = port
        self._blocks = blocks
        self._core = blocks._core
        self._changed = blocks._changed
        self._runtime = runtime
        self._swaps: dict[int, Swap] = {}
        self._issuing = 0
        self._counts = TransferClientStatistics()
        self._reset = Reset(self, control)
        blocks._forked.append(self._after_fork)
        self._receiver = Receiver(self)
        self._thread = runtime.spawn(self._receiver.run, "fdcomm transfer results")

    # -- issuing -------------------------------------------------------------------------------------------------

    def issue(
        self, task: Any, kind: str, source: Lease, target: Lease | None = None, *, timeout: Timeout = 0.0
    ) -> Swap:
        """Give the ranks a task; from here on its blocks are its own. Actions Reserve, and Register or Refuse.

        When it is done the source is free, and the target the issuer's; when it has failed, or was withdrawn, the
        target is free, and the source the issuer's. A task without a target leaves the source to its issuer. If it
        has failed and a rank may still be at it, the target, or the source where there is none, is free later, and
        nobody's until then. Never waits for a task, and for room only if ``timeout`` says so: it may be called under a
        lock.

        Args:
            task: For the ranks.
            kind: For the ranks: tasks of one kind are done in order.
            source: Blocks to move.
            target: Blocks to move them to.
            timeout: Seconds to wait for room.

        Raises:
            CommTimeoutError: There was no room. The leases are the issuer's again; also after the next two.
            PeerLostError: A rank is gone.
            PayloadError: The task cannot be pickled.
            StaleLeaseError: A lease was ended by a reset.
            TransferCancelledError: A reset is under way.
            HostLostError: The port is lost.
            ClosedError: The client was closed.
        """
        limit = timeout_seconds(timeout, "issue")
        swap = self._reserve(kind, source, target)
        try:
            number = self._port.issue(task, kind, limit)
        except _NOT_ISSUED:
            self._refuse(swap)
            raise
        except BaseException as error:
            self._lose(error)  # nobody knows whether the ranks have it
            raise
        if not self._register(swap, number):
            self._withdraw_rest()  # the close has not seen it
        return swap

    def _reserve(self, kind: str, source: Lease, target: Lease | None) -> Swap:
        with self._changed:
            self._blocks._require_open("issue")
            self._blocks._require_current((source,) if target is None else (source, target))
            task = self._core.reserve(source, target)
            ended = self._runtime.condition(self._changed)
            swap = self._swaps[task.index] = Swap(self, kind, task, ended, self._runtime)
            self._issuing += 1
            where = {"source": source.ids[0], "target": -1 if target is None else target.ids[0]}
            self._blocks._record("Reserve", where, {"task": task.index})
        return swap

    def _refuse(self, swap: Swap) -> None:
        with self._changed:
            self._issuing -= 1
            del self._swaps[swap._task.index]
            back = self._core.refuse(swap._task)
            self._count(refused=1)
            self._blocks._record("Refuse", {"task": swap._task.index}, {"back": back})
            self._changed.notify_all()

    def _register(self, swap: Swap, number: int) -> bool:
        """The port has the task. False when the client was closed meanwhile."""
        with self._changed:
            self._issuing -= 1
            self._core.register(swap._task, number)
            self._count(issued=1)
            self._reset.issued()
            self._blocks._record("Register", {"task": swap._task.index})
            self._changed.notify_all()
            return self._core.phase != "closed"

    # -- resets, and the end -------------------------------------------------------------------------------------

    def reset(
        self,
        *,
        timeout: Timeout = DEFAULT,
        during: Callable[[], object] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """Take every block back: each is free then, and every lease of before is stale. BeginReset, Rebuild.

        Who waits for a transfer is told at once (TransferCancelledError), and nothing new is issued. Tasks that no
        rank has taken are withdrawn; the reset waits until the results of all others are handled, and no rank is at a
        task that has failed. A reset that another thread has begun is joined. One that has ended with an error stays
        begun: call again, or close.

        Args:
            timeout: Seconds.
            during: Called when no task is in flight and nothing is issued, before the lists are rebuilt: clear here
                what belongs to the blocks. Only the call that makes the reset calls its own.
            progress: Called with the number of tasks in flight, late ones too, whenever it has changed.

        Returns:
            The new generation.

        Raises:
            CommTimeoutError: The message names what is outstanding; ``missing`` the ranks, when these did not pause.
            HostLostError: The port is lost.
            ClosedError: The client was closed.
        """
        self._require_other_thread("reset")
        return self._reset.run(timeout_seconds(timeout, "reset"), during, progress)

    def close(self, *, timeout: Timeout = 10.0) -> None:
        """Tell everybody who waits (ClosedError), withdraw what no rank has taken, and end the thread. Idempotent.

        Blocks of tasks in flight stay theirs, so these lists give out nothing any more: make new ones.
        """
        limit = timeout_seconds(timeout, "close")
        if self._end("Close", "") and self._core.tasks:
            self._withdraw_rest()
        if not self._receiver.is_this_thread():
            self._thread.join(limit)

    def statistics(self) -> TransferClientStatistics:
        """Return a snapshot. No round trip."""
        blocks = self._blocks.statistics()
        with self._changed:
            outstanding, late = self._outstanding()
            return replace(self._counts, outstanding=outstanding, late=late, issuing=self._issuing, blocks=blocks)

    def __enter__(self) -> TransferClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- helpers -------------------------------------------------------------------------------------------------

    def _after_fork(self) -> None:
        """Nobody takes results in the child: who waits there is told."""
        self._changed = self._blocks._changed
        for swap in self._swaps.values():
            swap._forked(self._runtime.condition(self._changed))

    def _cancel(self, swap: Swap) -> bool:
        with self._changed:
            if not self._core.cancel(swap._task):
                return False
            self._blocks._record("Cancel", {"task": swap._task.index})
            calls = swap._end()
        self._call(swap, calls)
        return True

    def _withdraw_rest(self) -> None:
        with contextlib.suppress(FdcommError):  # the end of the port's session withdraws it, too
            self._port.withdraw()

    def _require_other_thread(self, operation: str) -> None:
        if self._receiver.is_this_thread():
            raise ProtocolViolationError(
                f"{operation}: a done callback may not wait: it runs in the thread that takes the results",
                operation=operation,
            )

    def _lose(self, error: BaseException) -> None:
        why = error if isinstance(error, FdcommError) else FdcommError(f"{type(error).__name__}: {error}")
        with self._changed:
            if self._core.serving:
                self._blocks._why = why
        self._end("Lose", str(why))

    def _end(self, action: str, why: str) -> bool:
        """Lose or Close. False when there was an end before."""
        with self._changed:
            if not self._core.serving:
                return False
            told = self._blocks._tell(action, self._core.lose if action == "Lose" else self._core.close)
            calls = self._told(told, why)
        for swap, whom in calls:
            self._call(swap, whom)
        return True

    def _told(self, tasks: Iterable[Task], why: str) -> list[tuple[Swap, list[Callback]]]:
        return [(swap, swap._end(why=why)) for swap in [self._swaps[task.index] for task in tasks]]

    def _call(self, swap: Swap, calls: Iterable[Callback]) -> None:
        for call in calls:
            try:
                call(swap)
            except Exception as error:  # noqa: BLE001 - a callback is not this thread's business; it is counted
                with self._changed:
                    self._count(callback_errors=1)
                    self._counts = replace(self._counts, last_error=f"{type(error).__name__}: {error}")

    def _outstanding(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the numbers of the tasks whose results were not handled, and of those that are late."""
        known = sorted((task.number, task.late) for task in self._core.tasks.values() if task.number is not None)
        return tuple(number for number, late in known if not late), tuple(number for number, late in known if late)

    def _count(self, **more: int) -> None:
        self._counts = replace(self._counts, **{name: getattr(self._counts, name) + n for name, n in more.items()})
