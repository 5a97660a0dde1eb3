"""Swap: a transfer that was issued, for who waits for it. Protocol: ``spec/blocks.toml``, docs/protocols/blocks.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fdcomm.core.blocks import Lease, Task
from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    HostLostError,
    ProtocolViolationError,
    TransferCancelledError,
    TransferFailedError,
)
from fdcomm.runtime import Condition, Runtime
from fdcomm.transfer_port import TransferResult

if TYPE_CHECKING:
    from fdcomm.transfer_client import TransferClient

__all__ = ("Swap", "SwapResult")

Callback = Callable[["Swap"], object]


@dataclass(frozen=True)
class SwapResult:
    """A transfer that every rank has done.

    Attributes:
        lease: What its issuer has now: the target, or the source where there was no target.
        value: What the handlers returned, one item for each rank.
    """

    lease: Lease
    value: Any


class Swap:
    """A transfer under way. Made by :meth:`fdcomm.transfer_client.TransferClient.issue`."""

    def __init__(self, client: TransferClient, kind: str, task: Task, condition: Condition, runtime: Runtime) -> None:
        self.kind = kind
        self._client = client
        self._task = task
        self._ended = condition
        self._runtime = runtime
        self._result: TransferResult | None = None
        self._lease: Lease | None = None
        self._why = ""
        self._callbacks: list[Callback] = []

    @property
    def number(self) -> int | None:
        """The port's number of the task; None until it has one."""
        return self._task.number

    @property
    def lease(self) -> Lease | None:
        """What the issuer has now.

        None while the transfer is under way, after it was given up, and when it has failed, has no target, and a rank
        may still write to its source: that is free when the rank has ended.
        """
        return self._lease

    def done(self) -> bool:
        """Return True once :meth:`wait` would not wait."""
        return self._task.told != ""

    def wait(self, timeout: Timeout = DEFAULT) -> SwapResult:
        """Wait for the end.

        Raises:
            CommTimeoutError: It was under way all the time, and still is: wait again, or :meth:`cancel`.
            TransferFailedError: Not every rank has done it. The source is the issuer's again, if there is a target or
                no rank is at it; ``lease`` says so.
            TransferCancelledError: A reset or :meth:`cancel` gave it up, and its blocks are nobody's; or it was
                withdrawn before a rank started it: then ``lease`` is the source, which is the issuer's again.
            HostLostError: The port is lost; nobody knows what the ranks do with the blocks.
            ClosedError: The client was closed.
        """
        deadline = Deadline(timeout_seconds(timeout, "wait"), self._runtime.monotonic)
        with self._ended:
            if not self._task.told:
                self._client._require_other_thread("wait")
            while not self._task.told:
                if deadline.expired():
                    raise CommTimeoutError(
                        f"wait: {self.kind} task {self.number} has been under way for {deadline.waited():.3g} s; it "
                        "goes on, and its blocks stay its own",
                        operation="wait",
                        request=self.number,
                        waited_s=deadline.waited(),
                    )
                self._ended.wait(deadline.remaining())
            error = self._error()
            if error is not None:
                raise error
            result, lease = self._result, self._lease
        if result is None or lease is None:
            raise ProtocolViolationError(f"wait: {self._task.told}, and there is no result: this is a bug")
        return SwapResult(lease, result.value)

    @staticmethod
    def limit(timeout: Timeout) -> float | None:
        """Return the seconds that a wait with this ``timeout`` may last; None: for ever."""
        return timeout_seconds(timeout, "wait")

    def exception(self) -> FdcommError | None:
        """Return what :meth:`wait` would raise; None while the transfer is under way, and when it was done."""
        with self._ended:
            return self._error()

    def cancel(self) -> bool:
        """Give the transfer up. It goes on; its blocks are free when it has ended. Action Cancel.

        Returns:
            False when it has ended before.
        """
        return self._client._cancel(self)

    def add_done_callback(self, call: Callback) -> None:
        """Have ``call(swap)`` called once, when the transfer has ended for its issuer; at once if it has.

        It is called in the thread that ends it, without a lock; it has to be short, and may not wait for transfers.
        What it raises is counted in the client's statistics, and ends nothing.
        """
        with self._ended:
            if not self._task.told:
                self._callbacks.append(call)
                return
        self._client._call(self, [call])

    # -- for the client; the lock is held --------------------------------------------------------------------------

    def _end(self, result: TransferResult | None = None, lease: Lease | None = None, why: str = "") -> list[Callback]:
        """The issuer has been told something. Returns whom to call, without the lock."""
        self._result, self._lease, self._why = result, lease, why
        calls, self._callbacks = self._callbacks, []
        self._ended.notify_all()
        return calls

    def _forked(self, ended: Condition) -> None:
        """In a forked child: nobody takes results there."""
        self._ended = ended
        self._callbacks.clear()
        self._why = "this process was forked from the client's"

    def _error(self) -> FdcommError | None:
        told, result = self._task.told, self._result
        fields: dict[str, Any] = {"operation": "wait", "request": self.number}
        what = f"{self.kind} task {self.number}"
        if told in ("", "ok"):
            return None
        if told == "failed":
            ranks, words = (result.ranks, result.error) if result is not None else ((), None)
            words = f"{what} has failed: {words or 'no reason was given'}{self._running()}"
            return TransferFailedError(words, missing=ranks, **fields)
        if told == "lost":
            return HostLostError(f"{what} was under way when the port was lost: {self._why}", **fields)
        if told == "closed":
            return ClosedError(f"{what} was under way when the client was closed", **fields)
        words = result.error if result is not None else None
        return TransferCancelledError(f"{what} was cancelled: {words or self._why or 'by its issuer'}", **fields)

    def _running(self) -> str:
        result = self._result
        if result is None or not result.running:
            return ""
        ranks = ", ".join(map(str, result.running))
        blocks = "source" if self._task.target is None else "target"
        return f"; rank {ranks} may still write: the {blocks} is nobody's, and free when that has ended"
