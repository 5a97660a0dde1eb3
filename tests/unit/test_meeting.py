"""A meeting of real processes and threads: rounds, labels, time limits, who is killed, given up, or comes back."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fdcomm import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    Meeting,
    PeerLostError,
    RankError,
)

_LIMIT_S = 20.0


def _beside(function: Callable[[], object]) -> tuple[threading.Thread, list[Any]]:
    """Run it in a thread; the list gets what it returns or raises."""
    told: list[Any] = []

    def run() -> None:
        try:
            told.append(function())
        except Exception as error:  # noqa: BLE001 - the test looks at it
            told.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, told


def _forked(run: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            run()
        finally:
            os._exit(0)
    return child


@pytest.fixture
def name() -> str:
    return f"test-meeting-{os.getpid()}"


def test_rounds_have_one_number_for_all(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one, Meeting.attach(name, 1) as other:
        thread, told = _beside(lambda: [other.wait(timeout=_LIMIT_S) for _ in range(200)])
        mine = [one.wait(timeout=_LIMIT_S) for _ in range(200)]
        thread.join(_LIMIT_S)
        assert told == [mine] == [list(range(200))]
        assert one.statistics().round == 200


def test_a_wait_that_gives_up_is_not_counted(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one, Meeting.attach(name, 1) as other:
        with pytest.raises(CommTimeoutError) as caught:
            one.wait(timeout=0.01)
        assert caught.value.missing == (1,)
        with pytest.raises(CommTimeoutError):
            other.wait(timeout=0.01)
        assert one.statistics().missing == (0, 1)


def test_labels_that_differ_are_told_to_all(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one, Meeting.attach(name, 1) as other:
        thread, told = _beside(lambda: other.wait("step 2", _LIMIT_S))
        with pytest.raises(BarrierMismatchError, match="step"):
            one.wait("step 1", _LIMIT_S)
        thread.join(_LIMIT_S)
        assert isinstance(told[0], BarrierMismatchError)
        thread, told = _beside(lambda: other.wait("step 3", _LIMIT_S))
        assert one.wait("step 3", _LIMIT_S) == 0
        thread.join(_LIMIT_S)


def test_an_abort_ends_waits_and_refuses_new_ones(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one:
        thread, told = _beside(lambda: one.wait(timeout=_LIMIT_S))
        with Meeting.attach(name) as owner:
            assert owner.abort()
            assert not owner.abort()
            with pytest.raises(RankError):
                owner.wait()
        thread.join(_LIMIT_S)
        assert isinstance(told[0], BarrierBrokenError)
        with pytest.raises(BarrierBrokenError):
            one.wait(timeout=_LIMIT_S)


def test_a_rank_that_is_killed_is_missed_and_its_successor_counts(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one:
        ready, tell = os.pipe()

        def arrive() -> None:
            meeting = Meeting.attach(name, 1)
            os.write(tell, b"x")
            meeting.wait("never", None)

        child = _forked(arrive)
        os.read(ready, 1)
        with pytest.raises(DuplicateRankError):
            Meeting.attach(name, 1)
        thread, told = _beside(lambda: one.wait("never", _LIMIT_S))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        thread.join(_LIMIT_S)
        assert told[0] == 0 or isinstance(told[0], PeerLostError)
        # It may have passed, or have been killed before it arrived; now it is gone in any case.
        with pytest.raises(PeerLostError) as caught:
            one.wait(timeout=_LIMIT_S)
        assert caught.value.missing == (1,)
        with Meeting.attach(name, 1) as successor:
            thread, told = _beside(lambda: successor.wait(timeout=_LIMIT_S))
            passed = one.wait(timeout=_LIMIT_S)
            thread.join(_LIMIT_S)
            assert told == [passed]
        os.close(ready)
        os.close(tell)


def test_a_rank_that_is_given_up_is_told(name: str) -> None:
    with Meeting.create(name, 2, rank=0) as one, Meeting.attach(name, 1) as old:
        thread, told = _beside(lambda: one.wait(timeout=_LIMIT_S))
        assert one.fence(1)
        thread.join(_LIMIT_S)
        assert isinstance(told[0], PeerLostError)
        with Meeting.attach(name, 1) as new:
            with pytest.raises(FencedError):
                old.wait(timeout=_LIMIT_S)
            thread, told = _beside(lambda: new.wait(timeout=_LIMIT_S))
            assert one.wait(timeout=_LIMIT_S) == 0
            thread.join(_LIMIT_S)


class _Busy:
    """A kernel whose lock another process has for so many tries."""

    def __init__(self, kernel: Any, tries: int) -> None:
        self._kernel = kernel
        self.left = tries

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        self.left -= 1
        return self.left < 0 and bool(self._kernel.take(fd, place, shared=shared))

    def __getattr__(self, what: str) -> Any:
        return getattr(self._kernel, what)


def test_no_arrival_stays_behind_only_because_another_process_decides(name: str) -> None:
    # Who came last, with little time left, wants to decide: it was told of its time limit, and its arrival stayed.
    with Meeting.create(name, 2, rank=0) as one, Meeting.attach(name, 1) as other:
        thread, told = _beside(lambda: other.wait(timeout=_LIMIT_S))
        while one.statistics().missing != (0,):
            assert thread.is_alive()
        room: Any = one._hall.room
        room.kernel = _Busy(room.kernel, tries=20)
        assert one.wait(timeout=0.001) == 0
        assert room.kernel.left < 0
        thread.join(_LIMIT_S)
        assert told == [0]


def test_only_who_is_no_rank_undoes_an_abort(name: str) -> None:
    with Meeting.create(name, 1, rank=0) as one, Meeting.attach(name) as owner:
        assert not owner.reset()
        assert one.abort()
        with pytest.raises(BarrierBrokenError):
            one.wait(timeout=_LIMIT_S)
        with pytest.raises(RankError):
            one.reset()
        assert owner.broken
        assert owner.reset()
        assert not owner.reset()
        assert one.wait(timeout=_LIMIT_S) == 0
