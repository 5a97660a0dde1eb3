"""What all sides of a ring share: its words, its futexes and its locks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from fdcomm.deadline import Deadline
from fdcomm.ring.layout import Shape
from fdcomm.runtime import Runtime
from fdcomm.signals.kernel import Kernel

__all__ = ("Board", "Locks", "Plain")


class Locks(Protocol):
    """Locks of the kernel, which end with the process that has them."""

    def members(self, deadline: Deadline, operation: str) -> Any:
        """Hold the lock of who changes lives or clears, as a context manager."""

    def try_members(self) -> Any:
        """The same if it is free at once, else None."""

    def take_line(self, line: int) -> bool:
        """Take a line for this process, for as long as it lives, if nobody has it."""

    def give_line(self, line: int) -> None:
        """Give it back."""

    def is_held(self, line: int) -> bool:
        """Return True while a process, this one or another, has the line."""


class Plain(Protocol):
    """A sequence of words: a memoryview, or in tests something that steps."""

    def __getitem__(self, place: int, /) -> int: ...

    def __setitem__(self, place: int, value: int, /) -> None: ...


class Board:
    """One process's view of a ring.

    Attributes:
        words: Everything but the flags.
        flags: A byte for each line.
        fenced: Barriers of others do not reach this process: it has to run a fence after a store before a look.
        is_over: Says whether another ring has the name, or none.
        closing: Another thread closes this process's handle: who waits is told.
        users: Objects that have the words too, as ``_words``.
    """

    def __init__(
        self,
        shape: Shape,
        words: Plain,
        flags: Plain,
        kernel: Kernel,
        runtime: Runtime,
        locks: Locks,
        address: Callable[[int], int],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.shape = shape
        self.words = words
        self.flags = flags
        self.kernel = kernel
        self.runtime = runtime
        self.locks = locks
        self.address = address
        self.is_over = is_over
        self.fenced = not kernel.joins_barriers()
        self.closing = False
        self.users: list[Any] = []

    def retire(self, gone: Plain) -> None:
        """Put something that raises in the place of the words, for all who use them."""
        self.words = self.flags = gone
        for user in self.users:
            user._words = gone
        self.users.clear()
