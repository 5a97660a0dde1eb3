"""What every typed access to one segment shares: its words, its futex, and the locks on it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import ClosedError, CommTimeoutError, SignalError
from fdcomm.runtime import Runtime, Words
from fdcomm.signals import futex
from fdcomm.signals.kernel import Kernel
from fdcomm.signals.layout import LOCK_OWNER, TRAILER_BYTES, WAITERS, WAKE
from fdcomm.signals.segment import Segment

__all__ = ("FIRST_PAUSE_S", "LONGEST_PAUSE_S", "WAITING", "WORDS", "WRITERS", "Access")

WAITING: Final = 0
WORDS: Final = 1
WRITERS: Final = 2
"""The locks: of the waiters (shared), of who adds or compares and sets, of who writes a sequenced signal."""

FIRST_PAUSE_S: Final = 0.00005
LONGEST_PAUSE_S: Final = 0.005

_NAMES: Final = {WAITING: "the waiters' flag", WORDS: "the words' lock", WRITERS: "the writers' lock"}


class Access:
    """Words, futex and locks of one segment. Safe for several threads.

    A lock is taken with an open file description of its own, so it excludes threads, handles and processes alike, and
    the kernel frees it when its process dies. A forked child has none of them.

    Attributes:
        words: The trailer; None for a segment of other software.
        closed: The segment was closed in this process.
        views: Released when it is closed, so that a late access through one is an error.
    """

    def __init__(self, segment: Segment, runtime: Runtime, kernel: Kernel) -> None:
        self.segment = segment
        self.runtime = runtime
        self.kernel = kernel
        self.name = segment.name
        self.closed = False
        self.words: Words | None = segment.words if segment.trailer is not None else None
        self.views: list[memoryview] = []
        self._memory: Any = segment.memory
        self._free: list[int] = []
        self._address = 0
        self._places = 0
        if self.words is not None:
            self._address = segment.address(WAKE) if futex.AVAILABLE else 0
            self._places = segment.found.size - TRAILER_BYTES + 8 * LOCK_OWNER
        segment.users.add(self)

    @property
    def sleeps(self) -> bool:
        """True where a waiter can sleep and be woken; elsewhere it polls."""
        return bool(self._address)

    def load(self, place: int) -> int:
        """Load a word of the trailer."""
        return self.runtime.load(self._trailer(), place)

    def store(self, place: int, value: int) -> None:
        """Store a word of the trailer."""
        self.runtime.store(self._trailer(), place, value)

    def _trailer(self) -> Words:
        if self.words is None:
            raise SignalError(f"the signal {self.name!r} was made by other software: it has no words to lock or wake")
        return self.words

    def segment_closed(self) -> None:
        """The segment was closed in this process: whoever sleeps here is told."""
        self.closed = True
        while self.views:
            self.views.pop().release()
        if self._address:
            self.kernel.wake(self._address)

    def check(self) -> None:
        """Raise ClosedError once the segment was closed."""
        if self.closed:
            raise ClosedError(f"the signal {self.name!r} is closed")

    # -- waking ------------------------------------------------------------------------------------------------------

    def sleep(self, token: int, timeout_s: float) -> None:
        """Sleep until the futex word is not the token any more, or for so long, or for no reason."""
        self.kernel.sleep(self._address, token, timeout_s)

    def ring(self) -> None:
        """Wake everybody who waits. If nobody does, the flag that says so is out of date, and is lowered."""
        self.runtime.point("word.ring")
        self.store(WAKE, self.kernel.token())
        self.runtime.point("word.ring.token")
        if self.kernel.wake(self._address):
            return
        fd = self.descriptor()
        try:
            if self.kernel.take(fd, self._places + WAITING, shared=False):
                self.store(WAITERS, 0)
                self.kernel.give(fd, self._places + WAITING)
        finally:
            self.put_back(fd)

    # -- locks -------------------------------------------------------------------------------------------------------

    def descriptor(self) -> int:
        """Return a descriptor of the segment that nobody else in this process uses."""
        self.check()
        # Descriptors that a fork or a close has taken away are not used again: their numbers may be others' by now.
        here = self.segment.files.open_now
        with contextlib.suppress(IndexError):
            while True:
                if (fd := self._free.pop()) in here:
                    return fd
        return self.segment.files.again(self.segment.fd)

    def put_back(self, fd: int) -> None:
        """Give back a descriptor, without locks on it."""
        self._free.append(fd)

    def take(self, fd: int, lock: int, deadline: Deadline, operation: str, *, shared: bool = False) -> None:
        """Take a lock, for which the deadline is the limit."""
        pause = FIRST_PAUSE_S
        while not self.kernel.take(fd, self._places + lock, shared=shared):
            self.check()
            left = deadline.remaining()
            if left == 0:
                raise self._busy(lock, deadline, operation)
            self.runtime.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def try_take(self, fd: int, lock: int) -> bool:
        """Take a lock exclusively, or make a shared one exclusive, if that is possible at once."""
        return self.kernel.take(fd, self._places + lock, shared=False)

    def give(self, fd: int, lock: int) -> None:
        """Give a lock back."""
        if fd in self.segment.files.open_now:
            self.kernel.give(fd, self._places + lock)

    @contextlib.contextmanager
    def exclusive(self, lock: int, deadline: Deadline, operation: str) -> Iterator[None]:
        """Hold a lock exclusively. Its holder's process id is in the trailer, for the errors of others."""
        fd = self.descriptor()
        try:
            self.take(fd, lock, deadline, operation)
            try:
                self.store(LOCK_OWNER + lock - 1, os.getpid())
                yield
            finally:
                self.give(fd, lock)
        finally:
            self.put_back(fd)

    def holder(self, lock: int) -> int:
        """Return the process id that last had a lock, in its own pid namespace; 0: nobody."""
        return self.load(LOCK_OWNER + lock - 1)

    def _busy(self, lock: int, deadline: Deadline, operation: str) -> CommTimeoutError:
        who = f" by process {self.holder(lock)}" if lock != WAITING else ""
        return CommTimeoutError(
            f"{operation}: {_NAMES[lock]} of the signal {self.name!r} is held{who}, for {deadline.waited():.3g} s now; "
            "if that process is stopped, continue or kill it",
            operation=operation,
            waited_s=deadline.waited(),
        )
