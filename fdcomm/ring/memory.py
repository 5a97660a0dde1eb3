"""The segment of a ring: made or attached to, its words, its payload bytes, and the locks on it.

It is a segment like that of a signal: it has its name only when it is whole, and nobody replaces one whose owner lives.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import (
    FdcommError,
    MemoryOrderError,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.ring.board import Board
from fdcomm.ring.gone import Gone
from fdcomm.ring.layout import BELL, FLAGS, MOST_RANKS, WANT_BELL, Shape
from fdcomm.ring.locks import KernelLocks
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import futex, ownership
from fdcomm.signals.arguments import full_name
from fdcomm.signals.files import Files, default_directory
from fdcomm.signals.kernel import ORDERED, SYSTEM_KERNEL, Kernel
from fdcomm.signals.layout import Layout, this_process
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import Plan, Steps, attach, clear, create, drive

__all__ = ("Memory", "make_segment", "open_segment", "remove_segment", "require_order")

T = TypeVar("T")

_HEADER: Final = struct.Struct("=5q")


def require_order(ordered: bool = ORDERED, sleeps: bool = futex.AVAILABLE) -> None:
    """Raise MemoryOrderError where the ring is not proved: it relies on the order of loads and stores of x86-64."""
    if not ordered or not sleeps:
        raise MemoryOrderError(
            "a ring in shared memory needs a processor that keeps stores in order and loads in order (x86-64), and "
            "futexes (Linux); use the queues of the host instead"
        )


def make_segment(
    files: Files,
    name: str,
    nbytes: int,
    fill: Callable[[memoryview], None],
    deadline: Deadline,
    runtime: Runtime = SYSTEM,
) -> Segment:
    """Make a segment of raw bytes, whole when it gets its name."""

    def refuse() -> None:
        raise SignalInUseError(f"this process has a ring {name!r} already; close it first", operation="create")

    plan = Plan(name, Layout("", (), nbytes), fill=fill, owner=this_process(), on_own=refuse)
    return _run("create", create(files, plan, runtime), deadline, name, runtime)


def open_segment(files: Files, name: str, deadline: Deadline, runtime: Runtime = SYSTEM) -> Segment:
    """Map the segment that has the name."""
    plan = Plan(name, Layout("", (), 0), fill=lambda data: None, owner=this_process())
    return _run("attach", attach(files, plan), deadline, name, runtime)


def remove_segment(segment: Segment, deadline: Deadline, runtime: Runtime = SYSTEM) -> None:
    """Remove it, if this process owns it."""
    if segment.owned:
        _run("clear", clear(segment.files, segment, runtime), deadline, segment.name, runtime)


def _run(program: str, steps: Steps[T], deadline: Deadline, name: str, runtime: Runtime) -> T:
    try:
        return drive(program, steps, runtime, deadline)
    except FdcommError:
        raise
    except OSError as error:
        raise SignalError(f"{program} of the ring {name!r}: {error}", operation=program) from error


class Memory:
    """A ring that this process has mapped.

    Attributes:
        board: Its words, futexes and locks.
        payloads: The bytes of each slot.
        closed: It was closed, or came here by a fork.
    """

    def __init__(
        self, segment: Segment, shape: Shape, kernel: Kernel = SYSTEM_KERNEL, runtime: Runtime = SYSTEM
    ) -> None:
        self.segment = segment
        self.shape = shape
        self.closed = False
        self.forked = False
        data = segment.data()
        words = data.cast("q")
        self.payloads = tuple(
            data[shape.payload(slot) : shape.payload(slot) + shape.slot_bytes] for slot in range(shape.slots)
        )
        flags = data[8 * FLAGS : 8 * FLAGS + 2 * MOST_RANKS]
        memory = segment.memory
        bells = {bell: futex.address_of(memory, 8 * bell) for bell in (BELL, WANT_BELL)}
        self._memory = memory  # the addresses hold for as long as it does
        self.locks = KernelLocks(segment, kernel, runtime)
        self.board = Board(shape, words, flags, kernel, runtime, self.locks, bells.__getitem__, segment.superseded)
        close_in_child(self)

    @classmethod
    def make(cls, name: str, shape: Shape, directory: str | None, deadline: Deadline) -> Memory:
        """Make a ring, in the place of one whose owner is gone."""
        require_order()
        shape.check()
        files = Files(default_directory() if directory is None else directory)

        def fill(data: memoryview) -> None:
            data[: _HEADER.size] = _HEADER.pack(*shape.header())

        try:
            segment = make_segment(files, full_name(name, None), shape.nbytes, fill, deadline, SYSTEM)
        except BaseException:
            files.abandon()
            raise
        made = cls(segment, shape)
        ownership.hold(segment, made, SYSTEM)
        return made

    @classmethod
    def open(cls, name: str, directory: str | None, deadline: Deadline) -> Memory:
        """Map a ring that is there.

        Raises:
            SignalNotFoundError: There is none.
            SignalMismatchError: What has the name is no ring of this version.
        """
        require_order()
        files = Files(default_directory() if directory is None else directory)
        try:
            segment = open_segment(files, full_name(name, None), deadline, SYSTEM)
            found = segment.data()[: _HEADER.size]
            magic, version, *numbers = _HEADER.unpack(found) if len(found) == _HEADER.size else (0, 0, 0, 0, 0)
            shape = Shape(*numbers)
            if (magic, version) != shape.header()[:2] or segment.nbytes != shape.nbytes:
                raise SignalMismatchError(f"{name!r} is no ring of this version of fdcomm", operation="attach")
        except BaseException:
            files.abandon()
            raise
        return cls(segment, shape)

    def own(self) -> None:
        """Become the owner if nobody is: then no create replaces the ring while this process lives."""
        files = self.segment.files
        fd = files.again(self.segment.fd)
        if files.lock(fd):
            self.segment.own(fd)
            ownership.hold(self.segment, self, SYSTEM)
        else:
            files.close(fd)

    def begin_close(self) -> None:
        """Tell the threads of this process that wait."""
        if not self.closed:
            self.board.closing = True
            for bell in (BELL, WANT_BELL):
                self.board.kernel.wake(self.board.address(bell))

    def close(self, deadline: Deadline, *, remove: bool = False) -> None:
        """Let go of it; remove its name if this process owns it and that is wanted. Idempotent."""
        if self.closed:
            return
        self.closed = True
        self._retire()
        ownership.forget(self.segment)
        if remove and self.segment.owned:
            remove_segment(self.segment, deadline, self.board.runtime)
        self.segment.close()

    def after_fork_in_child(self) -> None:
        """The parent's ring is not the child's."""
        self.closed = self.forked = True
        self._retire()

    def _retire(self) -> None:
        self.board.retire(Gone(f"the ring {self.segment.name!r}", forked=self.forked))
