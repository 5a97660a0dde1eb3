"""The calls that wait for components: a wait may go on over several calls, and knows how it ended."""

from __future__ import annotations

from typing import Any, TypeAlias

from fdcomm.core.readiness import Waiting

__all__ = ("Key", "Waits")

Key: TypeAlias = tuple[int, int]
"""A session, and the token that its client has given the wait."""


class Waits:
    """The waits of one channel."""

    def __init__(self) -> None:
        self._of: dict[Key, Waiting] = {}
        self._left: dict[int, list[dict[str, Any]]] = {}
        self._cancelled: set[Key] = set()
        self._called: set[Key] = set()

    def of(self, key: Key) -> Waiting | None:
        """Return a wait that has begun, and whose end its client has not been told."""
        return self._of.get(key)

    def begin(self, key: Key, wait: Waiting) -> Waiting:
        """A wait begins."""
        self._of[key] = wait
        return wait

    def note(self, wait: Waiting, parts: list[dict[str, Any]]) -> None:
        """A wait has ended, and these parts were not ready."""
        if wait in self._of.values():
            self._left[wait.number] = parts

    def left(self, wait: Waiting) -> list[dict[str, Any]]:
        """Return the parts that were not ready when the wait ended."""
        return self._left.get(wait.number, [])

    def end(self, key: Key) -> None:
        """The client of a wait has been told of its end."""
        wait = self._of.pop(key, None)
        self._cancelled.discard(key)
        if wait is not None:
            self._left.pop(wait.number, None)

    def call(self, key: Key) -> None:
        """A call of the wait is under way, until :meth:`returned`."""
        self._called.add(key)

    def returned(self, key: Key) -> None:
        """It is not any more."""
        self._called.discard(key)

    def is_called(self, key: Key) -> bool:
        """Return True while a call of the wait is under way; between two of them nobody looks after it."""
        return key in self._called

    def cancel(self, key: Key) -> Waiting | None:
        """The client gives up a wait: return it, if it is open. A call that is under way has to expire it."""
        wait = self._of.get(key)
        if wait is None or wait.outcome != "open":
            return None
        self._cancelled.add(key)
        return wait

    def is_cancelled(self, key: Key) -> bool:
        """Return True when its client has given it up."""
        return key in self._cancelled

    def of_session(self, session: int) -> list[Waiting]:
        """Forget the waits of a session that ends; return those that are open."""
        keys = [key for key in self._of if key[0] == session]
        waits = [self._of[key] for key in keys]
        for key in keys:
            self.end(key)
        return [wait for wait in waits if wait.outcome == "open"]
