"""The one interface through which fdcomm touches threads, time and shared words.

In production it is the standard library (:data:`SYSTEM`), at no cost that shows. Under test it is the controlled
scheduler (every operation is a scheduling point), a simulated clock, or a fault injector that stops a process at a
named point: the code that ships is the code that is explored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

__all__ = ("SYSTEM", "Condition", "Runtime", "SystemRuntime", "Words", "lock_of")

Words: TypeAlias = "memoryview[int]"
"""Shared memory seen as aligned signed 8-byte words (``memoryview.cast("q")``). One element access is one
aligned load or store; nothing wider is atomic."""


class Condition(Protocol):
    """A condition variable with its lock, as ``threading.Condition``."""

    def __enter__(self) -> bool: ...

    def __exit__(self, *exc: Any) -> None: ...

    def wait(self, timeout: float | None = None) -> bool:
        """Release the lock, sleep until notified or ``timeout`` seconds have passed, take the lock again."""

    def notify_all(self) -> None:
        """Wake every waiter. The lock must be held."""


class Runtime(Protocol):
    """Threads, time and shared words."""

    def condition(self, partner: Condition | None = None) -> Condition:
        """Return a new condition with its own lock (not re-entrant), or with the lock of ``partner``."""

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back."""

    def sleep(self, seconds: float) -> None:
        """Sleep."""

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        """Start a daemon thread."""

    def load(self, words: Words, index: int) -> int:
        """Read one shared word."""

    def store(self, words: Words, index: int, value: int) -> None:
        """Write one shared word."""

    def point(self, name: str) -> None:
        """A named place where a fault injector may stop or kill the process. Does nothing in production."""


class _SystemCondition(threading.Condition):
    def __init__(self, mutex: threading.Lock) -> None:
        super().__init__(mutex)
        self.mutex = mutex


class SystemRuntime:
    """The standard library."""

    def condition(self, partner: Condition | None = None) -> Condition:
        if isinstance(partner, _SystemCondition):
            return _SystemCondition(partner.mutex)
        return _SystemCondition(threading.Lock())

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def spawn(self, target: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def load(self, words: Words, index: int) -> int:
        return words[index]

    def store(self, words: Words, index: int, value: int) -> None:
        words[index] = value

    def point(self, name: str) -> None:
        pass


def lock_of(condition: Condition) -> AbstractContextManager[Any]:
    """Return the cheapest way into the condition's lock, for sections that neither wait nor notify."""
    return condition.mutex if isinstance(condition, _SystemCondition) else condition


SYSTEM = SystemRuntime()
