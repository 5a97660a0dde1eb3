"""Races of the ring's segments: the same calls on the obvious way to keep them, and on ours, on real files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError
from fdcomm.ring.layout import SEGMENTS
from fdcomm.ring.overflow import Overflow, Overflows
from models.ring_overflow import Config
from tests.conformance.ring_overflow_bed import Bed
from tests.races.program_race import ProgramRace

__all__ = ("SegmentRace",)

R = frozenset[int]


class PassedOnly(Overflows):
    """A segment is free when the slowest of the counted readers is past its message; nobody is counted: at once."""

    def _over(self, passed: int) -> int:
        return passed


class OwnNumbers(Overflows):
    """A process numbers its segments itself, from 1."""

    def get(self, nbytes: int, passed: int, zombies: bool, limit: Callable[[], Deadline]) -> Overflow:
        self._memory.board.words[SEGMENTS] = len(self._pool)
        return super().get(nbytes, passed, zombies, limit)


class RemovesItsOwn(Overflows):
    """Who has made a file removes it when he goes."""

    def close(self, deadline: Deadline, *, remove: bool, passed: int = 0) -> None:
        super().close(deadline, remove=True, passed=passed)


class LeavesUnfinished(Overflows):
    """Who comes takes what has a name, and does not look for more."""

    def take_over(self, deadline: Deadline, passed: int = 0) -> None:
        while self._take(self._over(passed), deadline):
            pass

    def _remove_all(self, deadline: Deadline) -> None:
        for item in list(self._pool):
            self._remove(item, deadline)


def _reused(bed: Bed) -> str:
    """Nobody is counted while the second message is put, and the rank comes back for the first one."""
    bed.call("put", 0, None)
    bed.call("Kill", 1, None)
    bed.call("Fence", 0, None)
    bed.call("put", 0, None)
    bed.call("Return", 0, None)
    bed.call("lease", 1, None)
    return "" if bed.read(1) == {1} else f"asked for message 1, the rank that came back got message {bed.read(1)}"


def _foreign(bed: Bed) -> str:
    """Two writers put in turn, and the first one leaves before its message is read."""
    bed.call("take over", 1, None)
    bed.call("put", 0, None)
    bed.call("close", 0, None)
    bed.call("put", 1, None)
    bed.call("lease", 0, None)
    return "" if bed.read(0) == {1} else f"asked for message 1, the reader got message {bed.read(0)}"


def _gone(bed: Bed) -> str:
    """A writer puts and leaves, and the reader looks then."""
    bed.call("put", 0, None)
    bed.call("close", 0, None)
    try:
        bed.call("lease", 0, None)
    except ProtocolViolationError as error:
        return str(error)
    return "" if bed.read(0) == {1} else "the reader did not get the message"


def _left(bed: Bed) -> str:
    """A writer is killed between making a file and giving it its name; another one comes, and ends the ring."""
    bed.call("put", 0, 2)
    bed.call("take over", 1, None)
    bed.call("end", 1, None)
    return f"at the end there are {bed.left()}" if bed.left() else ""


_TWO = Config(writers=2, slots=2)
PROGRAMS: dict[str, tuple[Callable[[Bed], str], type[Overflows], Config]] = {
    "reused": (_reused, PassedOnly, Config(slots=2, back=True)),
    "foreign": (_foreign, OwnNumbers, _TWO),
    "gone": (_gone, RemovesItsOwn, _TWO),
    "left": (_left, LeavesUnfinished, _TWO),
}


@dataclass(frozen=True)
class SegmentRace(ProgramRace):
    """One order of calls that goes wrong on the obvious way, and not on ours."""

    def run(self, *, shipped: bool) -> str:
        """Make the calls."""
        calls, obvious, config = PROGRAMS[self.program]
        pool = obvious if shipped else Overflows
        folder = tempfile.TemporaryDirectory(prefix="fdcomm-segments-", dir="/dev/shm")
        with folder, pytest.MonkeyPatch.context() as patch:
            bed = Bed(config, folder.name, patch, pool)
            try:
                return calls(bed)
            finally:
                bed.close()
