"""RingWriter and RingReader in one process: what each call does, and what it refuses."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

from fdcomm import (
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    PayloadError,
    PeerLostError,
    RankError,
)
from fdcomm.ring import RingReader, RingWriter
from tests.unit.ring_of_two import LIMIT_S, Ring, attach, folder, ring

__all__ = ("folder", "ring")


# -- putting and getting -------------------------------------------------------------------------------------------


def test_each_rank_gets_each_object_once_and_in_order(ring: Ring) -> None:
    writer, one, other = ring
    for number in range(20):
        writer.put({"number": number}, LIMIT_S)
        assert (one.available(), other.available()) == (1, 1)
        assert one.get(0)["number"] == other.get(0)["number"] == number
    with pytest.raises(CommTimeoutError, match="nothing was put"):
        one.get(0.01)
    assert writer.statistics().passed == 20


@pytest.mark.parametrize("size", [0, 900, 1024, 1025, 5000, 300_000])
def test_every_size(ring: Ring, size: int) -> None:
    writer, one, other = ring
    for content in (os.urandom(size) for _ in range(4)):
        writer.put([content], LIMIT_S)
        assert one.get(LIMIT_S) == other.get(LIMIT_S) == [content]


def test_sizes_in_any_order(ring: Ring) -> None:
    writer, one, other = ring
    for size in (10, 200_000, 10, 100_000, 400_000, 0, 70_000, 2000, 100):
        writer.put(bytes(size), LIMIT_S)
        assert len(one.get(LIMIT_S)) == len(other.get(LIMIT_S)) == size
    assert writer.statistics().overflow_segments <= 3


@pytest.mark.parametrize("count", [4, 50, 20_000])
def test_arrays_are_the_readers_own(ring: Ring, count: int) -> None:
    writer, one, other = ring
    array = np.arange(count)
    writer.put({"a": array, "b": array[::-1].copy(), "text": "x"}, LIMIT_S)
    got = one.get(LIMIT_S)
    got["a"][0] = 77
    assert (got["b"] == array[::-1]).all()
    assert (other.get(LIMIT_S)["a"] == array).all()


@pytest.mark.parametrize("count", [4, 20_000])
def test_a_lease_gives_views_and_keeps_the_slot(ring: Ring, count: int) -> None:
    writer, one, other = ring
    writer.put(np.arange(count), LIMIT_S)
    with one.lease(LIMIT_S) as array:
        assert not array.flags.writeable
        assert array[-1] == count - 1
        del array
        other.get(LIMIT_S)
        assert writer.statistics().passed == 0
    assert writer.statistics().passed == 1


def test_a_large_payload_is_not_near_the_beginning_of_a_page(ring: Ring) -> None:
    """Some processors copy 15 times slower to a little further in its page: large objects of Python begin near it."""
    writer, one, _ = ring
    for _ in range(2):
        writer.put(np.ones(50_000), LIMIT_S)
        with one.lease(LIMIT_S) as array:
            place = array.ctypes.data % 4096
            del array
        assert 2048 <= place < 3072


def test_a_put_waits_for_the_slowest_and_names_it(ring: Ring) -> None:
    writer, one, _ = ring
    for number in range(2):
        writer.put(number, LIMIT_S)
        one.get(LIMIT_S)
    with pytest.raises(CommTimeoutError) as error:
        writer.put(2, 0.05)
    assert error.value.missing == (1,)
    assert writer.statistics().published == 2
    with pytest.raises(CommTimeoutError):
        writer.wait_taken(0.05)


def test_what_cannot_be_pickled_is_not_put(ring: Ring) -> None:
    writer, one, _ = ring
    with pytest.raises(PayloadError):
        writer.put(threading.Lock(), LIMIT_S)
    writer.put(b"x" * 100_000, LIMIT_S)
    one.get(LIMIT_S)
    with pytest.raises(PayloadError):
        writer.put([b"x" * 100_000, threading.Lock()], LIMIT_S)
    assert writer.statistics().published == 1


def _refuses() -> Any:
    raise ValueError("not here")


class Unreadable:
    def __reduce__(self) -> Any:
        return _refuses, ()


def test_what_cannot_be_made_counts_as_taken(ring: Ring) -> None:
    writer, one, _ = ring
    writer.put(Unreadable(), LIMIT_S)
    writer.put(1, LIMIT_S)
    with pytest.raises(PayloadError, match="not here"):
        one.get(LIMIT_S)
    assert one.get(LIMIT_S) == 1


def test_several_threads_put_and_get(ring: Ring) -> None:
    writer, one, other = ring
    got: list[list[int]] = [[], []]

    def put(first: int) -> None:
        for number in range(first, first + 20):
            writer.put(number, LIMIT_S)

    def get(reader: RingReader, into: list[int]) -> None:
        for _ in range(20):
            into.append(reader.get(LIMIT_S))

    pairs = [(one, got[0]), (one, got[0]), (other, got[1]), (other, got[1])]
    threads = [threading.Thread(target=put, args=(first,)) for first in (0, 100)]
    threads += [threading.Thread(target=get, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    assert sorted(got[0]) == sorted(got[1]) == [*range(20), *range(100, 120)]


# -- who reads, who writes -----------------------------------------------------------------------------------------


def test_one_reader_of_a_rank_at_a_time(ring: Ring, folder: str) -> None:
    writer, one, _ = ring
    with pytest.raises(DuplicateRankError, match=f"process {os.getpid()} reads"):
        attach(folder, 0)
    writer.put(1, LIMIT_S)
    one.close()
    with attach(folder, 0) as again:
        assert again.get(LIMIT_S) == 1


@pytest.mark.parametrize("rank", [-1, 2, True, "0"])
def test_what_is_no_rank(ring: Ring, folder: str, rank: Any) -> None:
    with pytest.raises(RankError):
        attach(folder, rank)


def test_a_rank_that_is_given_up_is_not_waited_for_and_comes_back(ring: Ring, folder: str) -> None:
    writer, one, other = ring
    for number in (1, 2):
        writer.put(number, LIMIT_S)
        one.get(LIMIT_S)
    assert writer.fence(1)
    assert not writer.fence(1)
    writer.put(3, LIMIT_S)
    with pytest.raises(FencedError):
        other.get(LIMIT_S)
    assert writer.statistics().lost == (1,)
    with attach(folder, 1) as again:
        assert writer.statistics().counted == (0, 1)
        assert again.get(LIMIT_S) == one.get(LIMIT_S) == 3
        with pytest.raises(DuplicateRankError):
            attach(folder, 1)


def test_payloads_that_a_given_up_reader_may_be_in_are_left_alone(ring: Ring) -> None:
    writer, one, other = ring
    writer.put(np.zeros(50_000), LIMIT_S)
    lease = one.lease(LIMIT_S)
    with lease as array:
        writer.fence(0)
        other.get(LIMIT_S)
        for _ in range(3):
            writer.put(np.ones(50_000), LIMIT_S)
            other.get(LIMIT_S)
        assert not array.any()
        del array
        with pytest.raises(FencedError):
            lease.release()


def test_when_nobody_is_counted_a_full_ring_says_so(ring: Ring) -> None:
    writer, _, _ = ring
    for rank in (0, 1):
        writer.fence(rank)
    for number in (1, 2):
        writer.put(number, LIMIT_S)
    with pytest.raises(PeerLostError):
        writer.put(3, LIMIT_S)


def test_another_writer_waits_until_the_first_is_gone_and_goes_on(ring: Ring, folder: str) -> None:
    writer, one, _ = ring
    writer.put(1, LIMIT_S)
    with pytest.raises(CommTimeoutError, match=f"by process {os.getpid()}"):
        RingWriter.take_over("ring", directory=folder, timeout=0.02)
    writer.put(b"x" * 5000, LIMIT_S)
    writer.close(remove=False)
    with RingWriter.take_over("ring", directory=folder) as second:
        assert one.get(LIMIT_S) == 1
        assert len(one.get(LIMIT_S)) == 5000
        assert second.statistics().published == 2


# -- clears --------------------------------------------------------------------------------------------------------


def test_a_clear_takes_back_what_nobody_has_begun(ring: Ring) -> None:
    writer, one, other = ring
    writer.put(1, LIMIT_S)
    writer.put(2, LIMIT_S)
    one.get(LIMIT_S)
    assert other.clear(0)
    assert not one.clear(0)
    assert (writer.epoch, one.available(), other.available()) == (1, 0, 1)
    assert other.get(LIMIT_S) == 1
    with pytest.raises(CommTimeoutError):
        other.get(0.01)
    with pytest.raises(CommTimeoutError):
        one.get(0.01)
    writer.put(3, LIMIT_S)
    assert one.get(LIMIT_S) == other.get(LIMIT_S) == 3
