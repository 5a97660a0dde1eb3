"""A mapped segment: what every typed access of fdcomm is built on."""

from __future__ import annotations

import contextlib
import secrets
import sys
import weakref
from typing import Any, Final

from fdcomm.errors import ClosedError
from fdcomm.runtime import Words
from fdcomm.signals import futex
from fdcomm.signals.files import Files, Found
from fdcomm.signals.layout import SUCCESSOR, TRAILER_BYTES, WAKE, Trailer

__all__ = ("Segment",)

_LOW_HALF: Final = 0 if sys.byteorder == "little" else 4


class Segment:
    """A segment that this process has mapped, as its owner or not.

    Nothing here can dangle: after :meth:`close` the properties raise ClosedError, and what was taken out before (an
    array, ``words``) keeps the memory until it is gone itself.

    Attributes:
        name: Its name in the directory.
        files: The descriptors of this handle.
        trailer: What the trailer said when it was mapped; None for a segment of other software.
        nbytes: Size of the data.
        users: Objects with typed access, which are told when it is closed.
    """

    def __init__(self, files: Files, name: str, found: Found, fd: int, trailer: Trailer | None, nbytes: int) -> None:
        self.files = files
        self.name = name
        self.trailer = trailer
        self.nbytes = nbytes
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self._found = found
        self._fd = fd
        self._owning = -1
        self._memory: Any = files.map(fd, found.size)
        self._words: Words | None = None
        if trailer is not None:
            self._words = memoryview(self._memory).cast("B")[found.size - TRAILER_BYTES :].cast("q")

    # -- memory ------------------------------------------------------------------------------------------------------

    @property
    def memory(self) -> Any:
        """The whole file as a ctypes array: a buffer that numpy can stand on, and that nobody can release."""
        if self._memory is None:
            raise ClosedError(f"the signal {self.name!r} is closed")
        return self._memory

    def data(self) -> memoryview:
        """Return a new view of the data part."""
        return memoryview(self.memory).cast("B")[: self.nbytes]

    @property
    def words(self) -> Words:
        """The trailer (places: :mod:`fdcomm.signals.layout`). A segment of other software has none: ClosedError."""
        if self._words is None:
            reason = "is closed" if self._memory is None else "was made by other software, and has no words"
            raise ClosedError(f"the signal {self.name!r} {reason}")
        return self._words

    def address(self, word: int) -> int:
        """Return where the low half of a word of the trailer is, for a futex. Keep ``memory`` while you use it."""
        return futex.address_of(self.memory, self._found.size - TRAILER_BYTES + 8 * word + _LOW_HALF)

    def wake(self) -> None:
        """Wake everybody who waits on the word WAKE. What they wait for must have been written before."""
        # A fresh number, and no counter: of two processes that count, one can bring an old number back.
        self.words[WAKE] = secrets.randbits(31)
        futex.wake_all(self.address(WAKE))

    # -- which file --------------------------------------------------------------------------------------------------

    @property
    def fd(self) -> int:
        """A descriptor of the file, open for as long as this is. A forked child has one of its own, with no locks."""
        if self._memory is None or self._fd not in self.files.open_now:
            raise ClosedError(f"the signal {self.name!r} is closed")
        return self._fd

    @property
    def found(self) -> Found:
        """Which file it is."""
        return self._found

    def has_name(self) -> bool:
        """Return True while the name still means this file."""
        now = self.files.find(self.name)
        return now is not None and (now.device, now.inode) == (self._found.device, self._found.inode)

    def superseded(self) -> bool:
        """Return True once another segment has the name, or none.

        The word SUCCESSOR is written before the name changes, so a 0 there settles it; another value may come from a
        process that died before it could change the name, so then the name itself is looked at.
        """
        if self._words is not None and self._words[SUCCESSOR] == 0:
            return False
        return not self.has_name()

    # -- ownership ---------------------------------------------------------------------------------------------------

    @property
    def owned(self) -> bool:
        """True while this handle holds the lock that says that the segment has an owner. Never in a forked child."""
        return self._owning in self.files.open_now

    def own(self, fd: int) -> None:
        """Note the descriptor that the owner's lock was taken with."""
        self._owning = fd

    def release(self) -> None:
        """Give up the ownership: the next creator may replace the segment."""
        self.files.close(self._owning)
        self._owning = -1

    def close(self) -> None:
        """Drop every reference, and the ownership. Idempotent."""
        self._memory = None
        self._words = None
        for user in list(self.users):
            user.segment_closed()
        with contextlib.suppress(OSError):
            self.files.abandon()
