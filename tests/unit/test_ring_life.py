"""The life of a ring and of its handles: what is left behind, who is told, and what is refused."""

from __future__ import annotations

import os
import pickle
import threading

import pytest

from fdcomm import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    ForkedHandleError,
    MemoryOrderError,
    SignalInUseError,
    SignalMismatchError,
    SignalNotFoundError,
    SignalReplacedError,
)
from fdcomm.ring import RingReader, RingWriter
from fdcomm.ring.layout import PID, Shape
from fdcomm.ring.memory import Memory, require_order
from fdcomm.signals.kernel import SystemKernel
from tests.unit.ring_of_two import LIMIT_S, Ring, attach, files, folder, ring

__all__ = ("folder", "ring")


def test_nothing_is_left(folder: str) -> None:
    with RingWriter.create("ring", 1, slot_bytes=64, directory=folder) as writer, attach(folder, 0) as reader:
        writer.put(b"x" * 1000, LIMIT_S)
        reader.get(LIMIT_S)
        assert len(files(folder)) == 2
    assert files(folder) == []


def test_a_closed_ring_says_so(ring: Ring) -> None:
    writer, one, _ = ring
    for thing in (writer, one):
        thing.close()
        thing.close()
    with pytest.raises(ClosedError):
        one.get(LIMIT_S)
    with pytest.raises(ClosedError):
        writer.put(1, LIMIT_S)


def test_a_get_that_waits_is_told_of_the_close(ring: Ring) -> None:
    _, one, _ = ring
    told: list[type] = []

    def get() -> None:
        try:
            one.get(None)
        except ClosedError as error:
            told.append(type(error))

    thread = threading.Thread(target=get)
    thread.start()
    one.close()
    thread.join(LIMIT_S)
    assert told == [ClosedError]


def test_a_get_that_waits_is_told_that_the_ring_was_removed(ring: Ring) -> None:
    writer, one, other = ring
    writer.put(1, LIMIT_S)
    writer.close()
    assert one.get(LIMIT_S) == 1
    with pytest.raises(SignalReplacedError):
        one.get(None)
    other.close()


def test_a_forked_child_is_refused(ring: Ring) -> None:
    writer, one, _ = ring
    child = os.fork()
    if child == 0:
        code = 1
        try:
            writer.put(1, 0)
        except ForkedHandleError:
            try:
                one.get(0)
            except ForkedHandleError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    writer.put(2, LIMIT_S)
    assert one.get(LIMIT_S) == 2


def test_what_is_refused(ring: Ring, folder: str) -> None:
    with pytest.raises(SignalInUseError):
        RingWriter.create("ring", 2, directory=folder)
    with pytest.raises(SignalNotFoundError):
        RingReader.attach("other", 0, directory=folder)
    for wrong in ({"ranks": 0}, {"ranks": 65}, {"ranks": 1, "depth": 0}, {"ranks": 1, "slot_bytes": 100}):
        with pytest.raises(ConfigError):
            RingWriter.create("new", directory=folder, **wrong)
    for thing in ring:
        with pytest.raises(TypeError):
            pickle.dumps(thing)


def test_what_is_no_ring(folder: str) -> None:
    from fdcomm import IPCSignal

    with IPCSignal("ring", shm_size=4096, directory=folder), pytest.raises(SignalMismatchError):
        attach(folder, 0)


def test_other_processors_are_refused() -> None:
    require_order()
    for ordered, sleeps in ((False, True), (True, False)):
        with pytest.raises(MemoryOrderError):
            require_order(ordered, sleeps)


def test_without_barriers_of_others_a_fence_follows_each_store(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SystemKernel, "joins_barriers", lambda self: False)
    fences: list[int] = []
    monkeypatch.setattr(SystemKernel, "fence", lambda self: fences.append(1))
    with RingWriter.create("ring", 1, directory=folder) as writer, attach(folder, 0) as reader:
        writer.put(1, LIMIT_S)
        assert reader.get(LIMIT_S) == 1
        assert len(fences) == 3
        assert not writer.statistics().barrier


def test_words_of_different_storers_are_on_different_lines() -> None:
    shape = Shape(3, 2, 64)
    lines = {shape.of_line(line, PID) // 8 for line in range(shape.lines)}
    assert len(lines) == shape.lines
    assert shape.control_words % 8 == shape.slot_words % 8 == 0
    assert shape.payload(1) + shape.slot_bytes == shape.nbytes


def test_a_reader_in_order_leaves_no_process_in_its_line(folder: str) -> None:
    with RingWriter.create("ring", 1, directory=folder) as writer:
        with attach(folder, 0):
            assert writer.statistics().away == ()
        assert writer.statistics().away == (0,)


def test_a_rank_that_never_comes_holds_the_ring_up(folder: str) -> None:
    with RingWriter.create("ring", 2, directory=folder) as writer, attach(folder, 0) as reader:
        writer.put(1, LIMIT_S)
        reader.get(LIMIT_S)
        with pytest.raises(CommTimeoutError) as error:
            writer.put(2, 0.3)
        assert error.value.missing == (1,)


def test_memory_is_given_back(folder: str) -> None:
    writer = RingWriter.create("ring", 1, directory=folder)
    memory: Memory = writer._memory
    writer.close()
    assert memory.closed
    assert not memory.segment.files.open_now
