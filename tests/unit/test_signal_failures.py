"""Every system call of create, attach and clear is made to fail: nothing stays, and the first error is the one told."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fdcomm import CommTimeoutError, FdcommError, SignalError, SignalNotFoundError, SignalSpaceError
from fdcomm.signals import ipc_signal
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.layout import SUCCESSOR
from fdcomm.testing.faults import Fault, FaultInjected, FaultRuntime
from tests.unit.signal_folder import Signals, descriptors, mappings

CALLS = (
    *("open_directory", "open", "make", "again", "lock", "status", "find", "read"),
    *("reserve", "map", "link", "rename", "unlink"),
)


class Broken(Files):
    """Files of which the n-th system call fails. ``made`` counts them."""

    fails_at = 0
    made = 0
    failed = ""
    error: type[BaseException] = OSError

    @classmethod
    def arm(cls, fails_at: int, error: type[BaseException] = OSError) -> None:
        """Let the n-th call from now on fail, once; 0: none."""
        cls.fails_at, cls.made, cls.failed, cls.error = fails_at, 0, "", error


def _failing(name: str) -> Callable[..., Any]:
    def call(self: Broken, *arguments: Any, **options: Any) -> Any:
        Broken.made += 1
        if Broken.made == Broken.fails_at:
            Broken.failed = name
            raise Broken.error(errno.EIO, "injected") if Broken.error is OSError else Broken.error("injected")
        return getattr(Files, name)(self, *arguments, **options)

    return call


for _name in CALLS:
    setattr(Broken, _name, _failing(_name))


@pytest.fixture
def signals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signals]:
    """An empty folder, and calls that make signals in it with files that can fail."""
    monkeypatch.setattr(ipc_signal, "Files", Broken)
    Broken.arm(0)
    found = Signals(tmp_path)
    yield found
    Broken.arm(0)
    found.end()


def _attempt(call: Callable[[], Any], fails_at: int, error: type[BaseException]) -> tuple[Any, BaseException | None]:
    """Make a call of which one system call fails; return what it returned, and what it raised."""
    Broken.arm(fails_at, error)
    try:
        return call(), None
    except (FdcommError, error) as problem:
        return None, problem.with_traceback(None)
    finally:
        Broken.fails_at = 0


def _state(folder: Path) -> tuple[list[str], set[tuple[int, str]], int]:
    return sorted(path.name for path in folder.iterdir()), descriptors(), mappings(folder)


def _nothing(signals: Signals) -> None:
    del signals


def _stale(signals: Signals) -> None:
    signals.create([1]).close()
    signals.forget()


def _live(signals: Signals) -> None:
    signals.create_elsewhere([1])


def _leftover(signals: Signals) -> None:
    (signals.folder / f"a{NEW}").write_bytes(b"half")


@pytest.mark.parametrize("error", [OSError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("there", [_nothing, _stale, _live, _leftover])
def test_a_create_that_fails(signals: Signals, there: Callable[[Signals], None], error: type[BaseException]) -> None:
    there(signals)
    (before, *rest) = _state(signals.folder)
    before = [name for name in before if not name.endswith(NEW)]
    failed: list[str] = []
    while True:
        made, problem = _attempt(lambda: signals.create([2], replace=there is _live), len(failed) + 1, error)
        if problem is None:
            break
        if error is OSError:
            assert isinstance(problem, SignalSpaceError if Broken.failed == "reserve" else SignalError)
            assert "injected" in str(problem)
        else:
            assert type(problem) is error
        problem = None  # its traceback holds the mapping
        failed.append(Broken.failed)
        (names, *others) = _state(signals.folder)
        # A leftover that was there before the call may still be: the next create sweeps it.
        assert [name for name in names if not name.endswith(NEW)] == before, failed
        assert there is _leftover or names == before, failed
        assert others == rest, failed
        if there is _live:
            assert signals._elsewhere[0].words[SUCCESSOR] == 0
            assert not signals._elsewhere[0].superseded()
    assert made.value.tolist() == [2]
    assert {"open_directory", "lock", "open", "unlink", "make", "reserve", "map"} <= set(failed)
    assert ("rename" if there in (_stale, _live) else "link") in failed
    made.clear()


@pytest.mark.parametrize("error", [OSError, MemoryError])
def test_an_attach_that_fails(signals: Signals, error: type[BaseException]) -> None:
    signals.create([1])
    before = _state(signals.folder)
    failed: list[str] = []
    while True:
        other, problem = _attempt(lambda: signals.attach([0]), len(failed) + 1, error)
        if problem is None:
            break
        assert "injected" in str(problem)
        problem = None
        failed.append(Broken.failed)
        assert _state(signals.folder) == before, failed
    assert failed == ["open", "status", "read", "map"]
    assert other.value.tolist() == [1]


def test_a_look_for_what_is_not_there_that_fails(signals: Signals) -> None:
    before = _state(signals.folder)
    failed: list[str] = []
    while True:
        Broken.arm(len(failed) + 1)
        with pytest.raises(SignalError) as caught:
            signals.attach([0])
        assert _state(signals.folder) == before
        if isinstance(caught.value, SignalNotFoundError):
            break
        failed.append(Broken.failed)
    assert failed == ["open", "open_directory", "lock", "open"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_clear_that_fails_can_be_repeated(signals: Signals, error: type[BaseException]) -> None:
    made, other = signals.create([1]), signals.attach([0])
    before = _state(signals.folder)
    failed: list[str] = []
    while True:
        _, problem = _attempt(made.clear, len(failed) + 1, error)
        if problem is None:
            break
        failed.append(Broken.failed)
        assert _state(signals.folder) == before, failed
        assert (made.value.tolist(), made.owned, other.superseded) == ([1], True, False)
    assert failed == ["open_directory", "lock", "find", "unlink"]
    assert other.superseded


def test_a_question_that_fails(signals: Signals) -> None:
    signals.create([1])
    other = signals.attach([0])
    before = _state(signals.folder)
    for number in range(1, 5):
        Broken.arm(number)
        with pytest.raises(SignalError, match="injected"):
            other.owner_alive()
        assert _state(signals.folder) == before
    Broken.arm(0)
    assert other.owner_alive()
    assert _state(signals.folder) == before


def _points(signals: Signals) -> list[str]:
    """Return every point that a create over a live segment, an attach and a clear pass, in order."""
    passed: list[str] = []

    class Noting(FaultRuntime):
        def point(self, name: str) -> None:
            passed.append(name)

    runtime = Noting()
    made = signals.create([2], replace=True, runtime=runtime)
    signals.attach([0], runtime=runtime).close()
    made.clear()
    return passed


def test_an_interruption_after_each_step(signals: Signals) -> None:
    """The step was taken, and then the program is told to stop: what it did is undone."""
    signals.create_elsewhere([1])
    points = [point for point in _points(signals) if point.startswith("signal.create.")]
    assert len(points) == len(set(points)) > 12
    signals.end()
    signals._elsewhere.clear()
    signals.create_elsewhere([1])
    before = _state(signals.folder)
    for point in points:
        runtime = FaultRuntime([Fault(point, "raise")])
        with contextlib.suppress(FaultInjected):
            signals.create([2], replace=True, runtime=runtime).clear()
        names, *others = _state(signals.folder)
        # After the name was changed nobody can bring the old segment back; the new one is gone all the same.
        late = point.rpartition(".")[2] in ("Publish", "LetGo", "DropGuard")
        assert names == ([] if late else before[0]), point
        assert others == list(before[1:]), point
        if late:
            signals._elsewhere.pop().close()
            signals.create_elsewhere([1])
            before = _state(signals.folder)


def test_too_long_a_wait_is_undone(signals: Signals) -> None:
    files = Files(str(signals.folder))
    assert files.lock(files.open_directory())
    before = _state(signals.folder)
    for call in (signals.create, signals.attach):
        with pytest.raises(CommTimeoutError):
            call([1], timeout=0.001)
        assert _state(signals.folder) == before
    files.abandon()
    assert issubclass(CommTimeoutError, FdcommError)
    assert os.listdir(signals.folder) == []
