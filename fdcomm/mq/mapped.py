"""Payloads in the consumer's memory. A mapping is kept for when its file holds another payload.

To map, to touch and to unmap a payload costs more than to copy it. A mapping can be used again if nothing refers to it,
and if nobody has written to it: a write makes a private copy of the page, which would hide what the producer writes
next. The kernel tells which pages are copies (``/proc/self/pagemap``); where it does not, nothing is kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections import OrderedDict
from typing import Final

from fdcomm.errors import UndecodableError

__all__ = ("Mapped", "Maps")

_ENTRY: Final = 8
# Of the highest byte of a page's entry: in memory or swapped out; of a file.
_THERE: Final = 0xC0
_OF_FILE: Final = 0x20


class Mapped:
    """A file that is mapped whole. Writing to the memory changes a copy."""

    __slots__ = ("key", "memory")

    def __init__(self, fd: int, status: os.stat_result) -> None:
        self.key = status.st_dev, status.st_ino
        self.memory = mmap.mmap(fd, status.st_size, access=mmap.ACCESS_COPY)

    def is_referred_to(self) -> bool:
        """Say whether a view of the memory is alive."""
        try:
            self.memory.resize(len(self.memory))
        except BufferError:
            return True
        except (TypeError, ValueError, SystemError):  # nobody refers to it, but a copy's size is fixed
            return False
        return False

    def address(self) -> int:
        """Return where it is."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory))


class Maps:
    """The mappings of one consumer that nothing refers to. At most so many bytes are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[tuple[int, int], Mapped] = OrderedDict()
        self._pages = -1
        with contextlib.suppress(OSError):
            self._pages = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)

    def take(self, path: str, nbytes: int) -> Mapped | None:
        """Map a file; None: there is none.

        Raises:
            UndecodableError: It is smaller.
        """
        try:
            status = os.lstat(path)
            kept = self._kept.pop((status.st_dev, status.st_ino), None)
            if kept is not None:
                self._bytes -= len(kept.memory)
                if len(kept.memory) >= nbytes:
                    return kept
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(fd)
            if not 0 < nbytes <= status.st_size:
                raise UndecodableError(f"a payload of {nbytes} bytes is no valid one: it is cut off")
            return Mapped(fd, status)
        finally:
            os.close(fd)

    def give_back(self, mapped: Mapped) -> bool:
        """Keep a mapping, or unmap it. False: something still refers to it."""
        if mapped.is_referred_to():
            return False
        if self._written(mapped):
            mapped.memory.close()
            return True
        self._kept[mapped.key] = mapped
        self._bytes += len(mapped.memory)
        while self._bytes > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.memory)
            oldest.memory.close()
        return True

    def clear(self) -> None:
        """Unmap everything: the files may be gone, and would stay memory."""
        for mapped in self._kept.values():
            mapped.memory.close()
        self._kept.clear()
        self._bytes = 0

    def close(self) -> None:
        """As :meth:`clear`, and for good."""
        self.clear()
        pages, self._pages = self._pages, -1
        if pages >= 0:
            os.close(pages)

    def _written(self, mapped: Mapped) -> bool:
        if self._pages < 0:
            return True
        count = -(-len(mapped.memory) // mmap.PAGESIZE)
        entries = os.pread(self._pages, _ENTRY * count, _ENTRY * (mapped.address() // mmap.PAGESIZE))
        if len(entries) != _ENTRY * count:
            return True
        return any(flags & _THERE and not flags & _OF_FILE for flags in set(entries[_ENTRY - 1 :: _ENTRY]))
