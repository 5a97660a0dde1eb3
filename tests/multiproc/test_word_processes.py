"""Real processes at one signal: updates, reads, wake-ups and locks, with kill -9 in the middle of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdcomm import IPCSignal
from fdcomm.errors import CommTimeoutError, SignalTornError
from fdcomm.signals.layout import SEQUENCE, WAITERS
from fdcomm.signals.lock import IPCLock
from fdcomm.signals.sequenced import SequencedSignal
from fdcomm.signals.waiting import INTERVAL_S
from fdcomm.testing.faults import VARIABLE
from tests.multiproc.word_process import CELLS

pytestmark = pytest.mark.multiproc

_WATCHDOG_S = 60.0
_ROOT = Path(__file__).resolve().parents[2]


class Process:
    """One word_process, ready to begin."""

    def __init__(self, directory: Path, *what: object, fault: str = "") -> None:
        environment = dict(os.environ, PYTHONPATH=str(_ROOT), **({VARIABLE: fault} if fault else {}))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.multiproc.word_process", str(directory), *map(str, what)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=_ROOT,
        )
        self.pid = self._process.pid

    def ready(self) -> Process:
        """Wait until it could begin."""
        assert self._process.stdout is not None
        assert json.loads(self._process.stdout.readline()) == "ready"
        return self

    def begin(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def result(self) -> Any:
        """Wait for its end; return what it says, or the negative number of the signal that ended it."""
        assert self._process.stdout is not None
        code = self._process.wait(_WATCHDOG_S)
        said = self._process.stdout.read()
        return code if code else json.loads(said)

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class Group:
    """A signal that this process made, and processes at it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.signal = IPCSignal("signal", np.zeros(CELLS, np.int64), np.int64, directory=str(directory))
        self._processes: list[Process] = []

    def start(self, *programs: tuple[object, ...], fault: str = "") -> list[Process]:
        """Start processes; the fault is for all of them."""
        new = [Process(self.directory, *program, fault=fault) for program in programs]
        self._processes += new
        return [process.ready() for process in new]

    def close(self) -> None:
        """End everything."""
        for process in self._processes:
            process.stop()
        self.signal.clear()


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    made = Group(tmp_path)
    yield made
    made.close()


def _begin(*processes: Process) -> list[Any]:
    for process in processes:
        process.begin()
    return [process.result() for process in processes]


def _wait_until_announced(signal: IPCSignal) -> None:
    end = time.monotonic() + _WATCHDOG_S
    while not signal.segment.words[WAITERS]:
        assert time.monotonic() < end, "nobody waits"
        os.sched_yield()


@pytest.mark.parametrize(("point", "kept"), [("loaded", 99), ("stored", 100)])
def test_adds_of_processes_are_all_there_also_those_of_a_killed_one(group: Group, point: str, kept: int) -> None:
    (victim,) = group.start(("add", 1000), fault=f"word.add.{point}:100=kill")
    others = group.start(("add", 300), ("add", 300))
    assert _begin(victim, *others) == [-signal.SIGKILL, 300, 300]
    assert group.signal.word().add(0, timeout=_WATCHDOG_S) == 600 + kept


def test_reads_beside_a_writer_are_of_one_write(group: Group) -> None:
    writer, *readers = group.start(("write", 1, 2000), ("read", 2000), ("read", 2000))
    wrote, *reads = _begin(writer, *readers)
    assert wrote == 2000
    assert all(set(read) == {"reads"} and read["reads"] > 1 for read in reads), reads


@pytest.mark.parametrize("point", ["odd", "filled"])
def test_a_writer_killed_in_the_middle_is_named_and_the_next_one_repairs(group: Group, point: str) -> None:
    (victim,) = group.start(("write", 1, 1000), fault=f"word.write.{point}:50=kill")
    (reader,) = group.start(("read", 1000))
    code, read = _begin(victim, reader)
    assert code == -signal.SIGKILL
    assert f"process {victim.pid} was killed" in read["torn"]
    mine = SequencedSignal(group.signal)
    assert group.signal.segment.words[SEQUENCE] == 99
    with pytest.raises(SignalTornError, match=str(victim.pid)):
        mine.read(timeout=_WATCHDOG_S)
    mine.write(np.full(CELLS, 7), timeout=_WATCHDOG_S)
    assert set(mine.read(timeout=_WATCHDOG_S)) == {7}
    assert group.signal.segment.words[SEQUENCE] == 100


def test_a_stopped_writer_is_a_timeout_with_its_name(group: Group) -> None:
    (writer,) = group.start(("write", 1, 1), fault="word.write.odd=stop")
    mine = SequencedSignal(group.signal)
    writer.begin()
    assert os.WIFSTOPPED(os.waitpid(writer.pid, os.WUNTRACED)[1])
    with pytest.raises(CommTimeoutError, match=str(writer.pid)):
        mine.read(timeout=0.05)
    with pytest.raises(CommTimeoutError, match=str(writer.pid)):
        mine.write(np.full(CELLS, 9), timeout=0.05)
    os.kill(writer.pid, signal.SIGCONT)
    assert writer.result() == 1
    assert set(mine.read(timeout=_WATCHDOG_S)) == {1}


def test_many_wake_ups_between_two_processes(group: Group) -> None:
    rounds = 500
    (other,) = group.start(("answer", rounds))
    word = group.signal.word()
    other.begin()
    start = time.monotonic()
    for number in range(1, 2 * rounds, 2):
        word.set(number)
        word.wait_for(lambda found, wanted=number + 1: found == wanted, _WATCHDOG_S)  # type: ignore[misc]
    assert other.result() == rounds
    # One lost wake-up in four would already take longer.
    assert time.monotonic() - start < rounds * INTERVAL_S / 4


def test_a_setter_killed_before_it_wakes_anybody_is_noticed_at_the_next_look(group: Group) -> None:
    (setter,) = group.start(("put", 5), fault="word.ring=kill")
    (waiter,) = group.start(("wait", 5))
    waiter.begin()
    _wait_until_announced(group.signal)
    assert _begin(setter) == [-signal.SIGKILL]
    assert waiter.result() == 5


def test_a_killed_waiter_costs_the_next_set_one_look(group: Group) -> None:
    (waiter,) = group.start(("wait", 5))
    waiter.begin()
    _wait_until_announced(group.signal)
    waiter.stop()
    words, word = group.signal.segment.words, group.signal.word()
    assert words[WAITERS] == 1
    word.set(1)
    assert words[WAITERS] == 0


def test_a_lock_whose_holder_is_killed_is_free(group: Group) -> None:
    (victim,) = group.start(("lock", 1000), fault="test.locked:20=kill")
    others = group.start(("lock", 200), ("lock", 200))
    assert _begin(victim, *others) == [-signal.SIGKILL, 200, 200]
    assert group.signal.value is not None
    assert group.signal.value[0] == 420
    mine = IPCLock("lock", directory=str(group.directory))
    with mine:
        mine.clear()
    assert not (group.directory / mine.name).exists()
    mine.close()
