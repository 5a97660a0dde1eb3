"""A ring with its segments in a real folder, used by the tasks of a controlled program as processes of their own.

What ships runs: writers, readers, their locks and files. A step is an access to a word that says where a payload is
and who reads it, a system call on the folder, or an access to the bytes of a segment.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from fdcomm.deadline import Deadline
from fdcomm.errors import FencedError, ProtocolViolationError
from fdcomm.ring import members, writer
from fdcomm.ring.layout import BEGUN, CURSOR, FORM, LIVES, PID, SEGMENTS, SEQ, Shape
from fdcomm.ring.locks import KernelLocks
from fdcomm.ring.memory import Memory, make_segment, open_segment
from fdcomm.ring.overflow import Overflow, Overflows
from fdcomm.ring.reader import RingReader
from fdcomm.ring.writer import RingWriter
from fdcomm.runtime import SYSTEM
from fdcomm.signals import ownership
from fdcomm.signals.files import Files, Found
from fdcomm.signals.kernel import SYSTEM_KERNEL
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.signal_programs import FolderRuntime

__all__ = ("Bed", "Process", "SteppedOverflows")

_MEMORY: Final = "/dev/shm" if os.path.isdir("/dev/shm") else None
_NAME: Final = "ring"
_LARGE: Final = 5000
_BYTES: Final = "bytes of segments"


def _never() -> Deadline:
    return Deadline(None, SYSTEM.monotonic)


class _Files(Files):
    """Files of one process, which can be closed as the kernel does when it is killed."""

    def __init__(self, directory: str, process: Process) -> None:
        super().__init__(directory)
        self._process = process
        process.books.append(self)

    def another(self) -> Files:
        return _Files(self.directory, self._process)

    def find(self, name: str) -> Found | None:
        self._process.bed.runtime.look()
        return super().find(name)

    def listed(self) -> list[str]:
        self._process.bed.runtime.look()
        return super().listed()


class _Words:
    """Those of them that say where a payload is, and who reads it, are looked at and changed in steps."""

    def __init__(self, words: Any, bed: Bed) -> None:
        self._words = words
        self._bed = bed

    def __getitem__(self, place: int, /) -> int:
        self._bed.touch(place, change=False)
        return int(self._words[place])

    def __setitem__(self, place: int, value: int, /) -> None:
        self._bed.touch(place, change=True)
        self._words[place] = value


class _Locks(KernelLocks):
    """Who takes one, or asks, sees what others did to the folder."""

    _bed: Bed

    def _try(self, place: int) -> int | None:
        self._bed.controlled.access("the folder", change=True)
        return super()._try(place)

    def try_writer(self) -> bool:
        self._bed.controlled.access("the folder", change=True)
        return super().try_writer()


class SteppedOverflows(Overflows):
    """As it ships; that the segment is filled afterwards is a step."""

    def get(self, nbytes: int, passed: int, zombies: bool, limit: Callable[[], Deadline]) -> Overflow:
        place = super().get(nbytes, passed, zombies, limit)
        bed: Any = self._memory.board.words
        bed._bed.controlled.access(_BYTES, change=True)
        return place


class Process:
    """One process: what it has open, and what it is."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.books: list[Files] = []
        self.memory = self._open()
        self.writer: RingWriter | None = None
        self.reader: RingReader | None = None

    def _open(self) -> Memory:
        files = _Files(self.bed.folder, self)
        segment = open_segment(files, _NAME, _never(), self.bed.runtime)
        memory = Memory(segment, self.bed.shape, SYSTEM_KERNEL, self.bed.runtime)
        locks = _Locks(segment, SYSTEM_KERNEL, self.bed.runtime)
        locks._bed = self.bed
        memory.locks = memory.board.locks = locks
        memory.board.words = _Words(memory.board.words, self.bed)
        return memory

    def write(self, *, fresh: bool = False) -> None:
        """Become the writer."""
        self.memory.own()
        self.writer = RingWriter(self.memory, _never(), "take_over", fresh=fresh)

    def put(self, numbers: Any) -> None:
        """Put large messages that are these numbers, while there is room."""
        ring: RingWriter = self.writer  # type: ignore[assignment]
        for number in numbers:
            publisher = ring._publisher
            if publisher.head >= publisher.room:
                counted = publisher.look()
                if counted and publisher.head - publisher.passed >= self.bed.shape.slots:
                    return
            ring.put(pickle.PickleBuffer(bytes([number]) * _LARGE), timeout=None)
            self.bed.put.append(number)

    def attach(self, rank: int) -> None:
        """Become the reader of a rank."""
        self.reader = RingReader(self.memory, members.attach(self.memory.board, rank, _never()))

    def take(self, most: int, got: list[int]) -> None:
        """Take the large messages that are there: each is whole, from its first look to its last."""
        reader: RingReader = self.reader  # type: ignore[assignment]
        seen: list[tuple[set[int], set[int]]] = []
        try:
            with suppress(FencedError):
                while len(seen) < most and reader.available():
                    with reader.lease(None) as view:
                        first = self._looks(view)
                        last = self._looks(view)
                        seen.append((first, last))
                    got.extend(first)
        except ProtocolViolationError as error:
            raise AssertionError(str(error)) from error
        for first, last in seen:
            assert first == last, f"a reader saw bytes of {sorted(first)}, and later those of {sorted(last)}"
            assert len(first) == 1, f"a reader saw bytes of {sorted(first)}"

    def _looks(self, view: memoryview) -> set[int]:
        self.bed.controlled.access(_BYTES, change=False)
        return set(view)

    def die(self) -> None:
        """The kernel closes what a killed process has open."""
        for files in self.books:
            files.abandon()
        self.bed.controlled.access("the folder", change=True)


class Bed:
    """A ring in a folder of its own."""

    def __init__(
        self,
        controlled: ControlledRuntime,
        *,
        ranks: int = 1,
        slots: int = 2,
        pool: type[SteppedOverflows] = SteppedOverflows,
    ) -> None:
        self.controlled = controlled
        self.runtime: Any = FolderRuntime(controlled)
        self.shape = Shape(ranks, slots, 64)
        self.folder = tempfile.mkdtemp(prefix=f"fdcomm-test-{os.getpid()}-", dir=_MEMORY)
        self.put: list[int] = []
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(writer, "Overflows", pool)
        shape = self.shape
        seen = {shape.of_slot(slot, word) for slot in range(slots) for word in (SEQ, FORM)}
        seen |= {shape.of_line(line, word) for line in range(shape.lines) for word in (CURSOR, BEGUN, PID)}
        self._seen = seen | {SEGMENTS, *range(LIVES, LIVES + ranks)}
        self.look = Files(self.folder)
        header = b"".join(number.to_bytes(8, "little") for number in shape.header())

        def fill(data: memoryview) -> None:
            data[: len(header)] = header

        self._ring = make_segment(self.look, _NAME, shape.nbytes, fill, _never())
        self._ring.close()  # nobody owns it yet
        self.processes: list[Process] = []

    def touch(self, place: int, *, change: bool) -> None:
        """A step, if that word is one that counts."""
        if place in self._seen:
            self.controlled.access(f"word {place}", change=change)

    def process(self) -> Process:
        """Return a new process."""
        self.processes.append(Process(self))
        return self.processes[-1]

    def close(self) -> None:
        """Remove everything."""
        self._patch.undo()
        for segment, *_ in list(ownership._held.values()):
            if segment.files.directory == self.folder:
                ownership.forget(segment)
        for process in self.processes:
            for files in process.books:
                files.abandon()
            # A mapping has a descriptor until nobody knows it: an exploration makes thousands.
            vars(process).clear()
        self.processes.clear()
        self.look.abandon()
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks."""
        return Scenario(tasks, final=final, close=self.close)

    def left(self) -> list[str]:
        """Return the files that are there beside the ring."""
        return sorted(name for name in os.listdir(self.folder) if name != _NAME)
