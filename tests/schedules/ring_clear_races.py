"""The races of a clear that frees its slots: the obvious way to do it, and ours, under the same schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.deadline import Timeout
from fdcomm.errors import CommTimeoutError, FencedError
from fdcomm.ring.clearing import clear
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BEGUN, GATE, SEQ
from fdcomm.ring.publisher import Publisher
from fdcomm.testing import ControlledRuntime, Scenario
from tests.conformance.ring_bed import Bed, HeldLocks
from tests.schedules.ring_clear_programs import waiting_put
from tests.schedules.ring_programs import first, never, ring_bed, scenario, write, writer_of

__all__ = ("CLEAR_RACES", "FEW")

FEW = ("late-look", "taken-for-fenced")
"""Those in which ours has more steps."""


def _cleared_bed(scheduling: ControlledRuntime) -> tuple[Bed, Publisher]:
    """A ring of one slot, with one message in it."""
    bed = ring_bed(scheduling, setters=("reader",), weak=False)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    publisher = writer_of(bed)
    publisher.publish(1)
    return bed, publisher


class _OddOrEven(Consumer):
    """Looks at the gate only to know whether a clear is under way."""

    def begin(self, timeout: Timeout, operation: str) -> int:
        self._gate = self._words[GATE] & ~1  # whatever it was when it looked
        words, number = self._words, self.position + 1
        place = self._seqs[self.slot]
        if words[place] != number:
            return super().begin(timeout, operation)
        words[self._begun] = number
        if words[GATE] & 1:
            self._wait_gate(timeout, operation)
        return words[place + 1]


def _late_look(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A reader sees a message; before it announces it, it is taken back, and another one is put into its slot."""
    bed, publisher = _cleared_bed(scheduling)
    told: list[tuple[int, int]] = []

    def get() -> None:
        kind = _OddOrEven if shipped else Consumer
        consumer = kind(bed.board, first(0), turns=0)
        while consumer.position < 2:
            size = consumer.begin(None, "get")
            told.append((consumer.position + 1, size))
            consumer.end()

    def clear_and_put() -> None:
        clear(bed.board, None, never(bed))
        write(publisher, [2])

    def final() -> None:
        wrong = [pair for pair in told if pair[0] != pair[1]]
        assert not wrong, f"asked for message {wrong[0][0]}, the reader got {wrong[0][1]}"

    return scenario(bed, {"reader": get, "clearer": clear_and_put}, final)


class _BelievesItself(Consumer):
    """A later message in its slot tells it that it was given up: nobody else is overtaken."""

    def _pass_over(self, seen: int, operation: str) -> None:
        if abs(seen) > self.position + 1:
            raise self._given_up(operation)
        super()._pass_over(seen, operation)


def _taken_for_fenced(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A reader comes late: its message was taken back, and the slot is used again."""
    bed, publisher = _cleared_bed(scheduling)
    told: list[Any] = []

    def get() -> None:
        kind = _BelievesItself if shipped else Consumer
        consumer = kind(bed.board, first(0), turns=0)
        try:
            while consumer.position < 2:
                told.append(consumer.begin(None, "get"))
                consumer.end()
        except FencedError:
            told.append("given up")

    def clear_and_put() -> None:
        clear(bed.board, None, never(bed))
        write(publisher, [2])

    def final() -> None:
        assert told in ([1, 2], [2]), f"nobody was given up, and the reader was told {told}"

    return scenario(bed, {"reader": get, "clearer": clear_and_put}, final)


class _WaitsForReaders(Publisher):
    """Only readers make room."""

    def _past_voids(self, low: int) -> int:
        return low


def _full_after_clear(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A clear of a full ring in which nobody has begun anything, and a put; no reader calls get."""

    def writer(bed: Bed) -> Publisher:
        return _WaitsForReaders(bed.board, turns=0) if shipped else writer_of(bed)

    return waiting_put(scheduling, writer=writer)


def _marked_twice(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A second clear finds what the first one took back, while the writer uses the slot again."""
    bed, publisher = _cleared_bed(scheduling)
    place = bed.shape.of_slot(0, SEQ)
    bed.words[place] = -1  # the first clear
    words = bed.board.words

    def clear_blindly() -> None:
        words[GATE] += 1
        head = abs(words[place])
        begun = words[bed.shape.of_line(0, BEGUN)]
        for number in range(head, begun, -1):
            words[place] = -number
        words[GATE] += 1

    def put() -> None:
        try:
            write(publisher, [2], 1.0)
        except CommTimeoutError as error:
            raise AssertionError("the slot was not free") from error

    def final() -> None:
        found = bed.words[place]
        assert abs(found) == 2, f"message 2 was put, and in its slot is {found}"

    clearer: Callable[[], Any] = clear_blindly if shipped else lambda: clear(bed.board, None, never(bed))
    return scenario(bed, {"writer": put, "clearer": clearer}, final)


CLEAR_RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "late-look": _late_look,
    "taken-for-fenced": _taken_for_fenced,
    "full-after-clear": _full_after_clear,
    "marked-twice": _marked_twice,
}
