"""The segment of a ring: made or attached to, its words, its payload bytes, and the locks on it.

It is a segment like that of a signal: it has its name only when it is whole, and nobody replaces one whose owner lives.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FdcommError,
    ForkedHandleError,
    MemoryOrderError,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
)
from fdcomm.forksafety import close_in_child
from fdcomm.ring.board import Board
from fdcomm.ring.kernel import RING_KERNEL
from fdcomm.ring.layout import BELL, FLAGS, MOST_RANKS, WANT_BELL, Shape
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import futex, ownership
from fdcomm.signals.arguments import full_name
from fdcomm.signals.files import Files, default_directory
from fdcomm.signals.kernel import ORDERED, Kernel
from fdcomm.signals.layout import Layout, this_process
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import Plan, Steps, attach, clear, create, drive

__all__ = ("KernelLocks", "Memory", "make_segment", "open_segment", "remove_segment", "require_order")

T = TypeVar("T")

_MEMBERS: Final = 0
WRITER: Final = 1
_LINES: Final = 64
_FIRST_PAUSE_S: Final = 0.00005
_LONGEST_PAUSE_S: Final = 0.005
_HEADER: Final = struct.Struct("=5q")


def require_order(ordered: bool = ORDERED, sleeps: bool = futex.AVAILABLE) -> None:
    """Raise MemoryOrderError where the ring is not proved: it relies on the order of loads and stores of x86-64."""
    if not ordered or not sleeps:
        raise MemoryOrderError(
            "a ring in shared memory needs a processor that keeps stores in order and loads in order (x86-64), and "
            "futexes (Linux); use the queues of the host instead"
        )


def make_segment(
    files: Files, name: str, nbytes: int, fill: Callable[[memoryview], None], deadline: Deadline
) -> Segment:
    """Make a segment of raw bytes, whole when it gets its name."""

    def refuse() -> None:
        raise SignalInUseError(f"this process has a ring {name!r} already; close it first", operation="create")

    plan = Plan(name, Layout("", (), nbytes), fill=fill, owner=this_process(), on_own=refuse)
    return _run("create", create(files, plan, SYSTEM), deadline, name)


def open_segment(files: Files, name: str, deadline: Deadline) -> Segment:
    """Map the segment that has the name."""
    plan = Plan(name, Layout("", (), 0), fill=lambda data: None, owner=this_process())
    return _run("attach", attach(files, plan), deadline, name)


def remove_segment(segment: Segment, deadline: Deadline) -> None:
    """Remove it, if this process owns it."""
    if segment.owned:
        _run("clear", clear(segment.files, segment, SYSTEM), deadline, segment.name)


def _run(program: str, steps: Steps[T], deadline: Deadline, name: str) -> T:
    try:
        return drive(program, steps, SYSTEM, deadline)
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

    def __init__(self, segment: Segment, shape: Shape, kernel: Kernel = RING_KERNEL, runtime: Runtime = SYSTEM) -> None:
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
            segment = make_segment(files, full_name(name, None), shape.nbytes, fill, deadline)
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
            segment = open_segment(files, full_name(name, None), deadline)
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
        self.board.retire(_Gone(self))
        ownership.forget(self.segment)
        if remove and self.segment.owned:
            remove_segment(self.segment, deadline)
        self.segment.close()

    def after_fork_in_child(self) -> None:
        """The parent's ring is not the child's."""
        self.closed = self.forked = True
        self.board.retire(_Gone(self))

    def gone(self) -> FdcommError:
        """Return the error of who uses it after its end."""
        name = self.segment.name
        if self.forked:
            return ForkedHandleError(f"this handle on the ring {name!r} was made in another process; open a new one")
        return ClosedError(f"the ring {name!r} is closed")


class _Gone:
    """Stands for the words of a ring that was closed."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __getitem__(self, place: int, /) -> int:
        raise self._memory.gone()

    def __setitem__(self, place: int, value: int, /) -> None:
        raise self._memory.gone()


class KernelLocks:
    """Locks on bytes of the ring's file, each with an open file description of its own."""

    def __init__(self, segment: Segment, kernel: Kernel, runtime: Runtime) -> None:
        self._segment = segment
        self._kernel = kernel
        self._runtime = runtime
        self._taken: dict[int, int] = {}

    @contextlib.contextmanager
    def members(self, deadline: Deadline, operation: str) -> Iterator[None]:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._wait(_MEMBERS, deadline, operation, "the members' lock")
        try:
            yield
        finally:
            self._segment.files.close(fd)

    def try_members(self) -> Any:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_MEMBERS)
        return None if fd is None else _Closing(self._segment.files, fd)

    def take_writer(self, deadline: Deadline, operation: str, who: Callable[[], str]) -> None:
        """Become the writer."""
        self._taken[WRITER] = self._wait(WRITER, deadline, operation, "the writer's place", who)

    def give_writer(self) -> None:
        """Stop being it."""
        self._give(WRITER)

    def take_line(self, line: int) -> bool:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_LINES + line)
        if fd is not None:
            self._taken[_LINES + line] = fd
        return fd is not None

    def give_line(self, line: int) -> None:
        """See :class:`fdcomm.ring.board.Locks`."""
        self._give(_LINES + line)

    def is_held(self, line: int) -> bool:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_LINES + line)
        if fd is None:
            return True
        self._segment.files.close(fd)
        return False

    def _give(self, place: int) -> None:
        fd = self._taken.pop(place, None)
        if fd is not None:
            self._segment.files.close(fd)

    def _try(self, place: int) -> int | None:
        files = self._segment.files
        fd = files.again(self._segment.fd)
        if files.call(fd, lambda fd: self._kernel.take(fd, place, shared=False)):
            return fd
        files.close(fd)
        return None

    def _wait(
        self, place: int, deadline: Deadline, operation: str, what: str, who: Callable[[], str] = lambda: ""
    ) -> int:
        pause = _FIRST_PAUSE_S
        while (fd := self._try(place)) is None:
            left = deadline.remaining()
            if left == 0:
                raise CommTimeoutError(
                    f"{operation}: {what} of the ring {self._segment.name!r} is held{who()}, for "
                    f"{deadline.waited():.3g} s now; if that process is stopped, continue or kill it",
                    operation=operation,
                    waited_s=deadline.waited(),
                )
            self._runtime.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return fd


class _Closing:
    """Gives a lock back at the end of a block."""

    def __init__(self, files: Files, fd: int) -> None:
        self._files = files
        self._fd = fd

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self._files.close(self._fd)
