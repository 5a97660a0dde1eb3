"""B02 at the ring: an indicator beside the messages, which is lowered by who has taken the last one; and ours."""

from __future__ import annotations

from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import GATE
from fdcomm.testing import ControlledRuntime, Scenario
from tests.schedules.ring_programs import first, ring_bed, scenario, write, writer_of

__all__ = ("indicator",)

_EXIST = GATE + 2
"""A word that the ring does not use."""


def indicator(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A reader takes the last message and says that there is none; a put comes in between."""
    bed = ring_bed(scheduling, slots=2, weak=False)
    words = bed.board.words
    publisher = writer_of(bed)
    publisher.publish(1)
    bed.words[_EXIST] = 1
    consumer = Consumer(bed.board, first(0), turns=0)

    def put() -> None:
        write(publisher, [2])
        if shipped:
            words[_EXIST] = 1

    def get() -> None:
        consumer.begin(None, "get")
        consumer.end()
        if shipped and not consumer.waiting():
            words[_EXIST] = 0

    def final() -> None:
        there = bool(bed.words[_EXIST]) if shipped else bool(consumer.waiting())
        assert there, "a message waits, and the indicator says that there is none"
        assert shipped or consumer.next_number() == 2

    return scenario(bed, {"writer": put, "reader": get}, final)
