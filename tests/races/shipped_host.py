"""The manager process of the shipped protocol: ``python -m tests.races.shipped_host``, started by ShippedHost.

It is an interpreter of its own, and ends when its owner closes the pipe to it or dies.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from multiprocessing.managers import BaseManager, ListProxy, ValueProxy
from typing import Any

from tests.races.pipes import ROOT, read_line
from tests.races.shipped import LOCK_PROXY, Address

__all__ = ("ShippedHost",)


class ShippedHost:
    """A running manager.

    Args:
        ranks: Number of readers.
        tcp: TCP on loopback instead of a unix socket.
        folder: Serve ``<folder>/manager.sock``, to restart at an address; None makes a folder.
        key: Authentication key; None makes one.
    """

    def __init__(self, ranks: int, *, tcp: bool = False, folder: str | None = None, key: bytes | None = None) -> None:
        self.key = key or os.urandom(16)
        self._own = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="fdcomm-shipped-", dir="/tmp")
        self.words = os.path.join(self.folder, "exist")
        with open(self.words, "wb") as file:
            file.write(bytes(8))
        place = ["127.0.0.1", 0] if tcp else os.path.join(self.folder, "manager.sock")
        if isinstance(place, str) and os.path.exists(place):
            os.unlink(place)  # of a manager that was killed
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.races.shipped_host"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        try:
            assert self.process.stdin is not None
            orders = {"ranks": ranks, "address": place, "key": self.key.hex()}
            self.process.stdin.write(json.dumps(orders).encode() + b"\n")
            address = read_line(self.process)
        except BaseException:
            self.stop()
            raise
        self.address: Address = address if isinstance(address, str) else (address[0], address[1])

    def stop(self) -> None:
        """End the process, and remove its folder unless it was given."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        if self._own:
            shutil.rmtree(self.folder, ignore_errors=True)


class _WatchedLock:
    """A lock that says how many calls wait for it, so that a test can wait for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = threading.Lock()
        self._waiters = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        self._add(1)
        try:
            return self._lock.acquire(blocking, timeout)
        finally:
            self._add(-1)

    def release(self) -> None:
        self._lock.release()

    def waiters(self) -> int:
        return self._waiters

    def _add(self, number: int) -> None:
        with self._count:
            self._waiters += number


class _Value:
    """What the manager's own value type is: no lock, only get and set."""

    def __init__(self) -> None:
        self._value = 0

    def get(self) -> int:
        return self._value

    def set(self, value: int) -> None:
        self._value = value


class _Manager(BaseManager):
    pass


def _serve() -> None:
    orders = json.loads(sys.stdin.buffer.readline())
    ranks = orders["ranks"]
    tasks: list[Any] = []
    flags = [1] * ranks
    lock = _WatchedLock()
    values = {name: _Value() for name in ("read_finish_flag", "exist_tasks_inter_signal", "connected_client_counter")}
    _Manager.register("get_tasks", callable=lambda: tasks, proxytype=ListProxy)
    _Manager.register("get_client_read_flag", callable=lambda: flags, proxytype=ListProxy)
    _Manager.register(
        "get_lock", callable=lambda: lock, proxytype=LOCK_PROXY, exposed=("acquire", "release", "waiters")
    )
    for name, value in values.items():
        _Manager.register(f"get_{name}", callable=lambda value=value: value, proxytype=ValueProxy)
    answers: list[Any] = []
    answer_flags = [0] * ranks
    answer_lock, can_put = _WatchedLock(), _Value()
    can_put.set(1)
    _Manager.register("get_answers", callable=lambda: answers, proxytype=ListProxy)
    _Manager.register("get_answer_flags", callable=lambda: answer_flags, proxytype=ListProxy)
    _Manager.register("get_answer_lock", callable=lambda: answer_lock, proxytype=LOCK_PROXY)
    _Manager.register("get_can_put", callable=lambda: can_put, proxytype=ValueProxy)
    address = orders["address"]
    place = address if isinstance(address, str) else tuple(address)
    server = _Manager(place, bytes.fromhex(orders["key"])).get_server()
    threading.Thread(target=_end_with_owner, daemon=True).start()
    print(json.dumps(server.address), flush=True)
    server.serve_forever()


def _end_with_owner() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
