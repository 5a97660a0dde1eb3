"""Signals that are written and read as one: values, errors, ends."""

from __future__ import annotations

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
    SignalMismatchError,
    SignalTornError,
)
from fdcomm.signals.layout import LOCK_OWNER, SEQUENCE
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


@pytest.mark.parametrize("wrong", ["8 letters", [1] * 8, memoryview(bytes(16))[::2]])
def test_what_is_no_bytes_is_refused(tmp_path: Path, wrong: Any) -> None:
    with IPCSignal("raw", shm_size=8, directory=str(tmp_path)) as raw:
        signal = SequencedSignal(raw)
        with pytest.raises(ConfigError):
            signal.write(wrong)
        assert signal.read() == bytes(8)


@pytest.mark.parametrize(
    ("dtype", "values", "read"),
    [
        (np.uint32, [1, 2**32 - 1], [1, 2**32 - 1]),
        (np.uint64, [2**63, 2**64 - 1], [2**63, 2**64 - 1]),
        (np.uint64, [1, -1], None),
        (np.int64, np.array([1, 2**63], np.uint64), None),
        (np.float32, [0.1, float("inf")], [np.float32(0.1), np.inf]),
        (np.float32, [1e300, 0.0], None),
    ],
)
def test_lists_are_values_of_any_dtype_that_they_fit(tmp_path: Path, dtype: Any, values: Any, read: Any) -> None:
    with IPCSignal("pair", np.zeros(2, dtype), dtype, directory=str(tmp_path)) as made:
        signal = SequencedSignal(made)
        if read is None:
            with pytest.raises(ConfigError):
                signal.write(values)
        else:
            signal.write(values)
            assert signal.read().tolist() == read
            signal.write(np.array(values))


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
