"""A clear of a ring frees its slots at once: what the next put, each reader and the segments of large payloads see."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import CommTimeoutError, FencedError, PeerLostError
from fdcomm.ring import RingReader, RingWriter

_LIMIT_S = 20.0
Ring = tuple[RingWriter, RingReader, RingReader]


@pytest.fixture(params=[1, 2, 5])
def ring(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ring]:
    folder = str(tmp_path)
    with RingWriter.create("ring", 2, depth=request.param, slot_bytes=1024, directory=folder) as writer:
        with (
            RingReader.attach("ring", 0, directory=folder) as one,
            RingReader.attach("ring", 1, directory=folder) as two,
        ):
            yield writer, one, two


def _fill(writer: RingWriter, first: Any = 0) -> None:
    for number in range(writer.statistics().slots):
        writer.put((first, number), 0)


def test_a_put_after_a_clear_of_a_full_ring_needs_no_reader(ring: Ring) -> None:
    writer, one, two = ring
    for number in range(10):
        _fill(writer, number)
        with pytest.raises(CommTimeoutError):
            writer.put("no room", 0)
        assert writer.clear()
        assert (one.available(), two.available()) == (0, 0)
        writer.wait_taken(0)
    writer.put("B", 0)
    assert (one.available(), two.available()) == (1, 1)
    assert one.get(0) == two.get(0) == "B"
    assert writer.statistics().passed == writer.statistics().published


def test_what_somebody_has_begun_keeps_its_slot(ring: Ring) -> None:
    writer, one, two = ring
    _fill(writer, "kept")
    assert one.get(0) == ("kept", 0)
    assert two.clear()
    with pytest.raises(CommTimeoutError) as error:
        writer.put("no room", 0)
    assert error.value.missing == (1,)
    assert two.get(0) == ("kept", 0)
    writer.put("later", 0)
    assert one.get(0) == two.get(0) == "later"


def test_a_reader_may_be_behind_many_clears(ring: Ring) -> None:
    writer, one, two = ring
    reads = (writer.statistics().slots + 1) // 2
    for turn in range(5):
        for number in range(reads):
            if number:
                writer.put("taken back", 0)
                writer.clear()
            writer.put((turn, number), 0)
            assert one.get(0) == (turn, number)
        assert two.available() == reads
        assert [two.get(0) for _ in range(reads)] == [(turn, number) for number in range(reads)]


def test_a_get_that_waits_is_not_disturbed_by_clears(ring: Ring) -> None:
    writer, one, two = ring
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(one.get(_LIMIT_S)))
    thread.start()
    for _ in range(5):
        writer.clear()
    writer.put("A", 0)
    thread.join(_LIMIT_S)
    assert got == [two.get(0)] == ["A"]


def test_a_put_that_waits_goes_on_after_a_clear(ring: Ring) -> None:
    writer, one, two = ring
    _fill(writer)
    thread = threading.Thread(target=writer.put, args=("B", _LIMIT_S))
    thread.start()
    one.clear()
    thread.join(_LIMIT_S)
    assert one.get(0) == two.get(0) == "B"


def test_segments_of_what_was_taken_back_are_used_again(ring: Ring) -> None:
    writer, one, two = ring
    for number in range(4):
        writer.put(np.full(50_000, number), 0)
        assert writer.clear()
    assert writer.statistics().overflow_segments == 1
    writer.put(np.full(50_000, 77), 0)
    assert (one.get(0) == 77).all()
    assert (two.get(0) == 77).all()


def test_a_lease_is_kept_over_clears(ring: Ring) -> None:
    writer, one, two = ring
    writer.put(np.full(50_000, 1), 0)
    with one.lease(0) as array:
        writer.clear()
        assert (two.get(0) == 1).all()
        assert (array == 1).all()
        del array
    writer.put("B", 0)
    assert one.get(0) == two.get(0) == "B"


def test_a_writer_that_takes_over_after_a_clear_finds_the_room(ring: Ring, tmp_path: Path) -> None:
    writer, one, two = ring
    _fill(writer)
    writer.clear()
    writer.close(remove=False)
    with RingWriter.take_over("ring", directory=str(tmp_path)) as second:
        published = second.statistics().published
        second.put("B", 0)
        assert second.statistics().published == published + 1
        assert one.get(0) == two.get(0) == "B"


def test_a_reader_that_comes_back_after_a_clear(ring: Ring, tmp_path: Path) -> None:
    writer, one, two = ring
    _fill(writer)
    writer.fence(1)
    writer.clear()
    writer.put("B", 0)
    with pytest.raises(FencedError):
        two.get(0)
    with RingReader.attach("ring", 1, directory=str(tmp_path)) as again:
        assert again.get(0) == one.get(0) == "B"


def test_a_clear_makes_no_room_for_nobody(ring: Ring) -> None:
    writer, _, _ = ring
    _fill(writer)
    writer.fence(0)
    writer.fence(1)
    writer.clear()
    with pytest.raises(PeerLostError):
        writer.put("B", 0)
