"""TransferClient: gives transfers of cache blocks to the ranks, and resets. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, Protocol

from fdcomm.blocks import BlockLists, Lease
from fdcomm.core.blocks import OUTCOMES, Task
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
from fdcomm.transfer_port import TransferPort, TransferResult
from fdcomm.transfer_reset import Reset

__all__ = ("Pauses", "Swap", "SwapResult", "TransferClient", "TransferClientStatistics")

_LOOK_S: Final = 0.25
_NOT_ISSUED: Final = (PeerLostError, CommTimeoutError, ConfigError, PayloadError, PayloadTooLargeError)


class Pauses(Protocol):
    """What a reset needs of :class:`fdcomm.pause.PauseControl`."""

    def paused(self, *, timeout: Timeout = DEFAULT) -> contextlib.AbstractContextManager[Any]:
        """Pause for a block: when it is entered no rank runs a job, and none starts one before its end."""


class TransferClient:
    """The prefix cache's side of transfers, over a port whose results nobody else takes.

    A transfer holds its blocks until its result is handled, under the lock that guards the lists, whatever becomes of
    who waits for it; but once a handler ran over its limit, or a task was abandoned, a rank may write to the freed
    target until the next pause. A thread takes the results; who waits is told when it ends: closed, or the port lost.
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
        self._receiver = 0
        self._counts = TransferClientStatistics()
        self._reset = Reset(self, control)
        blocks._forked.append(self._after_fork)
        self._thread = runtime.spawn(self._receive, "fdcomm transfer results")

    # -- issuing -------------------------------------------------------------------------------------------------

    def issue(
        self, task: Any, kind: str, source: Lease, target: Lease | None = None, *, timeout: Timeout = 0.0
    ) -> Swap:
        """Give the ranks a task; from here on its blocks are its own. Actions Reserve, and Register or Refuse.

        When it is done the source is free, and the target the issuer's; when it has failed, or was withdrawn, the
        target is free, and the source the issuer's. A task without a target leaves the source to its issuer. Never
        waits for a task, and for room in the queue only if ``timeout`` says so: it may be called under a lock.

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
        rank has taken are withdrawn; the reset waits until the results of all others are handled. A reset that another
        thread has begun is joined. One that has ended with an error stays begun: call again, or close.

        Args:
            timeout: Seconds.
            during: Called when no task is in flight and nothing is issued, before the lists are rebuilt: clear here
                what belongs to the blocks. Only the call that makes the reset calls its own.
            progress: Called with the number of tasks in flight whenever it has changed.

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
        if not self._is_receiver():
            self._thread.join(limit)

    def statistics(self) -> TransferClientStatistics:
        """Return a snapshot. No round trip."""
        blocks = self._blocks.statistics()
        with self._changed:
            return replace(self._counts, outstanding=self._outstanding(), issuing=self._issuing, blocks=blocks)

    def __enter__(self) -> TransferClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- the thread that takes results ---------------------------------------------------------------------------

    def _receive(self) -> None:
        """Take results until the end. What was taken is handled before the next is asked for."""
        self._receiver = threading.get_ident()
        try:
            while not self._is_over():
                result = self._port.result(_LOOK_S)
                if result is not None:
                    self._handle(result)
        except BaseException as error:  # noqa: BLE001 - whatever ends this thread, nobody may go on waiting for it
            self._lose(error)

    def _handle(self, result: TransferResult) -> None:
        number = result.number if isinstance(result, TransferResult) else None
        with self._changed:
            task = self._await_number(number)
            if task is None:
                return
            if result.outcome not in OUTCOMES:
                self._count(unreadable=1)
                result = replace(result, outcome="failed", error=f"the result cannot be read: {result.outcome!r}")
            calls = self._ended(task, result)
        self._call(*calls)

    def _await_number(self, number: int | None) -> Task | None:
        """Return the task of a result. A result may be there before the call that issued its task has returned."""
        while self._core.phase in ("open", "resetting"):
            task = None if number is None else self._core.find(number)
            if task is not None:
                return task
            if number is None or not self._issuing:
                self._count(**{"unreadable" if number is None else "unknown": 1})
                return None
            self._changed.wait(None)
        return None

    def _ended(self, task: Task, result: TransferResult) -> tuple[Swap, list[Callback]]:
        told = task.told != ""
        lease = self._core.handle(task, result.outcome)
        swap = self._swaps.pop(task.index)
        given = -1 if lease is None else lease.ids[0]
        self._count(**{result.outcome: 1, "given_up": int(told)})
        self._blocks._record("Handle", {"task": task.index, "outcome": result.outcome}, {"given": given})
        calls = [] if told else swap._end(result, lease)
        self._changed.notify_all()
        return swap, calls

    def _after_fork(self) -> None:
        """Nobody takes results in the child: who waits there is told."""
        self._changed = self._blocks._changed
        for swap in self._swaps.values():
            swap._forked(self._runtime.condition(self._changed))

    # -- helpers -------------------------------------------------------------------------------------------------

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

    def _is_receiver(self) -> bool:
        return self._receiver == threading.get_ident()

    def _require_other_thread(self, operation: str) -> None:
        if self._is_receiver():
            raise ProtocolViolationError(
                f"{operation}: a done callback may not wait: it runs in the thread that takes the results",
                operation=operation,
            )

    def _lose(self, error: BaseException) -> None:
        why = error if isinstance(error, FdcommError) else FdcommError(f"{type(error).__name__}: {error}")
        with self._changed:
            if self._core.phase in ("open", "resetting"):
                self._blocks._why = why
        self._end("Lose", str(why))

    def _end(self, action: str, why: str) -> bool:
        """Lose or Close. False when there was an end before."""
        with self._changed:
            if self._core.phase not in ("open", "resetting"):
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

    def _is_over(self) -> bool:
        with self._changed:
            return self._core.phase in ("lost", "closed")

    def _outstanding(self) -> tuple[int, ...]:
        return tuple(sorted(task.number for task in self._core.tasks.values() if task.number is not None))

    def _count(self, **more: int) -> None:
        self._counts = replace(self._counts, **{name: getattr(self._counts, name) + n for name, n in more.items()})
