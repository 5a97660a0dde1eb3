"""The thread of a transfer client that takes what its port has for it. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from fdcomm.core.blocks import OUTCOMES, Task
from fdcomm.swap import Callback, Swap
from fdcomm.transfer_port import TransferResult, TransferSettled

if TYPE_CHECKING:
    from fdcomm.transfer_client import TransferClient

__all__ = ("Receiver",)

_LOOK_S: Final = 0.25


class Receiver:
    """Handles results and settlements, one after the other, each under the lock of the client's lists."""

    def __init__(self, client: TransferClient) -> None:
        self._client = client
        self._changed = client._changed
        self._thread = 0

    def is_this_thread(self) -> bool:
        """Return True in the thread that takes the results."""
        return self._thread == threading.get_ident()

    def run(self) -> None:
        """Take results until the end. What was taken is handled before the next is asked for."""
        self._thread = threading.get_ident()
        try:
            while self._is_serving():
                news = self._client._port.news(_LOOK_S)
                if isinstance(news, TransferSettled):
                    self.settle(news.number)
                elif news is not None:
                    self.handle(news)
        except BaseException as error:  # noqa: BLE001 - whatever ends this thread, nobody may go on waiting for it
            self._client._lose(error)

    def handle(self, result: TransferResult) -> None:
        """Handle a result, and call whom it concerns. Action Handle."""
        client = self._client
        number = result.number if isinstance(result, TransferResult) else None
        with self._changed:
            task = self.await_number(number)
            if task is None:
                return
            if result.outcome not in OUTCOMES or (result.running and result.outcome != "failed"):
                client._count(unreadable=1)
                result = replace(result, outcome="failed", error=f"the result cannot be read: {result.outcome!r}")
            calls = self._ended(task, result)
        client._call(*calls)

    def await_number(self, number: int | None) -> Task | None:
        """Return the task of a result. A result may be there before the call that issued its task has returned."""
        client = self._client
        while client._core.serving:
            task = None if number is None else client._core.find(number)
            if task is not None:
                return task
            if number is None or not client._issuing:
                client._count(**{"unreadable" if number is None else "unknown": 1})
                return None
            self._changed.wait(None)
        return None

    def settle(self, number: int) -> None:
        """No rank is at a task any more: action Settle. Of a task that is not late it changes nothing."""
        client = self._client
        with self._changed:
            task = client._core.find_late(number)
            if not client._core.serving:
                return
            if task is None:
                client._count(unknown=1)
                return
            client._core.settle(task)
            client._count(settled=1)
            client._blocks._record("Settle", {"task": task.index})
            self._changed.notify_all()

    def _ended(self, task: Task, result: TransferResult) -> tuple[Swap, list[Callback]]:
        client = self._client
        told, late = task.told != "", bool(result.running)
        lease = client._core.handle(task, result.outcome, late)
        swap = client._swaps.pop(task.index)
        given = -1 if lease is None else lease.ids[0]
        client._count(**{result.outcome: 1, "given_up": int(told)})
        args = {"task": task.index, "outcome": result.outcome, "late": late}
        client._blocks._record("Handle", args, {"given": given})
        calls = [] if told else swap._end(result, lease)
        self._changed.notify_all()
        return swap, calls

    def _is_serving(self) -> bool:
        with self._changed:
            return self._client._core.serving
