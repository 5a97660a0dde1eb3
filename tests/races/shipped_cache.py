"""The cache queue, cache infos and connect tasks as FastDeploy ships them, written anew from their description.

The subject of race tests. A manager process holds plain objects; a client changes them by one round trip each and
holds a lock by convention. Nothing is corrected here. ``hook`` is called with the name of each step before it happens.
The manager is an interpreter of its own (``python -m tests.races.shipped_cache``) and ends with its owner.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from multiprocessing.managers import BaseManager, ListProxy, ValueProxy
from typing import Any

from tests.races.pipes import ROOT, read_line
from tests.races.shipped import LOCK_PROXY, Hook, Stuck

__all__ = ("ShippedCacheHost", "ShippedCacheQueue", "ShippedInfoQueue", "relayed")

_POLL_S = 0.001
_LISTS = ("tasks", "done", "infos", "info_flags", "connects", "connect_flags")
_LOCKS = ("task_lock", "done_lock", "info_lock", "connect_lock")


class _Value:
    def __init__(self) -> None:
        self._value = 0

    def get(self) -> int:
        return self._value

    def set(self, value: int) -> None:
        self._value = value


class _Objects(BaseManager):
    """A client's view of the manager."""


for _name in _LISTS:
    _Objects.register(f"get_{_name}", proxytype=ListProxy)
for _name in _LOCKS:
    _Objects.register(f"get_{_name}", proxytype=LOCK_PROXY)
_Objects.register("get_sync", proxytype=ValueProxy)


class ShippedCacheHost:
    """A running manager."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.key = os.urandom(16)
        self.folder = tempfile.mkdtemp(prefix="fdcomm-shipped-", dir="/tmp")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.races.shipped_cache"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        try:
            assert self.process.stdin is not None
            orders = {"ranks": ranks, "address": os.path.join(self.folder, "manager.sock"), "key": self.key.hex()}
            self.process.stdin.write(json.dumps(orders).encode() + b"\n")
            self.address: str = read_line(self.process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the process, and remove its folder."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> ShippedCacheHost:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()


class _Client:
    def __init__(self, host: ShippedCacheHost, client_id: int, hook: Hook, polls: int | None) -> None:
        self.ranks, self.client_id, self.hook, self._polls = host.ranks, client_id, hook, polls
        self._objects: Any = _Objects(host.address, host.key)
        self._objects.connect()

    def _poll(self, what: str, count: int) -> None:
        """Stay patient, as the shipped client does for ever and a test does not."""
        if self._polls is not None and count > self._polls:
            raise Stuck(f"{what} still polls after {self._polls} polls")
        self.hook(f"{what}.poll")
        time.sleep(_POLL_S)


class ShippedCacheQueue(_Client):
    """A client of the cache queue. ``polls``: raise Stuck after so many polls of one call; None polls for ever."""

    def __init__(
        self, host: ShippedCacheHost, client_id: int, *, hook: Hook = lambda step: None, polls: int | None = None
    ) -> None:
        super().__init__(host, client_id, hook, polls)
        self._tasks: ListProxy[Any] = self._objects.get_tasks()
        self._done: ListProxy[Any] = self._objects.get_done()
        self._lock: Any = self._objects.get_task_lock()
        self._done_lock: Any = self._objects.get_done_lock()
        self._sync: ValueProxy[int] = self._objects.get_sync()
        self._full = (1 << self.ranks) - 1

    def put_transfer_task(self, task: Any) -> None:
        """Wait until no task is half read, then set the number to 0 and append."""
        self._wait_settled("put")
        self.hook("put.reset")
        self._sync.set(0)
        self.hook("put.append")
        self._tasks.append(task)
        self._lock.release()

    def clear_transfer_task(self) -> None:
        """The same, then empty the list."""
        self._wait_settled("clear")
        self.hook("clear.reset")
        self._sync.set(0)
        self.hook("clear.empty")
        self._tasks[:] = []
        self._lock.release()

    def get_transfer_task(self) -> tuple[Any, bool]:
        """Take the first task, unless the own bit is set; the last rank removes it."""
        self._lock.acquire()
        bits, own = self._sync.get(), 1 << self.client_id
        task, last = None, False
        if not bits & own and len(self._tasks):
            task, bits = self._tasks[0], self._sync.get() | own  # read anew, as published
            if bits >= self._full:
                self._tasks.pop(0)
                bits, last = 0, True
            self._sync.set(bits)
        self._lock.release()
        return task, last

    def empty(self) -> bool:
        """Look at the list."""
        return len(self._tasks) == 0

    def put_transfer_done_signal(self, item: Any) -> None:
        """Append a result."""
        self._done_lock.acquire()
        self._done.append(item)
        self._done_lock.release()

    def get_transfer_done_signal(self) -> Any:
        """Take the first result, or None."""
        self._done_lock.acquire()
        item = self._done.pop(0) if len(self._done) else None
        self._done_lock.release()
        return item

    def result_queue_empty(self) -> bool:
        """Look at the list."""
        return len(self._done) == 0

    def _wait_settled(self, what: str) -> None:
        """With the lock: is a task half read? If so, without the lock until it is not; then the lock, and no look."""
        self._lock.acquire()
        if 0 < self._sync.get() < self._full:
            self._lock.release()
            polls = 0
            while 0 < self._sync.get() < self._full:
                polls += 1
                self._poll(what, polls)
            self.hook(f"{what}.again")
            self._lock.acquire()


class ShippedInfoQueue(_Client):
    """A client of the worker queue's cache infos and connect tasks: a list each, and flags of the ranks, 0 at first."""

    def __init__(
        self, host: ShippedCacheHost, client_id: int, *, hook: Hook = lambda step: None, polls: int | None = None
    ) -> None:
        super().__init__(host, client_id, hook, polls)
        get = self._objects
        self._infos: tuple[Any, Any, Any] = (get.get_infos(), get.get_info_flags(), get.get_info_lock())
        self._connects: tuple[Any, Any, Any] = (get.get_connects(), get.get_connect_flags(), get.get_connect_lock())

    def put_cache_info(self, infos: list[Any]) -> None:
        """Wait until all have read; replace the list."""
        self._put(*self._infos, infos)

    def get_cache_info(self) -> list[Any]:
        """Nothing when the own flag is 1; else the list."""
        items, flags, lock = self._infos
        lock.acquire()
        found: list[Any] = []
        if not flags[self.client_id]:
            found = self._read(items, flags)[0]
        lock.release()
        return found

    def num_cache_infos(self) -> int:
        """Return the length of the list."""
        return len(self._infos[0])

    def put_connect_rdma_task(self, task: Any) -> None:
        """Wait until all have read; replace the task."""
        self._put(*self._connects, [task])

    def get_connect_rdma_task(self) -> tuple[Any, bool]:
        """The task; the own flag is not looked at, and is raised in any case."""
        items, flags, lock = self._connects
        lock.acquire()
        found, last = self._read(items, flags)
        lock.release()
        return (found[0] if found else None), last

    def _put(self, items: Any, flags: Any, lock: Any, new: list[Any]) -> None:
        polls = 0
        lock.acquire()
        while sum(flags) < self.ranks:
            lock.release()
            polls += 1
            self._poll("put", polls)
            lock.acquire()
        items[:] = []
        flags[:] = [0] * self.ranks
        items.extend(new)
        lock.release()

    def _read(self, items: Any, flags: Any) -> tuple[list[Any], bool]:
        found = list(items)
        flags[self.client_id] = 1
        last = sum(flags) >= self.ranks
        if last:
            items[:] = []
        return found, last


def relayed(queue: ShippedCacheQueue) -> list[Any]:
    """What the shipped helper does: move every result to a list of its own process. Returns that list."""
    moved = []
    while (item := queue.get_transfer_done_signal()) is not None:
        moved.append(item)
    return moved


class _Manager(BaseManager):
    pass


def _serve() -> None:
    orders = json.loads(sys.stdin.buffer.readline())
    for name in _LISTS:
        items: list[Any] = [0] * orders["ranks"] if name.endswith("flags") else []
        _Manager.register(f"get_{name}", callable=lambda items=items: items, proxytype=ListProxy)
    for name in _LOCKS:
        lock = threading.Lock()
        _Manager.register(f"get_{name}", callable=lambda lock=lock: lock, proxytype=LOCK_PROXY)
    value = _Value()
    _Manager.register("get_sync", callable=lambda: value, proxytype=ValueProxy)
    server = _Manager(orders["address"], bytes.fromhex(orders["key"])).get_server()
    threading.Thread(target=_end_with_owner, daemon=True).start()
    print(json.dumps(server.address), flush=True)
    server.serve_forever()


def _end_with_owner() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
