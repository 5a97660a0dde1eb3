"""What all sides of a meeting share: its words, its futex and its locks.

It is a segment like that of a ring: it has its name only when it is whole, and nobody replaces one whose owner lives.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, SignalMismatchError
from fdcomm.forksafety import close_in_child
from fdcomm.meeting.layout import FLAGS, LIVES, MOST_RANKS, TURN, Shape, round_of
from fdcomm.ring.board import Plain
from fdcomm.ring.gone import Gone
from fdcomm.ring.locks import KernelLocks
from fdcomm.ring.memory import make_segment, open_segment, remove_segment, require_order
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import futex, ownership
from fdcomm.signals.arguments import full_name
from fdcomm.signals.files import Files, default_directory
from fdcomm.signals.kernel import SYSTEM_KERNEL, Kernel
from fdcomm.signals.segment import Segment

__all__ = ("Hall", "Lines", "Room")

_HEADER: Final = struct.Struct("=4q")
_DECIDES: Final = 0
_FIRST_PAUSE_S: Final = 0.00002
_LONGEST_PAUSE_S: Final = 0.002


class Lines(Protocol):
    """Locks of the kernel, which end with the process that has them."""

    def take_line(self, line: int) -> bool:
        """Take a line for this process, for as long as it lives, if nobody has it."""

    def give_line(self, line: int) -> None:
        """Give it back."""

    def is_held(self, line: int) -> bool:
        """Return True while a process, this one or another, has the line."""


class Room:
    """One process's view of a meeting.

    Attributes:
        words: Everything but the flags.
        flags: A byte for each line.
        labels: The memory as bytes.
        fd: What the lock of who decides is taken with.
        fenced: Barriers of others do not reach this process: it has to run a fence after a store before a look.
        closing: Another thread closes this process's handle.
        names: Of the barriers that meet here in turn, for errors.
    """

    def __init__(
        self,
        shape: Shape,
        words: Plain,
        flags: Plain,
        labels: Any,
        kernel: Kernel,
        runtime: Runtime,
        locks: Lines,
        address: Callable[[], int],
        fd: int,
    ) -> None:
        self.shape = shape
        self.words = words
        self.flags = flags
        self.labels = labels
        self.kernel = kernel
        self.runtime = runtime
        self.locks = locks
        self.address = address
        self.fd = fd
        self.fenced = not kernel.joins_barriers()
        self.closing = False
        self.names: tuple[str, ...] = ()
        self._mutex = threading.Lock()

    def try_take(self) -> bool:
        """Become who decides, if nobody is: one process at a time, and one of its threads."""
        if not self._mutex.acquire(False):
            return False
        try:
            if self.kernel.take(self.fd, _DECIDES, shared=False):
                return True
        except BaseException:
            self._mutex.release()
            raise
        self._mutex.release()
        return False

    def take(self, deadline: Deadline, operation: str) -> None:
        """Become who decides; wait for who is.

        Raises:
            CommTimeoutError: Somebody has been deciding all the time; that takes microseconds, so it is stopped.
        """
        pause = _FIRST_PAUSE_S
        while not self.try_take():
            left = deadline.remaining()
            if left == 0:
                raise _busy(operation, deadline)
            self.runtime.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def give(self) -> None:
        """Stop deciding."""
        try:
            self.kernel.give(self.fd, _DECIDES)
        finally:
            self._mutex.release()

    def round(self, turn: int, place: int) -> int:
        """How often the barrier of a place was passed before a turn: the number of its round.

        Only what is newer than a pass and a half can overwrite that, so a rank that is counted in the turn reads it
        right. Anybody else looks again whether the turn is still the same.
        """
        return round_of(turn) if self.shape.places == 1 else int(self.words[self.shape.passes(turn, place)])

    def label(self, line: int) -> str:
        """The label of a line."""
        at = self.shape.label(line)
        length = self.labels[at]
        return bytes(self.labels[at + 1 : at + 1 + length]).decode(errors="replace")

    def same_labels(self, line: int) -> bool:
        """Whether the lines of all ranks have the label of this one: numbers of labels may be the same by chance."""
        shape, labels = self.shape, self.labels
        at = shape.label(line)
        length = 1 + labels[at]
        lines = (shape.line(rank, self.words[LIVES + rank]) for rank in range(shape.ranks))
        others = map(shape.label, lines)
        return all(labels[other : other + length] == labels[at : at + length] for other in others)


def _busy(operation: str, deadline: Deadline) -> CommTimeoutError:
    return CommTimeoutError(
        f"{operation}: another process of this meeting has been deciding for {deadline.waited():.3g} s; it is stopped: "
        "continue or kill it",
        operation=operation,
        waited_s=deadline.waited(),
    )


class Hall:
    """A meeting that this process has mapped.

    Attributes:
        room: Its words, futex and locks.
        closed: It was closed, or came here by a fork.
    """

    def __init__(self, segment: Segment, shape: Shape) -> None:
        kernel, runtime = SYSTEM_KERNEL, SYSTEM
        self.segment = segment
        self.closed = False
        self.forked = False
        data = segment.data()
        self._memory = segment.memory  # the futex's address is good for as long as this is
        address = futex.address_of(self._memory, 8 * TURN)
        self.room = Room(
            shape,
            data.cast("q"),
            data[8 * FLAGS : 8 * FLAGS + 2 * MOST_RANKS],
            data,
            kernel,
            runtime,
            KernelLocks(segment, kernel, runtime),
            lambda: address,
            segment.files.again(segment.fd),
        )
        close_in_child(self)

    @classmethod
    def make(cls, name: str, shape: Shape, directory: str | None, deadline: Deadline) -> Hall:
        """Make a meeting, in the place of one whose owner is gone."""
        require_order()
        shape.check()
        files = Files(default_directory() if directory is None else directory)

        def fill(data: memoryview) -> None:
            data[: _HEADER.size] = _HEADER.pack(*shape.header())
            words = data.cast("q")
            for line in range(shape.lines):
                words[shape.of_line(line, 0)] = -1

        try:
            segment = make_segment(files, full_name(name, None), shape.nbytes, fill, deadline)
            made = cls(segment, shape)
        except BaseException:
            files.abandon()
            raise
        ownership.hold(segment, made, SYSTEM)
        return made

    @classmethod
    def open(cls, name: str, directory: str | None, deadline: Deadline) -> Hall:
        """Map a meeting that is there.

        Raises:
            SignalNotFoundError: There is none.
            SignalMismatchError: What has the name is no meeting of this version.
        """
        require_order()
        files = Files(default_directory() if directory is None else directory)
        try:
            segment = open_segment(files, full_name(name, None), deadline)
            found = segment.data()[: _HEADER.size]
            magic, version, *numbers = _HEADER.unpack(found) if len(found) == _HEADER.size else (0, 0, 0, 0)
            shape = Shape(*numbers)
            if (magic, version) != shape.header()[:2] or segment.nbytes != shape.nbytes:
                raise SignalMismatchError(f"{name!r} is no meeting of this version of fdcomm", operation="attach")
            return cls(segment, shape)
        except BaseException:
            files.abandon()
            raise

    def close(self, deadline: Deadline) -> None:
        """Let go of it, and remove its name if this process owns it. Idempotent."""
        if self.closed:
            return
        self.closed = True
        self._retire()
        ownership.forget(self.segment)
        if self.segment.owned:
            remove_segment(self.segment, deadline)
        self.segment.close()

    def after_fork_in_child(self) -> None:
        """The parent's meeting is not the child's."""
        self.closed = self.forked = True
        self._retire()

    def _retire(self) -> None:
        self.room.words = self.room.flags = self.room.labels = Gone(
            f"the meeting {self.segment.name!r}", forked=self.forked
        )
