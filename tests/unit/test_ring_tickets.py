"""A reader takes the message of one number, or nothing, without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm import FencedError
from fdcomm.ring import RingReader, RingWriter
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import GATE

Ring = tuple[RingWriter, Consumer]


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[Ring]:
    folder = str(tmp_path)
    with RingWriter.create("ring", 1, depth=2, directory=folder) as writer:
        with RingReader.attach("ring", 0, directory=folder) as reader:
            yield writer, reader._consumer


def test_the_next_one_is_taken_and_nothing_else(ring: Ring) -> None:
    writer, consumer = ring
    assert consumer.next_number() == 0
    assert consumer.try_begin(1) is None
    writer.put("A", 0)
    writer.put("B", 0)
    assert consumer.next_number() == 1
    assert consumer.try_begin(2) is None
    assert consumer.try_begin(0) is None
    assert consumer.try_begin(1)
    assert consumer.next_number() == 1
    consumer.end()
    assert consumer.try_begin(1) is None
    assert consumer.next_number() == 2
    assert consumer.try_begin(2)


def test_a_ticket_of_what_was_taken_back_is_void(ring: Ring) -> None:
    writer, consumer = ring
    writer.put("A", 0)
    writer.put("B", 0)
    ticket = consumer.next_number()
    writer.clear()
    assert consumer.next_number() == 0
    assert consumer.try_begin(ticket) is None
    for number in range(3, 8):
        writer.put("C", 0)
        assert consumer.next_number() == number
        if number < 7:
            writer.clear()
    assert consumer.try_begin(6) is None
    assert consumer.try_begin(7)
    consumer.end()
    assert consumer.position == 7


def test_what_is_begun_stays_the_readers_over_a_clear(ring: Ring) -> None:
    writer, consumer = ring
    writer.put("A", 0)
    assert consumer.try_begin(1)
    writer.clear()
    assert consumer.next_number() == 1
    assert consumer.try_begin(1)
    consumer.end()


def test_a_ticket_waits_for_no_clear(ring: Ring, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, consumer = ring
    writer.put("A", 0)
    board = consumer._board
    board.words[GATE] = 1
    with monkeypatch.context() as patch:
        patch.setattr(board.locks, "try_members", lambda: None)  # its process lives, and is stopped
        assert consumer.try_begin(1) is None
    # It is dead: the rest is done here. The message had been announced.
    assert consumer.try_begin(1)
    assert board.words[GATE] == 2
    consumer.end()


def test_who_was_given_up_is_told(ring: Ring) -> None:
    writer, consumer = ring
    writer.fence(0)
    with pytest.raises(FencedError):
        consumer.try_begin(1)
