"""TransferTasks: gives transfer tasks to all ranks, and gets one result of each.

Protocol: ``spec/transfer.toml``, docs/protocols/transfer.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fdcomm import arguments
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import PayloadError
from fdcomm.handle import Handle
from fdcomm.transfer_port import TransferResult, TransferSettled
from fdcomm.watched import period

__all__ = ("TransferStatistics", "TransferTasks")

_PROTOCOL: Final = "transfer"


@dataclass(frozen=True)
class TransferStatistics:
    """A snapshot of all transfer tasks of a host.

    Attributes:
        issued: Tasks so far.
        waiting: Tasks that have not started.
        queued: The oldest of these, 64 at most.
        started: Number, kind and missing ranks of the oldest that have started, 64 at most.
        unsettled: Number and ranks of the oldest that have ended while ranks may be at them, 64 at most.
        votes: Of each rank, about the next task: "yes", it waits for the others; "no", it is pausing; or "none".
        results: Results that no client has taken.
        in_hand: Results that were taken and not acknowledged.
        live: Ranks whose loop is there.
        lost: Ranks whose process is gone.
        away: Ranks that are neither: tasks wait for them.
    """

    issued: int
    waiting: int
    queued: tuple[int, ...]
    started: tuple[tuple[int, str, tuple[int, ...]], ...]
    unsettled: tuple[tuple[int, tuple[int, ...]], ...]
    votes: tuple[str, ...]
    results: int
    in_hand: int
    live: tuple[int, ...]
    lost: tuple[int, ...]
    away: tuple[int, ...]


Progress: TypeAlias = Callable[[TransferStatistics], object]


class TransferTasks:
    """Issues tasks to all ranks through a queue's handle, and hands out their results: a ``TransferPort``.

    The results of a handle's tasks come to this handle only. When it closes, those that have not started are cancelled.
    Safe to use from several threads.
    """

    def __init__(self, queue: Handle) -> None:
        """Use a handle, which must stay open."""
        self._queue = queue

    def issue(self, task: Any, kind: str, timeout: Timeout = DEFAULT) -> int:
        """Queue a task for every rank; return its number: at least 1, and larger than those before. Action Issue.

        Args:
            task: What the handlers get.
            kind: Which handler: ranks do tasks of one kind in order, and those of different kinds at once.
            timeout: Seconds to wait for room, which is there for 65536 tasks that have not started.

        Raises:
            PeerLostError: A rank is gone, so nothing was issued; ``missing`` names it.
            CommTimeoutError: There was no room; nothing was issued.
            PayloadError: The task cannot be pickled.
            ConfigError: ``kind`` is no string.
        """
        name = "transfer.issue"
        limit = timeout_seconds(timeout, name)
        arguments.text(kind, "kind", name)
        payload = self._queue._pickle(task, name)
        number: int = self._queue._act(_PROTOCOL, "issue", kind, payload, limit, timeout=limit, name=name)
        return number

    def withdraw(self) -> tuple[int, ...]:
        """Cancel those tasks of this handle that have not started; return their numbers. Their results come too."""
        numbers: tuple[int, ...] = self._queue._act(_PROTOCOL, "withdraw", name="transfer.withdraw")
        return numbers

    def clear(self) -> tuple[int, ...]:
        """Cancel all tasks that have not started, whoever issued them. Who did gets their results."""
        numbers: tuple[int, ...] = self._queue._act(_PROTOCOL, "clear", name="transfer.clear")
        return numbers

    def abandon(self, number: int) -> bool:
        """Do not wait any longer for ranks that have not reported a started task: it fails without them.

        They may be at it still, so what the task writes to must not be used before it has settled: the result's
        ``running``, :meth:`settled`.

        Returns:
            False when the task has not started, has ended, or is not this handle's.
        """
        name = "transfer.abandon"
        which = arguments.number(number, "number", name)
        return bool(self._queue._act(_PROTOCOL, "abandon", which, name=name))

    def result(
        self, timeout: Timeout = DEFAULT, *, progress: Progress | None = None, every: float = 1.0
    ) -> TransferResult | None:
        """Return the next result; None when there is none for ``timeout`` seconds. Acknowledges the one before.

        A value that cannot be unpickled here makes the result ``failed``, with the ranks that returned it. Where
        ``running`` names ranks, :meth:`settled` tells when they have ended.

        Args:
            timeout: Seconds to wait.
            progress: Called while nothing has come, with :meth:`statistics`. When it raises, the wait ends with that
                error, and whatever comes then is for the next call.
            every: Seconds between two of its calls.
        """
        taken = self._wait("result", timeout, progress, every)
        return None if taken is None else self._result(*taken)

    def settled(
        self, timeout: Timeout = DEFAULT, *, progress: Progress | None = None, every: float = 1.0
    ) -> int | None:
        """Return the number of a task that has settled; None when none does for ``timeout`` seconds.

        That is each task once whose result named ``running`` ranks, as soon as none of them is at it: their handlers
        have ended, or their processes. What it writes to does not change any more. Arguments as of :meth:`result`.
        """
        number: int | None = self._wait("settled", timeout, progress, every)
        return number

    def news(
        self, timeout: Timeout = DEFAULT, *, progress: Progress | None = None, every: float = 1.0
    ) -> TransferResult | TransferSettled | None:
        """Return what is next: of :meth:`settled`, else of :meth:`result`. None: nothing for ``timeout`` seconds.

        Acknowledges the result before. Arguments as of :meth:`result`.
        """
        taken = self._wait("news", timeout, progress, every)
        if isinstance(taken, int):
            return TransferSettled(taken)
        return None if taken is None else self._result(*taken)

    def acknowledge(self) -> None:
        """The result that was handed out last has been handled. Does nothing when there is none."""
        self._queue._act(_PROTOCOL, "acknowledge", name="transfer.acknowledge")

    def outstanding(self) -> int:
        """Return how many tasks of this handle were issued and not acknowledged."""
        return int(self._queue._act(_PROTOCOL, "outstanding", name="transfer.outstanding"))

    def statistics(self) -> TransferStatistics:
        """Return a snapshot. One round trip."""
        view = self._queue._view(_PROTOCOL, name="transfer.statistics")
        return TransferStatistics(
            issued=view["issued"],
            waiting=view["waiting"],
            queued=tuple(view["queued"]),
            started=tuple((number, kind, tuple(ranks)) for number, kind, ranks in view["started"]),
            unsettled=tuple((number, tuple(ranks)) for number, ranks in view["unsettled"]),
            votes=tuple(view["votes"]),
            results=view["results"],
            in_hand=view["in_hand"],
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
            away=tuple(view["away"]),
        )

    def _wait(self, action: str, timeout: Timeout, progress: Progress | None, every: float) -> Any:
        name = f"transfer.{action}"
        limit = timeout_seconds(timeout, name)
        slice_s = period(progress, every, name)
        if progress is None or slice_s is None:
            return self._queue._act(_PROTOCOL, action, limit, timeout=limit, name=name)
        deadline = Deadline(limit, self._queue._runtime.monotonic)
        while True:
            left = deadline.remaining()
            look = slice_s if left is None else min(left, slice_s)
            found = self._queue._act(_PROTOCOL, action, look, timeout=look, name=name)
            if found is not None or deadline.expired():
                return found
            progress(self.statistics())

    def _result(
        self,
        number: int,
        state: str,
        reports: list[tuple[int, bool, bytes]],
        without: tuple[int, ...],
        running: tuple[int, ...],
    ) -> TransferResult:
        if state == "cancelled":
            return TransferResult(number, "cancelled", None, "withdrawn before it started; no rank does it", ())
        values: list[Any] = []
        wrong: dict[int, str] = dict.fromkeys(without, "is gone, or has not reported")
        for rank, ok, said in reports:
            if not ok:
                wrong[rank] = said.decode(errors="replace")
                continue
            try:
                values.append(self._queue._unpickle(said, "transfer.result"))
            except PayloadError as error:
                wrong[rank] = f"PayloadError: {error}"
        if not wrong:
            return TransferResult(number, "ok", values, None, ())
        text = "; ".join(f"rank {rank}: {wrong[rank]}" for rank in sorted(wrong))
        return TransferResult(number, "failed", None, text, tuple(sorted(wrong)), tuple(running))
