"""Level V5 of the last reader: no schedule tells two of one message, and each guard that the code lacks is missed."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, FencedError
from fdcomm.ring.layout import Shape
from fdcomm.ring.look import Look
from fdcomm.ring.members import fence
from fdcomm.ring.memory import Memory
from fdcomm.ring.producer import Producer
from fdcomm.ring.rank_port import RankPort
from fdcomm.runtime import SYSTEM
from fdcomm.testing import Bound, Exhaustive, Program, explore
from tests.conformance.ring_bed import FreeLocks
from tests.schedules.ring_last_programs import PROGRAMS, Port, one_last

_LIMIT_S = 20.0


def test_every_schedule() -> None:
    program, bound = PROGRAMS["the last of 2 readers"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, report.failure
    assert report.complete


class _SaysLate(Port):
    """Its cursor first."""

    def _end(self, number: int) -> bool:
        if not self._all_others(number):
            return super()._end(number)
        self._consumer.end()
        self._board.words[self._told] = number
        return True


class _NoFence(Port):
    def _fence(self) -> None:
        pass


class _DoesNotLook(Port):
    def _is_told(self, number: int) -> bool:
        return False


class _NoLock(Port):
    def _end(self, number: int) -> bool:
        self._board.locks = FreeLocks()
        return super()._end(number)


FAULTS: dict[str, tuple[type[Port], int]] = {
    "ToldFirst": (_SaysLate, 2),
    "LastFence": (_NoFence, 1),
    "LooksAtTold": (_DoesNotLook, 1),
    "LocksTies": (_NoLock, 2),
}


@pytest.mark.parametrize("guard", FAULTS)
def test_a_guard_that_is_left_out_is_missed(guard: str) -> None:
    kind, preemptions = FAULTS[guard]
    program = Program(f"without {guard}", partial(one_last, kind=kind), {})
    report = explore(program, Exhaustive(), Bound(preemptions=preemptions))
    assert report.failure is not None
    assert "told were" in report.failure.message


# -- a reader that is given up between its look and its store ------------------------------------------------------


def _limit() -> Deadline:
    return Deadline(_LIMIT_S, SYSTEM.monotonic)


class _Real(RankPort):
    """On real memory, with two places at which something can be done meanwhile."""

    common = False

    def __init__(self, memory: Memory, rank: int) -> None:
        super().__init__(memory, rank, Look(memory.board), _limit())
        if self.common:
            self._told, self._tolds = self._tolds[0], self._tolds[:1]
        self.after_look: Callable[[], Any] = lambda: None
        self.after_fence: Callable[[], Any] = lambda: None

    def _all_others(self, number: int) -> bool:
        found = super()._all_others(number)
        if found:
            self.after_look()
        return found

    def _fence(self) -> None:
        super()._fence()
        self.after_fence()

    def is_last(self) -> bool:
        """Take the next message."""
        taken = self.take(lambda payload, parts, _: bytes(payload), 0, _LIMIT_S, "get")
        return taken is not None and taken.all_read


class _OneWord(_Real):
    common = True


def _told_of_the_second(kind: type[_Real]) -> int:
    """How many are told of message 2 while a reader that was given up goes on with message 1."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-last-", dir="/dev/shm") as folder, contextlib.ExitStack() as ends:

        def opened(made: Memory) -> Memory:
            ends.callback(made.close, _limit())
            return made

        first = Memory.make("ring", Shape(2, 2, 64), folder, _limit())
        ends.callback(first.close, _limit(), remove=True)
        memories = [opened(Memory.open("ring", folder, _limit())) for _ in range(3)]
        producer = Producer(first, 1000)
        for number in (1, 2):
            producer.put(number, _LIMIT_S, "put")
        old, other = kind(memories[0], 0), kind(memories[1], 1)
        assert not other.is_last()
        looked, goes_on = threading.Event(), threading.Event()
        ends_as: list[Any] = []

        def stop() -> None:
            looked.set()
            goes_on.wait(_LIMIT_S)

        def read() -> None:
            try:
                ends_as.append(old.is_last())
            except FencedError:
                ends_as.append("given up")

        old.after_look = stop
        thread = threading.Thread(target=read)
        thread.start()
        assert looked.wait(_LIMIT_S)
        fence(memories[1].board, 0, _limit())
        new = kind(memories[2], 0)
        told: list[bool] = []

        def meanwhile() -> None:
            told.append(new.is_last())
            goes_on.set()
            thread.join(_LIMIT_S)

        other.after_fence = meanwhile
        told.append(other.is_last())
        assert ends_as == ["given up"]
        for port in (old, other, new):
            port.close(leave=False)
        producer.close(remove=True)
    return sum(told)


def test_a_reader_that_was_given_up_makes_nobody_forget_who_was_told() -> None:
    assert _told_of_the_second(_Real) == 1


def test_one_word_for_all_is_set_back() -> None:
    assert _told_of_the_second(_OneWord) == 2


def test_who_cannot_have_the_lock_keeps_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.ring.rank_port._LEAVE_S", 0.0)
    with tempfile.TemporaryDirectory(prefix="fdcomm-last-", dir="/dev/shm") as folder:
        memory = Memory.make("ring", Shape(2, 1, 64), folder, _limit())
        port, other = (RankPort(memory, rank, Look(memory.board), _limit()) for rank in range(2))
        producer = Producer(memory, 1000)
        producer.put("message", _LIMIT_S, "put")
        lock: list[Any] = []

        def tie() -> None:
            assert other.take(lambda payload, parts, _: bytes(payload), 0, 0.0, "get") is not None
            lock.append(memory.board.locks.try_members())  # as if its process was stopped there
            monkeypatch.setattr(port, "_is_told", lambda number: False)

        monkeypatch.setattr(port, "_fence", tie)
        taken = port.take(lambda payload, parts, _: bytes(payload), 0, 0.0, "get")
        assert taken is not None
        assert (taken.number, taken.all_read, port.position) == (1, False, 1)
        with pytest.raises(CommTimeoutError), memory.board.locks.members(Deadline(0.0, SYSTEM.monotonic), "look"):
            pass
        with lock[0]:
            pass
        for one in (port, other):
            one.close(leave=False)
        producer.close(remove=True)
        memory.close(_limit(), remove=True)
