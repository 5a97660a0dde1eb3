"""Memory of payloads, used again: fresh pages cost several times what copying into old ones does.

When the consumer is done with a payload it takes its name away. If arrays of it are still referred to, the file is
called "held" until they are not, and then "free"; a free file its producer writes the next payload into. An array that
somebody keeps therefore never changes.
"""

from __future__ import annotations

import mmap
import os
from collections import OrderedDict, deque
from itertools import islice
from typing import Final, NamedTuple

from fdcomm.errors import UndecodableError
from fdcomm.mq.mapped import Mapped, Maps
from fdcomm.mq.payloads import Payloads, Pieces

__all__ = ("Loan", "Loans", "Pool")

_MOST: Final = 8
"""Files that a consumer waits for, and of a producer's those that it looks at for one that is free."""

_KEPT: Final = 64
"""Files of a producer that are kept for later."""

_MAPPED: Final = 128 * 1024 * 1024
"""Bytes that a consumer keeps mapped."""


class Pool:
    """What a producer writes payloads into. Not for several threads at once.

    Args:
        payloads: Those of the queue.
        producer: Whose it is.
        window: Most bytes that are not acknowledged, unless it is one payload; as many are kept to be written again.
    """

    def __init__(self, payloads: Payloads, producer: str, window: int) -> None:
        self._payloads = payloads
        self._producer = producer
        self._window = window
        self._under_way: deque[tuple[int, int]] = deque()
        self._bytes = 0
        self._lent: OrderedDict[int, int] = OrderedDict()
        self._lent_bytes = 0
        self._maps: OrderedDict[int, mmap.mmap] = OrderedDict()

    def has_room(self, nbytes: int, base: int) -> bool:
        """Say whether a payload of so many bytes may be written. ``base``: as the sender's."""
        while self._under_way and self._under_way[0][0] <= base:
            self._bytes -= self._under_way.popleft()[1]
        return not self._under_way or self._bytes + nbytes <= self._window

    def write(self, number: int, pieces: Pieces, base: int) -> None:
        """Write the payload of a message, into memory that is free or else new. ``base``: as the sender's.

        Raises:
            SignalSpaceError: There is no room for it. Nothing is left of it.
        """
        size = self._again(number, pieces)
        if not size:
            size = pieces.nbytes
            self._payloads.write(self._producer, number, pieces)
        self._under_way.append((number, pieces.nbytes))
        self._bytes += pieces.nbytes
        self._lent[number] = size
        self._lent_bytes += size
        # Done with, and more than is kept for later: what is under way, and two that their reader still looks at.
        most = self._window + 2 * size
        while (self._lent_bytes > most or len(self._lent) > _KEPT) and (oldest := next(iter(self._lent))) <= base:
            self._lent_bytes -= self._lent.pop(oldest)
            self._payloads.remove(self._producer, f"free.{oldest}")
            self._payloads.remove(self._producer, f"held.{oldest}")

    def close(self) -> None:
        """The producer ends: what is no payload goes. What the consumer still refers to stays memory without a name."""
        self._maps.clear()
        self._payloads.remove_memory(self._producer)

    def left(self) -> bool:
        """Say whether payloads of this producer are there."""
        return bool(self._payloads.listed().get(self._producer))

    def _again(self, number: int, pieces: Pieces) -> int:
        """Write into a file that is free. Return its size; 0: there is none."""
        for old in tuple(islice(self._lent, _MOST)):
            name = f"free.{old}"
            try:
                fd = os.open(self._payloads.path(self._producer, name), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError:
                continue
            try:
                self._lent_bytes -= self._lent.pop(old)
                status = os.fstat(fd)
                if not pieces.nbytes <= status.st_size <= 4 * pieces.nbytes:
                    self._payloads.remove(self._producer, name)
                    self._maps.pop(status.st_ino, None)
                    continue
                self._copy(fd, status, pieces)
            finally:
                os.close(fd)
            return status.st_size if self._payloads.rename(self._producer, name, number) else 0
        return 0

    def _copy(self, fd: int, status: os.stat_result, pieces: Pieces) -> None:
        memory = self._maps.pop(status.st_ino, None)
        if memory is None or len(memory) != status.st_size:
            memory = mmap.mmap(fd, status.st_size)
        self._maps[status.st_ino] = memory
        while len(self._maps) > max(_MOST, len(self._lent) + 1):
            self._maps.popitem(last=False)
        begin = 0
        for part in pieces.parts:
            length = part.nbytes if isinstance(part, memoryview) else len(part)
            memory[begin : begin + length] = part
            begin += length


class Loan(NamedTuple):
    """A payload that the consumer's process has mapped. Without a mapping: it is damaged."""

    producer: str
    number: int
    nbytes: int
    mapped: Mapped | None

    def view(self) -> memoryview:
        """Return its bytes. Raises UndecodableError: it is not as large as its message says."""
        if self.mapped is None:
            raise UndecodableError(f"a payload of {self.nbytes} bytes is no valid one: it is cut off")
        return memoryview(self.mapped.memory)[: self.nbytes]


class Loans:
    """The payloads that the consumer is given, and those that it is done with and its process still refers to."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._maps = Maps(_MAPPED)
        self._given: list[Loan] = []
        self._held: deque[Loan] = deque()

    def lend(self, producer: str, number: int, nbytes: int, base: int) -> Loan | None:
        """Map a payload; None: it is gone.

        Args:
            producer: Whose it is.
            number: Its message.
            nbytes: How large it is.
            base: Up to here the producer had dropped its messages, or a consumer was done with them, before this one
                has read of it: they do not come.
        """
        if base:
            self._payloads.forget(producer, base)
        try:
            mapped = self._maps.take(self._payloads.path(producer, number), nbytes)
        except UndecodableError:
            return Loan(producer, number, nbytes, None)
        return None if mapped is None else Loan(producer, number, nbytes, mapped)

    def keep(self, loan: Loan) -> None:
        """The consumer is given the message."""
        self._given.append(loan)

    def finish(self) -> bool:
        """The consumer is done with what it was given: take the names away. Return whether there were some."""
        some = bool(self._given)
        for loan in tuple(self._held):
            if self._returned(loan):
                self._held.remove(loan)
                self._give_back(loan, f"held.{loan.number}")
        while self._given:
            loan = self._given.pop()
            if self._returned(loan):
                self._give_back(loan, loan.number)
            elif self._payloads.rename(loan.producer, loan.number, f"held.{loan.number}"):
                self._held.append(loan)
        while len(self._held) > _MOST:
            oldest = self._held.popleft()
            self._payloads.remove(oldest.producer, f"held.{oldest.number}")
        return some

    def forget(self) -> None:
        """A producer is gone, and its files are: keep no memory for them."""
        self._maps.clear()

    def close(self) -> None:
        """The consumer ends. What its process still refers to stays memory, without a name."""
        self._maps.close()
        while self._held:
            loan = self._held.popleft()
            self._payloads.remove(loan.producer, f"held.{loan.number}")

    def _returned(self, loan: Loan) -> bool:
        """Say whether nothing refers to it any more."""
        return loan.mapped is None or self._maps.give_back(loan.mapped)

    def _give_back(self, loan: Loan, name: int | str) -> None:
        free = f"free.{loan.number}"
        self._payloads.rename(loan.producer, name, free)
        # A producer that ends drops its mark and then looks for what is free: one of the two sees the other.
        if not os.path.exists(self._payloads.path(loan.producer, "mark")):
            self._payloads.remove(loan.producer, free)
