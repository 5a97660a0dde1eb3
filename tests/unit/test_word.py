"""One element of a signal: values, errors, threads, forks, the end of the signal."""

from __future__ import annotations

import os
import pickle
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
    SignalReplacedError,
)
from fdcomm.signals import futex
from fdcomm.signals.kernel import ORDERED, SYSTEM_KERNEL, SystemKernel
from fdcomm.signals.layout import WAITERS
from fdcomm.signals.word import Word
from tests.unit.signal_folder import descriptors

_WATCHDOG_S = 30.0


@pytest.fixture
def made(tmp_path: Path) -> Iterator[IPCSignal]:
    with IPCSignal("words", np.arange(4, dtype=np.int32), np.int32, directory=str(tmp_path)) as signal:
        yield signal


def _attached(signal: IPCSignal, tmp_path: Path, dtype: Any = np.int32) -> IPCSignal:
    return IPCSignal(signal.name, np.zeros(4, dtype), dtype, create=False, directory=str(tmp_path))


def test_get_and_set_are_the_arrays(made: IPCSignal) -> None:
    word = made.word(2)
    assert word.get() == 2
    word.set(-5)
    assert made.value is not None
    assert made.value.tolist() == [0, 1, -5, 3]
    made.value[2] = 7
    assert word.get() == 7
    assert made.word(-1).get() == 3
    word.set(np.int64(9))
    assert word.get() == 9


def test_words_that_are_made_for_one_call_each_share_a_descriptor(made: IPCSignal) -> None:
    made.word(0).add(1)
    before = descriptors()
    for _ in range(20):
        made.word(0).add(1)
    with pytest.raises(CommTimeoutError):
        made.word(0).wait_for(lambda value: value < 0, timeout=0)
    assert made.word(0).get() == 21
    assert descriptors() == before


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        (np.int32, -(2**31), 2**31 - 1),
        (np.int64, -(2**63), 2**63 - 1),
        (np.uint32, 0, 2**32 - 1),
        (np.uint64, 0, 2**64 - 1),
    ],
)
def test_the_whole_range_of_each_kind(tmp_path: Path, dtype: Any, low: int, high: int) -> None:
    with IPCSignal("range", np.zeros(2, dtype), dtype, directory=str(tmp_path)) as signal:
        word = signal.word(1)
        for value in (low, high):
            word.set(value)
            assert word.get() == value
            assert signal.value is not None
            assert int(signal.value[1]) == value
        for value in (low - 1, high + 1):
            with pytest.raises(ConfigError):
                word.set(value)
        with pytest.raises(ConfigError, match=f"^add: {high + 1} does not fit") as caught:
            word.add(1)
        assert caught.value.operation == "add"
        with pytest.raises(ConfigError, match=f"^compare_and_set: {low - 1} does not fit"):
            word.compare_and_set(high, low - 1)
        assert word.get() == high
        assert word.add(-1, timeout=0) == high  # the lock is free again
        word.set(high)


def test_what_is_no_value_is_refused_and_nothing_is_stored(made: IPCSignal) -> None:
    word = made.word(1)
    for wrong in (1.5, "1", None):
        with pytest.raises(ConfigError):
            word.set(wrong)  # type: ignore[arg-type]
        with pytest.raises(ConfigError):
            word.add(wrong)  # type: ignore[arg-type]
        with pytest.raises(ConfigError):
            word.compare_and_set(1, wrong)  # type: ignore[arg-type]
    assert word.get() == 1
    with pytest.raises(ConfigError):
        word.wait_for(bool, timeout=-1)
    for wrong in (None, 1):
        with pytest.raises(ConfigError, match="predicate="):
            word.wait_for(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.int8, np.bool_])
def test_an_element_that_is_no_word_is_refused(tmp_path: Path, dtype: Any) -> None:
    with IPCSignal("other", np.zeros(4, dtype), dtype, directory=str(tmp_path)) as signal:
        with pytest.raises(SignalMismatchError, match="integer of 4 or 8 bytes"):
            signal.word()


def test_an_element_that_is_not_there_is_refused(made: IPCSignal) -> None:
    for index in (4, -5):
        with pytest.raises(ConfigError, match="4 words"):
            made.word(index)
    with pytest.raises(ConfigError):
        made.word("0")  # type: ignore[arg-type]


def test_a_word_does_not_travel(made: IPCSignal) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(made.word())


def test_add_and_compare_and_set(made: IPCSignal) -> None:
    word = made.word()
    assert word.add(5) == 0
    assert word.add(-2) == 5
    assert not word.compare_and_set(5, 9)
    assert word.compare_and_set(3, 9)
    assert word.get() == 9


def test_threads_lose_no_update(made: IPCSignal, tmp_path: Path) -> None:
    other = _attached(made, tmp_path)
    shared, threads, each = made.word(), 4, 100

    def run(number: int) -> None:
        word = shared if number % 2 else other.word()
        for _ in range(each):
            word.add(1, timeout=_WATCHDOG_S)

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(_WATCHDOG_S)
    assert shared.get() == threads * each
    other.close()


@pytest.mark.skipif(not futex.AVAILABLE, reason="without a futex nobody sleeps")
def test_a_wait_sleeps_and_is_woken(made: IPCSignal, tmp_path: Path) -> None:
    other = _attached(made, tmp_path)
    word, setter = made.word(), other.word()
    asleep, woken = threading.Event(), []

    class Kernel(SystemKernel):
        def sleep(self, address: int, token: int, timeout_s: float) -> None:
            asleep.set()
            super().sleep(address, token, _WATCHDOG_S)

    def wait() -> None:
        waiting = Word(made.segment, kernel=Kernel())
        woken.append(waiting.wait_for(lambda value: value == 42, _WATCHDOG_S))

    thread = threading.Thread(target=wait)
    thread.start()
    assert asleep.wait(_WATCHDOG_S)
    assert made.segment.words[WAITERS] == 1
    setter.set(41)
    setter.set(42)
    thread.join(_WATCHDOG_S / 2)  # less than the sleep: it was woken
    assert woken == [42]
    assert made.segment.words[WAITERS] == 0
    assert word.get() == 42
    other.close()


def test_a_wait_says_what_the_value_is_when_it_gives_up(made: IPCSignal) -> None:
    with pytest.raises(CommTimeoutError, match="it is 0"):
        made.word().wait_for(lambda value: value == 1, timeout=0.01)
    assert made.segment.words[WAITERS] == 0
    assert made.word().wait_for(lambda value: value == 0, timeout=0) == 0


def test_an_error_in_the_predicate_leaves_nothing_behind(made: IPCSignal) -> None:
    values: list[int] = []

    def predicate(value: int) -> bool:
        values.append(value)
        if len(values) > 1:
            raise KeyError("mine")
        return False

    with pytest.raises(KeyError, match="mine"):
        made.word().wait_for(predicate, timeout=_WATCHDOG_S)
    assert made.segment.words[WAITERS] == 0
    assert made.word().add(1, timeout=0) == 0


def test_waiters_learn_that_the_signal_is_replaced_removed_or_closed(made: IPCSignal, tmp_path: Path) -> None:
    removed, closed = _attached(made, tmp_path), _attached(made, tmp_path)
    raised: list[str] = []

    def wait(signal: IPCSignal) -> None:
        try:
            signal.word().wait_for(lambda value: value == 99, _WATCHDOG_S)
        except (ClosedError, SignalReplacedError) as error:
            raised.append(type(error).__name__)

    for signal, end in ((closed, closed.close), (removed, made.clear)):
        thread = threading.Thread(target=wait, args=(signal,))
        thread.start()
        end()
        thread.join(_WATCHDOG_S)
    assert raised == ["ClosedError", "SignalReplacedError"]
    removed.close()


def test_after_close_every_call_is_a_closed_error(made: IPCSignal, tmp_path: Path) -> None:
    signal = _attached(made, tmp_path)
    word = signal.word()
    signal.close()
    calls = (
        word.get,
        lambda: word.set(1),
        word.add,
        lambda: word.compare_and_set(0, 1),
        lambda: word.wait_for(bool, 1),
        signal.word,
    )
    for call in calls:
        with pytest.raises(ClosedError):
            call()


def test_a_signal_of_other_software_can_be_waited_for_and_not_locked(tmp_path: Path) -> None:
    (tmp_path / "foreign").write_bytes(bytes(16))
    template = np.zeros(4, np.int32)
    with IPCSignal("foreign", template, np.int32, create=False, validate=False, directory=str(tmp_path)) as signal:
        word = signal.word(3)
        thread = threading.Thread(target=word.set, args=(8,))
        thread.start()
        assert word.wait_for(lambda value: value == 8, _WATCHDOG_S) == 8
        thread.join(_WATCHDOG_S)
        with pytest.raises(CommTimeoutError):
            word.wait_for(lambda value: value == 9, 0.01)
        with pytest.raises(Exception, match="made by other software"):
            word.add(1)


def test_a_forked_child_has_locks_of_its_own(made: IPCSignal) -> None:
    word = made.word()
    word.add(1)
    child = os.fork()
    if not child:
        status = 1
        try:
            word.add(1, timeout=_WATCHDOG_S)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert word.add(0) == 2


class _NoBarriers(SystemKernel):
    """A system without membarrier."""

    fences = 0

    def joins_barriers(self) -> bool:
        return False

    def barrier(self) -> bool:
        self.fence()
        return False

    def fence(self) -> None:
        self.fences += 1
        super().fence()


def test_without_barriers_every_set_has_a_fence(made: IPCSignal) -> None:
    kernel = _NoBarriers()
    word = Word(made.segment, kernel=kernel)
    word.set(3)
    word.set(4)
    assert (word.get(), kernel.fences) == (4, 2)
    with pytest.raises(CommTimeoutError):
        word.wait_for(lambda value: value == 5, 0.01)
    assert kernel.fences == 3


def test_this_machine() -> None:
    assert ORDERED or futex.AVAILABLE
    assert len({SYSTEM_KERNEL.token() for _ in range(100)}) > 90
