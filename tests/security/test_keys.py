"""Keys and files: who can read them, where they must not appear, and what a stranger's bytes can do: nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

import pytest

from fdcomm import AuthError, EngineWorkerQueue
from fdcomm.rendezvous import find
from fdcomm.wire import limit_stalls
from tests.faults.remote import LIMIT_S, ROOT, host_pid, until

KEY = hashlib.sha256(b"a key that only this test has").digest()


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    """An engine whose key its host has made."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as server:
        yield server


def _forms(key: bytes) -> list[bytes]:
    return [key, key.hex().encode(), repr(key).encode(), key.hex().upper().encode()]


def test_files_are_the_users_alone(engine: EngineWorkerQueue) -> None:
    record = find(engine.get_server_port(), 0)
    folder = Path(record.socket).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in (*folder.iterdir(), Path(record.words)):
        assert path.lstat().st_mode & 0o077 == 0, path
        assert path.lstat().st_uid == os.getuid()


def test_every_instance_has_its_own_key(engine: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as other:
        one, two = (bytes.fromhex(find(server.get_server_port(), 0).key) for server in (engine, other))
    assert len(one) == len(two) == 32
    assert one != two


@pytest.mark.parametrize("chosen", [b"", KEY], ids=["random", "chosen"])
def test_the_key_is_in_no_argument_list_or_environment(chosen: bytes) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, authkey=chosen) as engine:
        key = chosen or bytes.fromhex(find(engine.get_server_port(), 0).key)
        for name in ("cmdline", "environ"):
            shown = Path(f"/proc/{host_pid(engine)}/{name}").read_bytes()
            assert shown
            assert [form for form in _forms(key) if form in shown] == []


def test_a_chosen_key_is_written_nowhere() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, authkey=KEY) as engine:
        record = find(engine.get_server_port(), 0)
        files = [path for path in Path(record.socket).parent.iterdir() if path.is_file()]
        assert files
        for path in (*files, Path(record.words)):
            assert [form for form in _forms(KEY) if form in path.read_bytes()] == []


def test_the_key_is_in_no_error_and_no_output(capfd: pytest.CaptureFixture[str]) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, authkey=KEY) as engine:
        wrong = KEY[::-1]
        with pytest.raises(AuthError) as caught:
            EngineWorkerQueue(engine.address, client_id=0, authkey=wrong)
        shown = [repr(caught.value), str(caught.value), repr(engine)]
    output = capfd.readouterr()
    for text in (*shown, output.out, output.err):
        for key in (KEY, wrong):
            assert [form for form in _forms(key) if form in text.encode()] == []


STRANGER = """
import os, pathlib, socket, sys
path, record, page = sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
tries = {
    "connect": lambda: socket.socket(socket.AF_UNIX).connect(path),
    "record": lambda: pathlib.Path(record).read_text(),
    "page": lambda: pathlib.Path(page).read_bytes(),
    "list": lambda: os.listdir(os.path.dirname(path)),
    "unlink": lambda: os.unlink(record),
}
for name, attempt in tries.items():
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit(f"{name} is allowed")

sys.exit(77)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_reaches_nothing(engine: EngineWorkerQueue) -> None:
    record = find(engine.get_server_port(), 0)
    json_path = Path(record.socket).with_name(f"port-{record.port}.json")
    assert json_path.exists()
    arguments = [record.socket, str(json_path), record.words]
    done = subprocess.run([sys.executable, "-c", STRANGER, *arguments], timeout=LIMIT_S, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (77, "")


class Bomb:
    """Leaves a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (self.path, "w"))


def _frame(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _dial(engine: EngineWorkerQueue) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    limit_stalls(sock, LIMIT_S)  # stays a blocking socket
    sock.connect(find(engine.get_server_port(), 0).socket)
    return sock


def test_nothing_is_unpickled_without_the_key(engine: EngineWorkerQueue, tmp_path: Path) -> None:
    went_off = tmp_path / "went off"
    bomb = pickle.dumps((None, "accept_connection", (Bomb(str(went_off)),), {}))
    garbage = [
        b"",
        b"\0" * 64,
        b"\xff" * 64,
        _frame(bomb),
        _frame(bomb) * 4,
        os.urandom(4096),
        _frame(b"#WELCOME#") * 3,
    ]
    for data in garbage:
        with _dial(engine) as sock:
            with contextlib.suppress(ConnectionError):  # closed in our face, with bytes of ours unread
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(65536):
                    continue
    _works(engine)
    assert not went_off.exists()


def test_the_bomb_is_one(engine: EngineWorkerQueue, tmp_path: Path) -> None:
    """The same bytes from a holder of the key are unpickled: the test above would notice."""
    went_off = tmp_path / "went off"
    key = bytes.fromhex(find(engine.get_server_port(), 0).key)
    connection: Connection[Any, Any] = Connection(_dial(engine).detach())
    with connection:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
        connection.send((None, "accept_connection", (Bomb(str(went_off)),), {}))
        until(went_off.exists, "the bomb goes off")
    _works(engine)


@pytest.mark.parametrize("function", ["create", "shutdown", "get_methods", "number_of_objects", "debug_info", "incref"])
def test_the_key_holder_has_our_calls_only(engine: EngineWorkerQueue, function: str) -> None:
    """Nothing of the standard manager server is offered: no object is made, and nobody shuts it down."""
    key = bytes.fromhex(find(engine.get_server_port(), 0).key)
    connection: Connection[Any, Any] = Connection(_dial(engine).detach())
    with connection:
        answer_challenge(connection, key)
        deliver_challenge(connection, key)
        connection.send((None, function, (), {}))
        kind, text = connection.recv()
    assert kind == "#TRACEBACK"
    assert f"{function!r} unrecognized" in text
    _works(engine)


def _works(engine: EngineWorkerQueue) -> None:
    with EngineWorkerQueue(engine.address, client_id=0) as reader:
        engine.put_tasks("works", timeout=LIMIT_S)
        assert reader.get_tasks(timeout=LIMIT_S) == (["works"], True)


def test_strangers_that_are_silent_do_not_keep_others_out(engine: EngineWorkerQueue) -> None:
    silent = [_dial(engine) for _ in range(40)]
    _works(engine)
    for sock in silent:
        sock.close()


def test_clients_of_another_directory_do_not_find_the_host(engine: EngineWorkerQueue, tmp_path: Path) -> None:
    code = f"""
import fdcomm
try:
    fdcomm.EngineWorkerQueue(("0.0.0.0", {engine.get_server_port()}), client_id=0)
except fdcomm.HostNotFoundError:
    raise SystemExit(77)
"""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    environment = {**os.environ, "FDCOMM_RUNTIME_DIR": str(folder)}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, timeout=LIMIT_S).returncode == 77
