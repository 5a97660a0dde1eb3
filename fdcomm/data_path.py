"""``DataPath``: how a handle on the host's machine puts and gets: through shared memory, without the host.

The host stays the control plane: a rank is claimed there, and whether it lives is looked at now and then.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    HostLostError,
    PayloadError,
    PeerLostError,
    SignalReplacedError,
)
from fdcomm.host import refusals
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.payload import decode
from fdcomm.ring.producer import Producer
from fdcomm.ring.queue_end import Cleared, QueueEnd
from fdcomm.runtime import Runtime
from fdcomm.signals.files import default_directory

__all__ = ("DataPath",)

_OPEN_S: Final = 5.0
_CLOSE_S: Final = 5.0
_LOOK_AT_HOST_EVERY_S: Final = 0.1


class DataPath:
    """One handle's way into the ring of one channel.

    Args:
        name: The ring.
        most: Largest item in bytes.
        runtime: Time.
        is_alive: Says whether the host lives. Asked ten times a second at most.
        give_up: Ends the session, so that the host counts this handle as lost.
    """

    def __init__(
        self, name: str, most: int, runtime: Runtime, is_alive: Callable[[], bool], give_up: Callable[[], None]
    ) -> None:
        self._runtime = runtime
        self._give_up = give_up
        self._is_alive = is_alive
        self._next_look = 0.0
        self.memory = Memory.open(name, default_directory(), Deadline(_OPEN_S, runtime.monotonic))
        replaced = self.memory.board.is_over
        self.memory.board.is_over = lambda: replaced() or not is_alive()
        self._producer = Producer(self.memory, most)
        self.look = Look(self.memory.board)
        self.end = QueueEnd(self.memory, self._producer, self.look)

    def put(self, thing: object, limit: float | None, operation: str, count: int) -> None:
        """Give an object to every rank. Errors: as ``EngineWorkerQueue.put_tasks``."""
        self.check(operation)
        started = self._runtime.monotonic()
        try:
            self.end.put(thing, limit, operation, count)
        except PeerLostError as error:
            waited = self._runtime.monotonic() - started
            raise refusals.put_lost(operation, error.missing, self.end.epoch, waited) from None
        except CommTimeoutError:
            waited = self._runtime.monotonic() - started
            late, here = self.look.missing(), self.look.read_for()
            raise refusals.put_timeout(operation, late, here, self.end.epoch, waited) from None
        except (ClosedError, SignalReplacedError) as error:
            raise self._ended(operation, error) from error

    def claim(self, rank: int) -> None:
        """Become the reader of a rank. The host has been asked."""
        self.end.claim(rank, _OPEN_S)

    def take(self, ticket: int, limit: float | None, operation: str, rank: int) -> tuple[int, Any, bool]:
        """Take the rank's next item: ``(number, item, all_read)``; number 0 is "nothing"."""
        self.check(operation)
        started, before = self._runtime.monotonic(), self.end.position
        try:
            taken = self.end.take(_made, ticket, limit, operation)
        except CommTimeoutError:
            waited = self._runtime.monotonic() - started
            raise refusals.get_timeout(operation, rank, self.end.epoch, waited) from None
        except (ClosedError, SignalReplacedError) as error:
            raise self._ended(operation, error) from error
        except _Unreadable as error:
            raise _unreadable(operation, error) from error.__cause__
        except FdcommError:
            raise
        except BaseException:
            if self.end.position != before:  # interrupted, by Ctrl-C perhaps, with an item that nobody will have
                self._give_up()
            raise
        if taken is None:
            return 0, None, not ticket and not self.look.oldest()
        return taken

    def clear(self, operation: str) -> Cleared:
        """Take back what no rank has taken; see :meth:`QueueEnd.clear`."""
        self.check(operation)
        return self.end.clear(operation)

    def items(self, operation: str) -> list[Any]:
        """Return the retained items, oldest first."""
        self.check(operation)
        return [self._object(operation, memoryview(payload), parts) for payload, parts in self.end.peek()]

    def check(self, operation: str) -> None:
        """Raise HostLostError if the host is gone. Looks ten times a second at most."""
        now = self._runtime.monotonic()
        if now >= self._next_look:
            if not self._is_alive():
                raise _lost(operation)
            self._next_look = now + _LOOK_AT_HOST_EVERY_S

    def close(self, *, leave: bool) -> None:
        """Let go of the ring: as a reader that leaves in order, or as one that has died. Idempotent."""
        if not self.memory.closed:
            try:
                self.memory.begin_close()
                self.end.close(leave=leave)
                self._producer.close()
            finally:
                self.memory.close(Deadline(_CLOSE_S, self._runtime.monotonic))

    def _object(self, operation: str, payload: memoryview, parts: int) -> Any:
        try:
            return _made(payload, parts)
        except _Unreadable as error:
            raise _unreadable(operation, error) from error.__cause__

    def _ended(self, operation: str, error: FdcommError) -> FdcommError:
        if self.memory.board.closing:
            return ClosedError(f"{operation}: the handle is closed", operation=operation)
        return _lost(operation)


class _Unreadable(Exception):
    """An object could not be made."""


def _made(payload: memoryview, parts: int) -> Any:
    try:
        return decode(payload, parts, views=False) if parts else pickle.loads(payload)
    except Exception as error:  # so may unpickling
        raise _Unreadable from error


def _unreadable(operation: str, error: _Unreadable) -> PayloadError:
    return PayloadError(
        f"{operation}: the item was taken but cannot be unpickled in this process: {error.__cause__}",
        operation=operation,
    )


def _lost(operation: str) -> HostLostError:
    return HostLostError(
        f"{operation}: the host is gone, or this handle has lost it; open a new handle (and start a new host if that "
        "fails)",
        operation=operation,
    )
