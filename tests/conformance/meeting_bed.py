"""The words of a meeting in the memory of a controlled program: the code that ships runs on them access by access."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import (
    ARRIVAL,
    ENDING,
    FLAGS,
    LIVES,
    NOBODY,
    NUMBER,
    PID,
    TURN,
    Shape,
    next_round,
    why_of,
)
from fdcomm.runtime import Words
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.kernel import ControlledKernel, WeakRuntime
from tests.conformance.ring_bed import FlagBytes, FreeLocks, Stepped

__all__ = ("MeetingBed",)


class MeetingBed:
    """One meeting under the controlled scheduler.

    Args:
        scheduling: The runtime that the program was given.
        ranks: How many meet. All have come.
        setters: Names of the tasks that barriers reach, in that order.
        weak: Stores reach memory later, each by a step of its own.
        places: How many barriers they use in turn.
    """

    def __init__(
        self,
        scheduling: ControlledRuntime,
        ranks: int,
        setters: Iterable[str] = (),
        *,
        weak: bool = True,
        places: int = 1,
    ) -> None:
        self.shape = shape = Shape(ranks, places)
        self.weak = weak
        self.words = scheduling.words(shape.nbytes // 8)
        self.flags = scheduling.words(len(shape.flag_words))
        self.texts = bytearray(shape.nbytes)
        self.turn, self.lives = TURN, LIVES
        self.whys = tuple(why_of(ENDING * number) for number in range(8))
        self.counts = tuple(shape.passes(bank, place) for bank in (0, next_round(0)) for place in range(places))
        self.arrivals = tuple(shape.of_line(line, ARRIVAL) for line in range(shape.lines))
        self.numbers = tuple(shape.of_line(line, NUMBER) for line in range(shape.lines))
        for place in self.arrivals:
            self.words[place] = NOBODY
        for rank in range(ranks):
            self.words[shape.of_line(rank, PID)] = 1 + rank
        shown = {TURN, *self.whys, *self.counts, *self.arrivals, *self.numbers, *range(LIVES, LIVES + ranks)}
        hidden = set(range(len(self.words))) - (shown if weak else set())
        unbuffered: list[tuple[Words, int]] = [(self.words, place) for place in hidden]
        if not weak:
            unbuffered += [(self.flags, place) for place in range(shape.lines)]
        self.runtime = WeakRuntime(scheduling.scheduler, unbuffered)
        self.kernel = ControlledKernel(self.runtime, (self.words, TURN), setters)
        self.locks = FreeLocks()
        self.hidden = {self.name(place) for place in hidden}

    def room(self, number: int) -> Room:
        """Return a process's view."""
        flag_bytes: Any = memoryview(self.flags.obj).cast("B")
        count = len(self.shape.flag_words)
        return Room(
            self.shape,
            Stepped(self.runtime, self.words, self.flags, FLAGS, FLAGS + count),
            FlagBytes(self.runtime, flag_bytes),
            memoryview(self.texts),
            self.kernel,
            self.runtime,
            self.locks,
            lambda: 0,
            number,
        )

    def name(self, place: int) -> str:
        """Return what the scheduler calls a word."""
        return self.runtime._word(self.words, place)
