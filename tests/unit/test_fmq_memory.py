"""Memory of large messages: used again, bounded, mapped once, and never changed under who looks at it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fdcomm import CommTimeoutError
from fdcomm.mq import FMQ, Config
from fdcomm.mq.payloads import Payloads
from tests.conformance.waiting import until
from tests.unit.fmq_ends import LIMIT_S as _S
from tests.unit.fmq_ends import config, fmq

__all__ = ("config", "fmq")


def test_arrays_stand_in_shared_memory_and_never_change(fmq: FMQ) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    kept = []
    for number in range(12):
        producer.put({"array": np.full(1 << 18, number, np.float64), "number": number})
        message = consumer.get(_S)
        assert message.nbytes > 1 << 21
        message.payload["array"][0] = -1.0  # its own copy
        kept.append(message.payload)
    for one in kept:
        assert (one["array"][1:] == one["number"]).all()
        assert one["array"][0] == -1.0


def test_memory_is_used_again(fmq: FMQ, config: Config) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    for number in range(20):
        producer.put(bytes([number]) * (2 << 20))
        assert consumer.get(_S).payload[-1] == number
    files = [name for name in os.listdir("/dev/shm") if Payloads(config.endpoint("q").address).key in name]
    assert len(files) <= 5


def test_memory_does_not_pile_up(fmq: FMQ, config: Config) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    for _ in range(3):
        for number in range(100):
            producer.put(bytes([number]) * 4096, 1024)
        assert [consumer.get(_S).payload[0] for _ in range(100)] == list(range(100))
        consumer.done()
        producer.flush(_S)
    producer.put(bytes(4096), 1024)
    key = Payloads(config.endpoint("q").address).key
    assert len([name for name in os.listdir("/dev/shm") if key in name]) <= 67
    assert consumer.get(_S).payload == bytes(4096)
    consumer.done()


def test_what_was_written_to_is_not_seen_in_the_next_message(fmq: FMQ) -> None:
    """The consumer keeps its mappings, but not those in which it has changed something."""
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    places = set()
    for number in range(12):
        producer.put(np.full(1 << 18, number, np.float64))
        array = consumer.get(_S).payload
        assert (array == number).all()
        places.add(array.ctypes.data)
        if number % 3 == 1:
            array[1000:1010] = -1.0
        del array
    assert len(places) < 12  # a mapping was used again


def test_at_most_so_many_bytes_are_under_way(config: Config) -> None:
    with FMQ(replace(config, shm_window=5 << 20)) as fmq:
        producer = fmq.queue("q")
        producer.put(bytes(2 << 20), timeout=0)
        producer.put(bytes(2 << 20), timeout=0)
        with pytest.raises(CommTimeoutError, match="no room"):
            producer.put(bytes(2 << 20), timeout=0)
        producer.put(b"small ones go on", timeout=0)
        consumer = fmq.queue("q", "consumer")
        assert [len(consumer.get(_S).payload) for _ in range(3)] == [2 << 20, 2 << 20, 16]
        consumer.done()
        producer.put(bytes(9 << 20), timeout=_S)  # a single one may be larger
        assert len(consumer.get(_S).payload) == 9 << 20
        consumer.done()


def test_nothing_stays_mapped_of_a_producer_that_is_gone(fmq: FMQ, config: Config) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    producer.put(bytes(4 << 20))
    consumer.get(_S)
    consumer.done()
    key = Payloads(config.endpoint("q").address).key
    assert key in Path("/proc/self/maps").read_text()
    producer.close()
    until(lambda: consumer.look() is None and key not in Path("/proc/self/maps").read_text())
