"""Simulated processes around one name: each runs the shipping programs step by step, with descriptors of its own.

Locks, links, renames and mappings are real, in a real folder. A crash closes the descriptors of one process and lets
its program do nothing any more, as the kernel does at SIGKILL.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, TypeAlias

from fdcomm.errors import CommTimeoutError, FdcommError
from fdcomm.runtime import SYSTEM
from fdcomm.signals.files import Files
from fdcomm.signals.layout import Layout, OwnerInfo
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import UNSEEN, Plan, Steps, attach, clear, create

__all__ = ("LAYOUT", "NAME", "Book", "Process", "Programs")

NAME = "signal"
LAYOUT = Layout("<i8", (1,), 8)

Programs: TypeAlias = "dict[str, Callable[..., Steps[Any]]]"
SHIPPING: Programs = {"create": create, "attach": attach, "clear": clear}


class Book(Files):
    """Files that know which of their descriptors have taken a lock, and that can be full."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.exclusive: set[int] = set()
        self.shared: set[int] = set()
        self.made: set[int] = set()
        self.full = False

    def lock(self, fd: int, *, shared: bool = False) -> bool:
        """See :class:`Files`."""
        taken = super().lock(fd, shared=shared)
        if taken:
            (self.shared if shared else self.exclusive).add(fd)
        return taken

    def make(self, name: str) -> int:
        """See :class:`Files`."""
        fd = super().make(name)
        self.made.add(fd)
        return fd

    def reserve(self, fd: int, size: int) -> None:
        """See :class:`Files`."""
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().reserve(fd, size)

    def _opened(self, path: str, flags: int) -> int:
        fd = super()._opened(path, flags)
        self.exclusive.discard(fd)
        self.shared.discard(fd)
        self.made.discard(fd)
        return fd

    def holders(self, *, shared: bool = False) -> set[int]:
        """Return the descriptors that hold a lock now."""
        return (self.shared if shared else self.exclusive) & self.open_now


class Process:
    """One simulated process. It has at most one call under way."""

    def __init__(self, directory: str, number: int, programs: Programs = SHIPPING) -> None:
        self.directory = directory
        self.number = number
        self.incarnation = 1
        self.programs = programs
        self.owned: list[tuple[Book, Segment]] = []
        self.attached: list[tuple[Book, Segment]] = []
        self.files: Book | None = None  # of the call under way
        self.steps: Steps[Any] | None = None
        self.calling = ""
        self.error: FdcommError | None = None  # how the last call ended
        self._of_clear: tuple[Book, Segment] | None = None

    @property
    def identity(self) -> OwnerInfo:
        """What a trailer says of it."""
        return OwnerInfo(1000 + self.number, self.incarnation, (1, 2), 3)

    def books(self) -> list[Book]:
        """Return the descriptors of all its handles, and of its call."""
        return [*([self.files] if self.files else []), *(book for book, _ in (*self.owned, *self.attached))]

    # -- calls -------------------------------------------------------------------------------------------------------

    def call_create(self, *, insist: bool, value: int = 0) -> None:
        """Begin a create."""

        def fill(data: memoryview) -> None:
            data[:] = value.to_bytes(8, "little")

        self.files = Book(self.directory)
        plan = Plan(NAME, LAYOUT, fill, self.identity, replace=insist)
        self._begin("create", self.programs["create"](self.files, plan, SYSTEM))

    def call_attach(self) -> None:
        """Begin an attach."""
        self.files = Book(self.directory)
        plan = Plan(NAME, LAYOUT, lambda data: None, self.identity)
        self._begin("attach", self.programs["attach"](self.files, plan))

    def call_clear(self, inode: int) -> None:
        """Begin to clear a segment that it owns."""
        self._of_clear = next(handle for handle in self.owned if handle[1].found.inode == inode)
        book, segment = self._of_clear
        self.files = None  # the handle has them
        self._begin("clear", self.programs["clear"](book, segment, SYSTEM))

    def _begin(self, calling: str, steps: Steps[Any]) -> None:
        self.calling, self.steps, self.error = calling, steps, None

    # -- steps -------------------------------------------------------------------------------------------------------

    def step(self) -> str:
        """Take the next step of the call; return its name, or "" when the call has ended without one more."""
        if self.steps is None:
            raise AssertionError(f"process {self.number} has no call under way")
        try:
            return next(self.steps)
        except StopIteration as end:
            self._end(end.value)
        except FdcommError as error:
            self._failed(error)
        return ""

    def act(self) -> str:
        """Take steps up to the next one that others can see, and end the call if that was the last; return its name."""
        while (name := self.step()) in UNSEEN:
            if name == "Busy":
                return name
        return name

    def finish(self) -> None:
        """End a call that has taken its last step."""
        if (name := self.step()) != "":
            raise AssertionError(f"process {self.number} took the step {name} instead of ending its call")

    def give_up(self) -> None:
        """The time limit of the wait for the guard is over."""
        if self.steps is None:
            raise AssertionError("nothing to give up")
        try:
            next(self.steps)  # opens the guard, or finds it taken
            self.steps.throw(CommTimeoutError("enough"))
        except FdcommError as error:
            self._failed(error)
        else:
            raise AssertionError("the call goes on")

    def close(self, inode: int) -> None:
        """Close a handle of that file: an attached one first."""
        for handles in (self.attached, self.owned):
            for handle in handles:
                if handle[1].found.inode == inode:
                    handles.remove(handle)
                    handle[1].close()
                    return
        raise AssertionError(f"process {self.number} has no handle of that file")

    def crash(self) -> None:
        """End at once: nothing of the program runs any more."""
        for book in self.books():
            book.abandon()
        if self.steps is not None:
            self.steps.close()
        self.steps, self.files, self._of_clear = None, None, None
        self.owned.clear()
        self.attached.clear()

    def restart(self) -> None:
        """A new process in its place."""
        self.incarnation += 1

    def _end(self, value: Any) -> None:
        if self.calling == "clear":
            if self._of_clear is not None:
                self.owned.remove(self._of_clear)
        elif self.files is not None:
            (self.owned if self.calling == "create" else self.attached).append((self.files, value))
        self.steps, self.files, self._of_clear = None, None, None

    def _failed(self, error: FdcommError) -> None:
        if self.files is not None:
            self.files.abandon()
        self.error = error
        self.steps, self.files, self._of_clear = None, None, None
