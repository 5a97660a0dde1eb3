"""The lock between processes: who holds it, errors, threads, forks, ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    ForkedHandleError,
    ProtocolViolationError,
    SignalNameError,
    SignalNotFoundError,
)
from fdcomm.runtime import SystemRuntime
from fdcomm.signals.lock import IPCLock

_WATCHDOG_S = 30.0


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
    with pytest.raises(ConfigError, match="create=0"):
        IPCLock("cache", create=0, directory=str(tmp_path))  # type: ignore[arg-type]
    holder = _other(tmp_path)
    with holder, pytest.raises(ConfigError, match="a time limit is timeout="):
        lock.acquire(5)  # type: ignore[arg-type]
    holder.close()
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
    with pytest.raises(CommTimeoutError, match=r"fuser .*fd_lock_cache\.9923"):
        other.acquire(timeout=0)
    lock.release()
    other.acquire(timeout=0)
    other.close()


def test_in_a_forked_child_what_the_parent_held_is_held_by_no_thread(lock: IPCLock) -> None:
    lock.acquire(timeout=0)
    child = os.fork()
    if not child:
        status = 1
        try:
            # A thread of the child waits for the parent, and its descriptor may have the number of the parent's.
            opened = lock._files.open(lock.name)
            status = 2 if lock.held else 0
            lock._files.close(opened)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    lock.release()


def test_a_close_in_another_thread_ends_a_wait_with_a_closed_error(tmp_path: Path) -> None:
    other = _other(tmp_path)
    other.acquire(timeout=0)
    waiting, errors = threading.Event(), list[BaseException]()

    class Telling(SystemRuntime):
        def sleep(self, seconds: float) -> None:
            waiting.set()
            super().sleep(seconds)

    lock = IPCLock("cache", 9923, directory=str(tmp_path), runtime=Telling())

    def wait() -> None:
        try:
            lock.acquire(timeout=_WATCHDOG_S)
        except ClosedError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(_WATCHDOG_S)
    lock.close()
    thread.join(_WATCHDOG_S)
    assert [str(error) for error in errors] == [f"acquire: the lock {lock.name} is closed"]
    with pytest.raises(ClosedError, match=f"clear: the lock {lock.name} is closed"):
        lock.clear()
    other.close()
