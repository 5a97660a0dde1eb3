"""The ring's segments as files of a folder, used by processes that are simulated in this one: each has mapped the ring
by itself, with descriptors and locks of its own, and can be killed before any step that others can see."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from fdcomm.deadline import Deadline
from fdcomm.errors import FencedError, SignalReplacedError
from fdcomm.ring import members, memory
from fdcomm.ring.layout import COMPLEX, CURSOR, FORM, LENGTH, LIVES, PARTS, SEGMENTS, SEQ, Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.overflow import Overflows, clean
from fdcomm.ring.payload import encode
from fdcomm.ring.publisher import Publisher
from fdcomm.ring.reader import Lease, RingReader
from fdcomm.runtime import SYSTEM
from fdcomm.signals.files import Files
from models.ring_overflow import Config, State

__all__ = ("Bed", "Crash")

_NAME = "ring"
_SEGMENT = re.compile(r"ring\.[0-9a-f]+\.(\d+)o(\.fdcomm-new)?")
_SMALL = 100


class Crash(BaseException):
    """The process is killed here."""


class Gate:
    """Counts the steps of a process that others can see, and kills it instead of one of them."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.dead = False
        self.files: list[Files] = []

    def step(self) -> None:
        """Before a step."""
        if self.left == 0 or self.dead:
            self.dead = True
            raise Crash
        if self.left is not None:
            self.left -= 1


_now: list[Gate] = []
"""The process that runs."""


class GatedFiles(Files):
    """System calls of a process that may be killed."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self._gate = _now[-1]
        self._gate.files.append(self)

    def another(self) -> Files:
        return GatedFiles(self.directory)

    def make(self, name: str) -> int:
        self._gate.step()
        return super().make(name)

    def link(self, old: str, new: str) -> bool:
        self._gate.step()
        return super().link(old, new)

    def unlink(self, name: str) -> bool:
        if self.find(name) is not None:
            self._gate.step()
        return super().unlink(name)


class GatedWords:
    """Words, one of which others see."""

    def __init__(self, words: Any, gate: Gate) -> None:
        self._words = words
        self._gate = gate

    def __getitem__(self, place: int, /) -> int:
        return int(self._words[place])

    def __setitem__(self, place: int, value: int, /) -> None:
        if place == SEGMENTS:
            self._gate.step()
        self._words[place] = value


def _deadline() -> Deadline:
    return Deadline(20.0, SYSTEM.monotonic)


class _Process:
    """One process: what it has open, and what it is."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.memory: Memory | None = None
        self.overflows: Overflows | None = None
        self.reader: RingReader | None = None
        self.lease: Lease | None = None
        self.value: Any = None

    def run(self, call: Callable[[], Any]) -> Any:
        """Run a call in this process."""
        _now.append(self.gate)
        try:
            return call()
        finally:
            _now.pop()

    def kill(self) -> None:
        """The kernel closes what it has open."""
        self.gate.dead = True
        for files in self.gate.files:
            files.abandon()


class Bed:
    """The code under a configuration of the model: call for call, and what is there after each."""

    def __init__(
        self, config: Config, folder: str, patch: pytest.MonkeyPatch, pool: type[Overflows] = Overflows
    ) -> None:
        patch.setattr(memory, "Files", GatedFiles)
        self._config = config
        self._pool = pool
        self._folder = folder
        self._writers = [_Process() for _ in range(config.writers)]
        self._readers = [_Process() for _ in range(2 * config.ranks)]
        shape = Shape(config.ranks, config.slots, 64)
        self._writers[0].run(lambda: self._make(shape))
        self._watch = _Process()
        self._board = self._watch.run(lambda: Memory.open(_NAME, folder, _deadline())).board
        for rank in range(config.ranks):
            self._attach(rank, rank)

    def close(self) -> None:
        """Let go of everything."""
        for process in (*self._writers, *self._readers, self._watch):
            process.kill()

    def _make(self, shape: Shape) -> None:
        first = self._writers[0]
        first.memory = Memory.make(_NAME, shape, self._folder, _deadline())
        self._come(first)

    def _come(self, writer: _Process) -> None:
        if writer.memory is None or writer.memory.closed:
            writer.memory = Memory.open(_NAME, self._folder, _deadline())
        writer.memory.board.words = GatedWords(writer.memory.board.words, writer.gate)
        writer.overflows = self._pool(writer.memory)

    def _attach(self, rank: int, line: int) -> None:
        process = self._readers[line]
        process.reader = process.run(lambda: RingReader.attach(_NAME, rank, directory=self._folder))

    # -- calls -------------------------------------------------------------------------------------------------------

    def call(self, what: str, who: int, steps: int | None) -> None:
        """Make a call; ``steps``: it is killed after so many that others can see."""
        calls = {"put": self._put, "take over": self._take_over, "close": self._close, "end": self._end}
        if what not in calls:
            {
                "Kill": self._kill,
                "lease": self._lease,
                "End": self._release,
                "Quit": self._quit,
                "Fence": self._fence,
                "Return": self._return,
                "clean": self._clean,
            }[what](who)
            return
        writer = self._writers[who]
        writer.gate.left = steps
        if steps is None:
            writer.run(lambda: calls[what](writer))
            return
        with suppress(Crash):
            writer.run(lambda: calls[what](writer))
        writer.kill()

    def _passed(self, writer: _Process) -> tuple[Publisher, int, bool]:
        if writer.memory is None:
            raise AssertionError("this writer has not come")
        publisher = Publisher(writer.memory.board)
        publisher.look()
        return publisher, publisher.passed, members.zombies(writer.memory.board)

    def _put(self, writer: _Process) -> None:
        board, overflows = writer.memory.board, writer.overflows  # type: ignore[union-attr]
        publisher, passed, zombies = self._passed(writer)
        number = publisher.head + 1
        size = _SMALL + 4096 * 16 * len([larger for larger in self._config.larger if larger <= number])
        made = encode(bytes([number]) * (size - 60))
        nbytes = made.nbytes if number in self._config.larger else 1
        place = overflows.get(nbytes, passed, zombies, _deadline)  # type: ignore[union-attr]
        made = encode(bytes([number]) * (_SMALL if nbytes == 1 else size - 60))
        writer.gate.step()
        place.view[: made.nbytes] = b"\xff" * made.nbytes
        writer.gate.step()
        made.write(place.view)
        writer.gate.step()
        at = board.shape.of_slot(publisher.slot)
        board.words[at + FORM], board.words[at + PARTS], board.words[at + LENGTH] = place.number, 0, made.nbytes
        place.message = number
        writer.gate.step()
        publisher.publish(COMPLEX)

    def _take_over(self, writer: _Process) -> None:
        if writer.overflows is None:
            self._come(writer)
        _, passed, _ = self._passed(writer)
        writer.overflows.take_over(_deadline(), passed)  # type: ignore[union-attr]

    def _close(self, writer: _Process) -> None:
        _, passed, _ = self._passed(writer)
        gone = writer.memory.board.is_over()  # type: ignore[union-attr]
        writer.overflows.close(_deadline(), remove=gone, passed=passed)  # type: ignore[union-attr]
        writer.memory.close(_deadline())  # type: ignore[union-attr]
        writer.overflows = None

    def _end(self, writer: _Process) -> None:
        found: Memory = writer.memory  # type: ignore[assignment]
        found.own()
        memory.remove_segment(found.segment, _deadline())
        writer.overflows.close(_deadline(), remove=True)  # type: ignore[union-attr]
        found.close(_deadline())
        writer.overflows = None

    def _kill(self, process: int) -> None:
        (self._writers + self._readers)[process].kill()

    def _lease(self, line: int) -> None:
        process = self._readers[line]
        reader: RingReader = process.reader  # type: ignore[assignment]
        with suppress(FencedError, SignalReplacedError):
            process.lease = process.run(lambda: reader.lease(0))
            process.value = process.lease.__enter__()

    def _release(self, line: int) -> None:
        process = self._readers[line]
        with suppress(FencedError):
            process.run(process.lease.release)  # type: ignore[union-attr]
        process.lease = None

    def _quit(self, line: int) -> None:
        self._readers[line].run(self._readers[line].reader.close)  # type: ignore[union-attr]

    def _fence(self, rank: int) -> None:
        members.fence(self._board, rank, _deadline())

    def _return(self, rank: int) -> None:
        self._attach(rank, rank + self._config.ranks)

    def _clean(self, _: int) -> None:
        maker = _Process()

        def make() -> None:
            made = Memory.make(_NAME, self._board.shape, self._folder, _deadline())
            clean(made, _deadline())
            made.close(_deadline(), remove=True)

        maker.run(make)
        maker.kill()

    def read(self, line: int) -> set[int]:
        """Return the messages that the bytes which a reader has are of: one, if all is well; none, if it has none."""
        return set(self._readers[line].value or ())

    def left(self) -> list[str]:
        """Return the files of segments."""
        return sorted(name for name in os.listdir(self._folder) if _SEGMENT.fullmatch(name))

    # -- what is there -----------------------------------------------------------------------------------------------

    def differs(self, state: State) -> str:
        """Say in what the code differs from the model."""
        words, shape = self._board.words, self._board.shape
        names = [match for match in map(_SEGMENT.fullmatch, os.listdir(self._folder)) if match]
        named = {int(match[1]) - 1 for match in names if not match[2]}
        pools = {
            item.number - 1: (p, item.message)
            for p, writer in enumerate(self._writers)
            if writer.overflows is not None and not writer.gate.dead
            for item in writer.overflows._pool
        }
        wanted = {s: (p, state.holds[s]) for s, p in enumerate(state.owner) if p >= 0}
        where = tuple(words[shape.of_slot(slot, FORM)] - 1 for slot in range(shape.slots))
        found = {
            "ring": (not self._board.is_over()) == state.ring,
            "files": named == state.files,
            "files without a name": {int(match[1]) - 1 for match in names if match[2]} == state.temp,
            "numbers": words[SEGMENTS] == state.made,
            "head": max(words[shape.of_slot(slot, SEQ)] for slot in range(shape.slots)) == state.head,
            "slots": where == state.where,
            "owners": pools == wanted,
            "lives": tuple(words[LIVES + rank] for rank in range(shape.ranks)) == state.life,
            "cursors": tuple(words[shape.of_line(line, CURSOR)] for line in range(shape.lines)) == state.pos,
            "what is read": all(
                set(reader.value) == {state.pos[line] + 1}
                for line, reader in enumerate(self._readers)
                if state.pc[self._config.writers + line] == "read"
            ),
        }
        return ", ".join(name for name, same in found.items() if not same)
