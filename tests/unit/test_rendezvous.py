"""Records and locks: a private directory, stale records, who holds a port, the platform's limit on paths."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fdcomm import AddressInUseError, ConfigError, HostNotFoundError, UnsafeConfigError, rendezvous
from fdcomm.rendezvous import Record, RecordLock, find, is_loopback, is_this_machine, runtime_dir, socket_path

LIMIT_S = 60.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime directory of the test's own, not there yet."""
    path = tmp_path / "run"
    monkeypatch.setenv("FDCOMM_RUNTIME_DIR", str(path))
    return path


def _record(port: int = 5000, **changes: object) -> Record:
    record = Record(port, 7, "/tmp/nowhere/socket", "/tmp/nowhere/page", "", 0, "00" * 32, os.getpid(), os.getpid())
    return replace(record, **changes)  # type: ignore[arg-type]


def test_the_directory_is_made_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        assert runtime_dir() == str(folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert runtime_dir() == str(folder)


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o750, 0o755, 0o770, 0o777, 0o1777])
def test_an_open_directory_is_refused(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UnsafeConfigError, match="mode 0700"):
        runtime_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory to another user")
def test_a_foreign_directory_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, 65534)
    with pytest.raises(UnsafeConfigError, match=f"uid {os.getuid()}"):
        runtime_dir()


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "in a file"])
def test_what_is_no_directory_is_refused(
    folder: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    if kind in ("file", "in a file"):
        folder.touch(mode=0o600)
    elif kind == "link":
        folder.symlink_to(private)
    else:
        folder.symlink_to(tmp_path / "nothing")
    if kind == "in a file":
        monkeypatch.setenv("FDCOMM_RUNTIME_DIR", str(folder / "below"))
    with pytest.raises(UnsafeConfigError, match="FDCOMM_RUNTIME_DIR"):
        runtime_dir()


def test_a_relative_directory_means_the_same_everywhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FDCOMM_RUNTIME_DIR", "run")
    assert runtime_dir() == str(folder)


def test_the_default_directory_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.delenv("FDCOMM_RUNTIME_DIR")
    monkeypatch.setenv("TMPDIR", "/tmp/nowhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp/nowhere")
    monkeypatch.setattr(os, "makedirs", lambda path, **_: made.append(path))
    monkeypatch.setattr(os, "lstat", lambda path: os.stat_result((0o40700, 0, 0, 0, os.getuid(), 0, 0, 0, 0, 0)))
    assert runtime_dir() == f"/tmp/fdcomm-{os.getuid()}" == made[0]


def test_long_paths(tmp_path: Path) -> None:
    longest = "x" * (107 - len("/tmp/"))
    assert len(socket_path("/tmp", longest)) == 107
    with pytest.raises(ConfigError, match="FDCOMM_RUNTIME_DIR to a shorter directory"):
        socket_path("/tmp", longest + "x")
    with pytest.raises(ConfigError, match="108 bytes"):
        socket_path("/tmp", "é" * 51 + "x")  # bytes count, not characters


def test_files_are_private(folder: Path) -> None:
    before = os.umask(0)
    try:
        lock = RecordLock(5000)
        lock.publish(_record())
    finally:
        os.umask(before)
    files = list(folder.iterdir())
    assert sorted(path.name for path in files) == ["port-5000.json", "port-5000.lock"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    lock.release()
    lock.release()
    assert list(folder.iterdir()) == []


def test_found_while_locked(folder: Path) -> None:
    with pytest.raises(HostNotFoundError, match="port 5000"):
        find(5000, 0)
    lock = RecordLock(5000)
    with pytest.raises(HostNotFoundError):
        find(5000, 0)  # it is starting
    lock.publish(_record())
    assert find(5000, 0) == _record()
    lock.release()
    with pytest.raises(HostNotFoundError):
        find(5000, 0)


def _killed_host(folder: Path) -> tuple[Path, Path]:
    """Leave what a host leaves that was killed: files, and no lock."""
    socket, page = folder / "socket", folder / "page"
    lock = RecordLock(5000)
    lock.publish(_record(socket=str(socket), words=str(page)))
    socket.touch()
    page.touch()
    os.close(lock._fd)
    return socket, page


def test_a_stale_record_is_not_found(folder: Path) -> None:
    _killed_host(folder)
    with pytest.raises(HostNotFoundError, match="the one that did has ended"):
        find(5000, 0)


def test_the_next_host_removes_what_a_killed_one_left(folder: Path) -> None:
    socket, page = _killed_host(folder)
    lock = RecordLock(5000)
    assert not socket.exists()
    assert not page.exists()
    with pytest.raises(HostNotFoundError):
        find(5000, 0)  # not the old record under the new lock
    lock.release()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"port": 1}', '{"unknown": 1}'])
def test_a_record_that_cannot_be_read_is_none(folder: Path, text: str) -> None:
    lock = RecordLock(5000)
    (folder / "port-5000.json").write_text(text)
    with pytest.raises(HostNotFoundError):
        find(5000, 0)
    lock.release()


def test_waiting_for_a_host(folder: Path) -> None:
    looks: list[float] = []
    hosts: list[RecordLock] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            hosts.append(RecordLock(5000))
            hosts[0].publish(_record())

    record = find(5000, LIMIT_S, sleep)
    assert record == _record()
    assert len(looks) == 3
    hosts[0].release()


def test_the_port_of_a_live_host(folder: Path) -> None:
    lock = RecordLock(5000)
    with pytest.raises(AddressInUseError, match="it is just starting"):
        RecordLock(5000)
    lock.publish(_record())
    with pytest.raises(AddressInUseError, match=f"pid {os.getpid()}, started by pid {os.getpid()}"):
        RecordLock(5000)
    assert find(5000, 0) == _record()
    lock.release()


def test_a_client_that_looks_is_not_a_host(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look holds the lock for a moment; a host that starts in that moment tries again."""
    _killed_host(folder)
    look = os.open(folder / "port-5000.lock", os.O_RDWR)
    fcntl.flock(look, fcntl.LOCK_SH)
    tries: list[float] = []

    def sleep(seconds: float) -> None:
        tries.append(seconds)
        os.close(look)

    monkeypatch.setattr(time, "sleep", sleep)
    RecordLock(5000).release()
    assert len(tries) == 1


def test_one_of_many_gets_the_port(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts start and end at one port in four threads: never two at once, though the lock file comes and goes."""
    monkeypatch.setattr(rendezvous, "_LOCK_PATIENCE_S", 0.0)
    inside = threading.Lock()
    start = threading.Barrier(4)

    def work() -> int:
        start.wait(LIMIT_S)
        served = 0
        for _ in range(400):
            try:
                lock = RecordLock(5000)
            except AddressInUseError:
                continue
            assert inside.acquire(blocking=False), "two hosts at one port"
            lock.publish(_record())
            inside.release()
            lock.release()
            served += 1
        return served

    with ThreadPoolExecutor(4) as pool:
        served = sum(task.result(LIMIT_S) for task in [pool.submit(work) for _ in range(4)])
    assert served > 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["", "0.0.0.0", "::", "localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine(name: str) -> None:
    assert is_this_machine(name)


@pytest.mark.parametrize("name", ["192.0.2.1", "198.51.100.7", "2001:db8::1"])
def test_another_machine(name: str) -> None:
    assert not is_this_machine(name)


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(ConfigError, match="cannot resolve"):
        is_this_machine("no.such.host.invalid")


@pytest.mark.parametrize(
    ("name", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.255.0.3", True),
        ("::1", True),
        ("127.example", False),
        ("0.0.0.0", False),
        ("", False),
    ],
)
def test_loopback(name: str, loopback: bool) -> None:
    assert is_loopback(name) is loopback
