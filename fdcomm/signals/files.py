"""The system calls that the life of a segment is made of, and a book of the descriptors that they opened.

One :class:`Files` belongs to one handle. Whatever happens to the handle, :meth:`Files.abandon` lets go of everything;
a forked child does that first thing, because a lock of the parent must not live on in it. Tests put failures and
simulated crashes in the place of these methods.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import stat
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from fdcomm.errors import ClosedError
from fdcomm.forksafety import close_in_child, no_fork

__all__ = ("NEW", "Files", "Found", "default_directory")

T = TypeVar("T")

NEW: Final = ".fdcomm-new"
"""What the name of a segment ends with while it is being made. Under the guard such a file is a leftover."""

_BASE: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_OPEN_FILES: Final = "/proc/self/fd" if sys.platform.startswith("linux") else "/dev/fd"

# A fork waits until no thread is between opening or closing a descriptor and writing that down.
_book: Final = no_fork()


def default_directory() -> str:
    """Return where segments are: what POSIX shared memory uses on Linux."""
    return "/dev/shm" if sys.platform.startswith("linux") else "/tmp"


class Found(NamedTuple):
    """A file as it was found: which one it is, its size, and what kind it is."""

    device: int
    inode: int
    size: int
    regular: bool
    uid: int


class Files:
    """System calls on one directory. Not for several threads at once."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._open: set[int] = set()
        self._keep: set[int] = set()
        self._gone = False
        close_in_child(self)

    def another(self) -> Files:
        """Return a book of its own on the same directory."""
        return Files(self.directory)

    def path(self, name: str) -> str:
        """Return the path of a name."""
        return os.path.join(self.directory, name)

    def listed(self) -> list[str]:
        """Return the names of all files."""
        return os.listdir(self.directory)

    # -- descriptors -------------------------------------------------------------------------------------------------

    def open_directory(self) -> int:
        """Open the directory, to lock it."""
        return self._opened(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def open(self, name: str) -> int:
        """Open an existing file. Never follows a link, and never waits for the other end of a pipe."""
        return self._opened(self.path(name), _BASE | os.O_NONBLOCK)

    def make(self, name: str) -> int:
        """Make a file that nobody else may open."""
        return self._opened(self.path(name), _BASE | os.O_CREAT | os.O_EXCL)

    def open_or_make(self, name: str) -> int:
        """Open a file, and make an empty one if there is none."""
        return self._opened(self.path(name), _BASE | os.O_CREAT)

    def _opened(self, path: str, flags: int) -> int:
        with _book:
            self._check()
            fd = os.open(path, flags, 0o600)
            self._open.add(fd)
        return fd

    def keep_after_fork(self, fd: int) -> None:
        """Give a forked child a descriptor of its own in the place of this one, instead of none."""
        self._keep.add(fd)

    def close(self, fd: int) -> None:
        """Close one descriptor, if it is still open. Locks that were taken with it end."""
        with _book:
            if fd in self._open:
                self._open.discard(fd)
                self._keep.discard(fd)
                os.close(fd)

    def abandon(self) -> None:
        """Close everything, and refuse what comes later."""
        self._gone = True
        with _book:
            self._close_all()

    @property
    def open_now(self) -> frozenset[int]:
        """The descriptors that are open."""
        return frozenset(self._open)

    def is_open(self, fd: int) -> bool:
        """Return True while this handle has the descriptor open, in this process."""
        return fd in self._open

    def call(self, fd: int, function: Callable[[int], T]) -> T:
        """Call a function that does not wait with an open descriptor, while no other thread can close it."""
        with _book:
            if fd not in self._open:
                raise ClosedError(f"this handle on a segment in {self.directory} is closed")
            return function(fd)

    def after_fork_in_child(self) -> None:
        """Let go of the parent's descriptors: the parent's locks live as long as any copy of them is open."""
        kept = {fd for fd in self._keep if fd in self._open}
        for fd in kept:
            try:
                own = os.open(f"{_OPEN_FILES}/{fd}", os.O_RDWR | os.O_CLOEXEC)
                os.dup2(own, fd, inheritable=False)
                os.close(own)
            except OSError:
                kept = set()
                break
        self._open -= kept
        self._close_all()
        self._open = kept
        self._keep = set(kept)
        close_in_child(self)

    def _close_all(self) -> None:
        while self._open:
            os.close(self._open.pop())
        self._keep.clear()

    def __del__(self, book: Any = _book, close: Callable[[int], None] = os.close) -> None:
        # The defaults: at the very end of the interpreter the modules are empty.
        with book:
            while self._open:
                close(self._open.pop())

    # -- what can be done with them ------------------------------------------------------------------------------------

    def lock(self, fd: int, *, shared: bool = False) -> bool:
        """Take a file's lock if it is free. The kernel frees it when the process dies."""
        kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
        try:
            self.call(fd, lambda fd: fcntl.flock(fd, kind))
        except BlockingIOError:
            return False
        return True

    def status(self, fd: int) -> Found:
        """Say what an open file is."""
        self._check()
        return _found(os.fstat(fd))

    def find(self, name: str) -> Found | None:
        """Say what has the name now; None: nothing."""
        self._check()
        try:
            return _found(os.lstat(self.path(name)))
        except FileNotFoundError:
            return None

    def read(self, fd: int, count: int, offset: int) -> bytes:
        """Read from an open file."""
        self._check()
        return os.pread(fd, count, offset)

    def reserve(self, fd: int, size: int) -> None:
        """Give the file its size, and memory for all of it: a page that is missing later kills whoever touches it."""
        self._check()
        os.posix_fallocate(fd, 0, size)

    def map(self, fd: int, size: int) -> Any:
        """Map a file; return it as a ctypes array of bytes.

        The array holds the mapping in a way that nobody can take back: memory is given back when the last object that
        can reach it is gone, and never before.
        """
        self._check()
        # A mapping keeps what it was made from open, in forked children too. So it gets an open file of its own, which
        # no lock is taken with.
        own = os.open(f"{_OPEN_FILES}/{fd}", os.O_RDWR | os.O_CLOEXEC)
        try:
            if sys.version_info >= (3, 13):
                mapping = mmap.mmap(own, size, trackfd=False)
            else:
                mapping = mmap.mmap(own, size)
        finally:
            os.close(own)
        return (ctypes.c_char * size).from_buffer(mapping)

    def again(self, fd: int) -> int:
        """Open the same file once more, whatever its name is now: locks that are taken with it are its own."""
        return self._opened(f"{_OPEN_FILES}/{fd}", os.O_RDWR | os.O_CLOEXEC)

    def link(self, old: str, new: str) -> bool:
        """Give a file a second name. Returns False when something has that name."""
        self._check()
        try:
            os.link(self.path(old), self.path(new), follow_symlinks=False)
        except FileExistsError:
            return False
        return True

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in the place of what has that name."""
        self._check()
        os.rename(self.path(old), self.path(new))

    def unlink(self, name: str) -> bool:
        """Remove a name. Returns False when there was none."""
        self._check()
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def _check(self) -> None:
        if self._gone:
            raise ClosedError(f"this handle on a segment in {self.directory} is closed")


def _found(status: os.stat_result) -> Found:
    return Found(status.st_dev, status.st_ino, status.st_size, stat.S_ISREG(status.st_mode), status.st_uid)
