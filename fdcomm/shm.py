"""A page of shared words: made by the host, read by everyone on the machine who may open it.

The page is a POSIX shared memory object (a file in ``/dev/shm`` on Linux, mode 0600), mapped directly: the standard
library's ``SharedMemory`` registers attachers with the resource tracker, which unlinks the object when the first of
them exits. Here only the creator unlinks.

Layout, all aligned signed 8-byte words: ``[MAGIC, layout version, instance, number of data words, 4 reserved]`` then
data. The magic is stored last, so a page that can be attached is complete.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
from typing import Final

from fdcomm.errors import FdcommError, HostNotFoundError
from fdcomm.runtime import Words

__all__ = ("WordPage", "page_path")

_MAGIC: Final = int.from_bytes(b"fdcommW1", "little")
_LAYOUT: Final = 1
_HEADER_WORDS: Final = 8
_WORD_BYTES: Final = 8


def page_path(name: str) -> str:
    """Return the path of the page of that name."""
    directory = "/dev/shm" if sys.platform.startswith("linux") else "/tmp"
    return os.path.join(directory, name)


class WordPage:
    """A mapped page. ``words`` is its data part.

    After :meth:`close` every access through ``words`` raises ValueError; it never touches unmapped memory.
    """

    def __init__(self, path: str, mapping: mmap.mmap, owner: bool) -> None:
        self.path = path
        self._mapping = mapping
        self._owner = owner
        self._whole = memoryview(mapping)
        self._all: Words = self._whole.cast("q")
        self.words: Words = self._all[_HEADER_WORDS:]

    @classmethod
    def create(cls, name: str, count: int, instance: int) -> WordPage:
        """Make a page of ``count`` data words, all 0.

        Args:
            name: Unique name of the object.
            count: Number of data words.
            instance: Number that attachers compare with the host's.

        Raises:
            FdcommError: The memory file system is full, or does not allow the object.
        """
        path = page_path(name)
        size = (_HEADER_WORDS + count) * _WORD_BYTES
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FdcommError(f"cannot create {path}: {error.strerror}") from error
        try:
            # Reserve now: writing to a page that the file system cannot back kills the process with SIGBUS.
            os.posix_fallocate(fd, 0, size)
            page = cls(path, mmap.mmap(fd, size), owner=True)
        except (OSError, OverflowError, ValueError) as error:  # the latter two: no machine has so much
            os.unlink(path)
            why = (error.strerror if isinstance(error, OSError) else "") or str(error)
            hint = "; free space there (df shows it)" if getattr(error, "errno", 0) == errno.ENOSPC else ""
            raise FdcommError(f"cannot reserve {size} bytes for {path}: {why}{hint}") from error
        finally:
            os.close(fd)
        page._all[1] = _LAYOUT
        page._all[2] = instance
        page._all[3] = count
        page._all[0] = _MAGIC
        return page

    @classmethod
    def attach(cls, path: str, instance: int) -> WordPage:
        """Map an existing page.

        Raises:
            HostNotFoundError: There is no such page here, or it belongs to another instance.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                size = os.fstat(fd).st_size
                if size < _HEADER_WORDS * _WORD_BYTES or size % _WORD_BYTES:
                    raise HostNotFoundError(f"{path} is not a complete page")
                page = cls(path, mmap.mmap(fd, size), owner=False)
            finally:
                os.close(fd)
        except OSError as error:
            if isinstance(error, HostNotFoundError):
                raise
            raise HostNotFoundError(f"cannot map {path}: {error.strerror}") from error
        header = page._all
        if header[0] != _MAGIC or header[1] != _LAYOUT or header[2] != instance or header[3] != len(page.words):
            page.close()
            raise HostNotFoundError(f"{path} belongs to another instance or version")
        return page

    def close(self) -> None:
        """Unmap, and remove the object if this is its creator. Idempotent."""
        self.words.release()
        self._all.release()
        self._whole.release()
        if not self._mapping.closed:
            self._mapping.close()
            if self._owner:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.path)
