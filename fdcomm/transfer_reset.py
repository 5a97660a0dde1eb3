"""The reset of a transfer client: one thread makes it, others join. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, ProtocolViolationError

if TYPE_CHECKING:
    from fdcomm.transfer_client import Pauses, TransferClient

__all__ = ("Reset",)

During = Callable[[], object]
Progress = Callable[[int], object]


class Reset:
    """Stands under the lock of the client's lists; calls of the port, the pause and the caller are made without it."""

    def __init__(self, client: TransferClient, control: Pauses | None) -> None:
        self._client = client
        self._control = control
        self._led = False
        self._leader = 0
        self._to_withdraw = False

    def issued(self) -> None:
        """The port has taken a task, perhaps after the withdraw of a reset."""
        self._to_withdraw = True

    def run(self, limit: float | None, during: During | None, progress: Progress | None) -> int:
        """Make a reset, or join one; return the new generation."""
        client = self._client
        deadline = Deadline(limit, client._runtime.monotonic)
        seen = client._core.generation
        with client._changed:
            if self._led and self._leader == threading.get_ident():
                raise ProtocolViolationError("reset: this thread makes a reset already", operation="reset")
            while self._led:
                client._blocks._require_serving("reset")
                if deadline.expired():
                    raise self._late(deadline)
                client._changed.wait(deadline.remaining())
            client._blocks._require_serving("reset")
            if client._core.generation != seen:
                return client._core.generation  # the reset that was joined is over
            self._led, self._leader = True, threading.get_ident()
            calls = self._begin()
        try:
            for swap, whom in calls:
                client._call(swap, whom)
            return self._lead(deadline, during, progress or _nobody)
        finally:
            with client._changed:
                self._led = False
                client._changed.notify_all()

    def _begin(self) -> list[Any]:
        client = self._client
        if client._core.phase == "resetting":  # one that has ended with an error
            return []
        return client._told(client._blocks._tell("BeginReset", client._core.begin_reset), "a reset was begun")

    def _lead(self, deadline: Deadline, during: During | None, progress: Progress) -> int:
        client = self._client
        self._withdraw()  # first, so that the pause waits for no task that has not begun
        pause: Any = contextlib.nullcontext()
        if self._control is not None:
            pause = self._control.paused(timeout=deadline.remaining())
        with pause:
            left = -1
            while left != 0:
                left = self._await(left, deadline)
                progress(left)
            if during is not None:
                during()
            with client._changed:
                client._blocks._require_serving("reset")
                client._core.rebuild()
                client._blocks._record("Rebuild", {})
                client._changed.notify_all()
                return client._core.generation

    def _await(self, seen: int, deadline: Deadline) -> int:
        """Wait until another number of tasks than ``seen`` is in flight; return it."""
        client = self._client
        while True:
            with client._changed:
                while not self._to_withdraw:
                    client._blocks._require_serving("reset")
                    if len(client._core.tasks) != seen:
                        return len(client._core.tasks)
                    if deadline.expired():
                        raise self._late(deadline)
                    client._changed.wait(deadline.remaining())
            self._withdraw()

    def _withdraw(self) -> None:
        with self._client._changed:
            self._to_withdraw = False
        self._client._port.withdraw()

    def _late(self, deadline: Deadline) -> CommTimeoutError:
        client = self._client
        numbers, late = (", ".join(map(str, some)) or "none" for some in client._outstanding())
        return CommTimeoutError(
            f"reset: after {deadline.waited():.3g} s tasks are outstanding: {numbers}; ranks are still at tasks that "
            f"have failed: {late}; calls of the port under way: {client._issuing}. No block was given back; call "
            "again, or close the client",
            operation="reset",
            waited_s=deadline.waited(),
        )


def _nobody(left: int) -> None:
    """Nobody wants to know."""
