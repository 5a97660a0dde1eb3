"""Signals that are written and read as one, and the lock between processes: values, errors, ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import IPCSignal
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    ForkedHandleError,
    ProtocolViolationError,
    SignalMismatchError,
    SignalNameError,
    SignalNotFoundError,
    SignalTornError,
)
from fdcomm.signals.layout import LOCK_OWNER, SEQUENCE
from fdcomm.signals.lock import IPCLock
from fdcomm.signals.sequenced import SequencedSignal

_WATCHDOG_S = 30.0


@pytest.fixture
def made(tmp_path: Path) -> Iterator[IPCSignal]:
    with IPCSignal("pair", np.zeros((2, 2), np.int32), np.int32, directory=str(tmp_path)) as signal:
        yield signal


def test_what_is_written_is_read(made: IPCSignal, tmp_path: Path) -> None:
    attached = IPCSignal("pair", np.zeros((2, 2), np.int32), np.int32, create=False, directory=str(tmp_path))
    writer, reader = SequencedSignal(made), SequencedSignal(attached)
    assert reader.read().tolist() == [[0, 0], [0, 0]]
    writer.write([[1, 2], [3, 4]])
    got = reader.read()
    assert got.tolist() == [[1, 2], [3, 4]]
    got[0, 0] = 9  # a copy
    assert reader.read()[0, 0] == 1
    assert made.value is not None
    assert made.value.tolist() == [[1, 2], [3, 4]]
    assert reader.wait_for(lambda pair: pair[1, 1] == 4, 1).tolist() == [[1, 2], [3, 4]]
    attached.close()


@pytest.mark.parametrize("wrong", [[1, 2], [[1, 2], [3, 2**40]], [[0.5, 1], [1, 1]], "text", [["a", "b"], ["c", "d"]]])
def test_what_does_not_fit_is_refused_and_nothing_is_written(made: IPCSignal, wrong: Any) -> None:
    signal = SequencedSignal(made)
    signal.write([[1, 1], [1, 1]])
    with pytest.raises(ConfigError):
        signal.write(wrong)
    assert signal.read().tolist() == [[1, 1], [1, 1]]
    assert made.segment.words[SEQUENCE] == 2


def test_raw_bytes(tmp_path: Path) -> None:
    with IPCSignal("raw", shm_size=5, directory=str(tmp_path)) as made:
        signal = SequencedSignal(made)
        signal.write(b"hello")
        assert signal.read() == b"hello"
        with pytest.raises(ConfigError):
            signal.write(b"hell")


def test_a_waiter_is_woken_by_a_write(made: IPCSignal) -> None:
    signal, got = SequencedSignal(made), []
    thread = threading.Thread(target=lambda: got.append(signal.wait_for(lambda pair: pair[0, 0] == 7, _WATCHDOG_S)))
    thread.start()
    signal.write([[7, 8], [9, 10]])
    thread.join(_WATCHDOG_S)
    assert got[0].tolist() == [[7, 8], [9, 10]]


def test_a_write_that_was_never_ended_is_named_and_repaired_by_the_next(made: IPCSignal) -> None:
    signal = SequencedSignal(made)
    signal.write([[1, 1], [1, 1]])
    made.segment.words[SEQUENCE] += 1
    made.segment.words[LOCK_OWNER + 1] = 4711
    with pytest.raises(SignalTornError, match="4711"):
        signal.read(timeout=_WATCHDOG_S)
    signal.write([[2, 2], [2, 2]])
    assert signal.read().tolist() == [[2, 2], [2, 2]]


def test_a_writer_that_does_not_end_is_a_timeout_that_names_it(made: IPCSignal) -> None:
    signal = SequencedSignal(made)
    access = signal._sequence.access
    fd = access.descriptor()
    assert access.try_take(fd, 2)
    made.segment.words[SEQUENCE] = 1
    made.segment.words[LOCK_OWNER + 1] = 4712
    with pytest.raises(CommTimeoutError, match="4712"):
        signal.read(timeout=0.01)
    with pytest.raises(CommTimeoutError, match="4712"):
        signal.write([[3, 3], [3, 3]], timeout=0.01)
    access.give(fd, 2)
    with pytest.raises(SignalTornError):
        signal.read(timeout=0.01)


def test_a_signal_of_other_software_has_no_sequence(tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(bytes(16))
    template = np.zeros(4, np.int32)
    with IPCSignal("foreign", template, np.int32, create=False, validate=False, directory=str(tmp_path)) as signal:
        with pytest.raises(SignalMismatchError):
            SequencedSignal(signal)


def test_after_close_every_call_is_a_closed_error(made: IPCSignal) -> None:
    signal = SequencedSignal(made)
    made.clear()
    for call in (signal.read, lambda: signal.write([[1, 1], [1, 1]])):
        with pytest.raises(ClosedError):
            call()


# -- the lock ------------------------------------------------------------------------------------------------------


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[IPCLock]:
    made = IPCLock("cache", 9923, directory=str(tmp_path))
    yield made
    made.close()


def _other(tmp_path: Path) -> IPCLock:
    return IPCLock("cache", "9923", directory=str(tmp_path))


def test_one_holder_or_several_that_share(lock: IPCLock, tmp_path: Path) -> None:
    other = _other(tmp_path)
    assert lock.name == "fd_lock_cache.9923"
    with lock:
        holding = lock.held
        assert holding
        with pytest.raises(CommTimeoutError):
            other.acquire(timeout=0)
        with pytest.raises(CommTimeoutError):
            other.acquire(shared=True, timeout=0.01)
    assert not lock.held
    with lock.shared(), other.shared():
        third = _other(tmp_path)
        with pytest.raises(CommTimeoutError):
            third.acquire(timeout=0)
        third.close()
    other.acquire(timeout=0)
    other.close()
    lock.acquire(timeout=0)
    lock.release()


def test_threads_exclude_each_other(lock: IPCLock) -> None:
    inside, most = [0], [0]

    def run() -> None:
        for _ in range(20):
            lock.acquire(timeout=_WATCHDOG_S)
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            inside[0] -= 1
            lock.release()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_WATCHDOG_S)
    assert most == [1]


def test_wrong_calls_have_typed_errors(lock: IPCLock, tmp_path: Path) -> None:
    with pytest.raises(ProtocolViolationError):
        lock.release()
    with lock:
        with pytest.raises(ProtocolViolationError):
            lock.acquire(timeout=0)
        raised: list[str] = []

        def release() -> None:
            try:
                lock.release()
            except ProtocolViolationError as error:
                raised.append(str(error))

        thread = threading.Thread(target=release)
        thread.start()
        thread.join(_WATCHDOG_S)
        assert len(raised) == 1
    with pytest.raises(SignalNotFoundError):
        IPCLock("nobody", create=False, directory=str(tmp_path))
    with pytest.raises(SignalNameError):
        IPCLock("a/b", directory=str(tmp_path))
    lock.close()
    with pytest.raises(ClosedError):
        lock.acquire(timeout=0)


def test_clear_removes_the_file_only_when_nobody_else_holds_the_lock(lock: IPCLock, tmp_path: Path) -> None:
    other, path = _other(tmp_path), tmp_path / lock.name
    with other:
        lock.clear()
        assert path.exists()
    with other.shared():
        with lock.shared():
            lock.clear()
        assert path.exists()
        assert not lock.held
    with lock:
        lock.clear()
        assert not path.exists()
    lock.clear()
    other.acquire(timeout=0)  # makes it again
    assert path.exists()
    other.clear()
    assert not path.exists()
    other.close()


def test_a_forked_child_holds_nothing(lock: IPCLock, tmp_path: Path) -> None:
    lock.acquire(timeout=0)
    child = os.fork()
    if not child:
        status = 1
        try:
            try:
                lock.release()
            except ForkedHandleError:
                status = 0 if not lock.held else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert lock.held
    other = _other(tmp_path)
    with pytest.raises(CommTimeoutError):
        other.acquire(timeout=0)
    lock.release()
    other.acquire(timeout=0)
    other.close()
