"""The dispatch protocol as FastDeploy ships it, written anew from its description, as the subject of race tests.

A manager process holds plain objects: a list of tasks, a list of read flags, a lock, a few values. A client changes
them by one round trip each, and holds the lock by convention. Nothing is corrected here. A test stops a client
between two round trips through ``hook``, which is called with the name of each step before it happens.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable
from multiprocessing import managers
from multiprocessing.managers import BaseManager, ListProxy, ValueProxy
from typing import Any, TypeAlias

__all__ = ("LOCK_PROXY", "Address", "Hook", "ShippedQueue", "Stuck")

Address: TypeAlias = "str | tuple[str, int]"
Hook: TypeAlias = Callable[[str], None]

LOCK_PROXY: Any = vars(managers)["AcquirerProxy"]  # the standard library has it, its type stubs do not

SINGLE_NODE = "0.0.0.0"
_POLL_S = 0.001


class Stuck(Exception):
    """A test's patience is over: the shipped client would have waited on, without a limit."""


class _Objects(BaseManager):
    """A client's view of the manager."""


for _name, _proxy in (
    ("get_tasks", ListProxy),
    ("get_client_read_flag", ListProxy),
    ("get_lock", LOCK_PROXY),
    ("get_read_finish_flag", ValueProxy),
    ("get_exist_tasks_inter_signal", ValueProxy),
    ("get_connected_client_counter", ValueProxy),
):
    _Objects.register(_name, proxytype=_proxy)


class ShippedQueue:
    """A client of the shipped protocol.

    Args:
        address: Of the manager. As shipped, the text ``"0.0.0.0"`` decides that the exist flag is in shared memory.
        key: Authentication key of the manager.
        ranks: Number of readers.
        client_id: Index of this client's read flag. An engine uses 0, like rank 0; nobody checks.
        words: File with the shared exist flag.
        hook: Called before each step.
        polls: Raise Stuck after this many polls of one put; None, as shipped, polls for ever.
        lock_s: Raise Stuck after so many seconds without the lock; None, as shipped, waits for ever.
        lower_after_release: Lower the exist flag after the lock is given back (race B02) instead of before.
    """

    def __init__(
        self,
        address: Address,
        key: bytes,
        ranks: int,
        client_id: int,
        words: str,
        *,
        hook: Hook = lambda step: None,
        polls: int | None = None,
        lock_s: float | None = None,
        lower_after_release: bool = False,
    ) -> None:
        self.ranks = ranks
        self.client_id = client_id
        self.hook = hook
        self._polls = polls
        self._lock_s = lock_s
        self._lower_after_release = lower_after_release
        objects: Any = _Objects(address, key)
        objects.connect()
        self._tasks: ListProxy[Any] = objects.get_tasks()
        self._flags: ListProxy[int] = objects.get_client_read_flag()
        self._lock: Any = objects.get_lock()
        self.read_finish_flag: ValueProxy[int] = objects.get_read_finish_flag()
        self._exist_value: ValueProxy[int] = objects.get_exist_tasks_inter_signal()
        self._counter: ValueProxy[int] = objects.get_connected_client_counter()
        if len(self._flags) != ranks:
            raise AssertionError(f"the manager has {len(self._flags)} read flags, this client expects {ranks}")
        self._page: mmap.mmap | None = None
        if address[0] == SINGLE_NODE:
            with open(words, "r+b") as file:
                self._page = mmap.mmap(file.fileno(), 8)
        self._acquire("connect")
        self.count_in()
        self._release("connect")

    # -- the queue -----------------------------------------------------------------------------------------------

    def put_tasks(self, tasks: Any) -> None:
        """Wait until every flag is 1, then replace the list and lower the flags."""
        self._acquire("put")
        polls = 0
        while not self._all_read("put"):
            self._release("put")
            polls += 1
            if self._polls is not None and polls > self._polls:
                raise Stuck(f"put still polls after {self._polls} polls")
            self.hook("put.poll")
            time.sleep(_POLL_S)
            self._acquire("put")
        self.hook("put.empty")
        self._tasks[:] = []
        self.hook("put.flags")
        self._flags[:] = [0] * self.ranks
        self.hook("put.append")
        self._tasks.append(tasks)
        self.hook("put.raise")
        self._write_exist(1)
        self._release("put")

    def get_tasks(self) -> tuple[list[Any], bool]:
        """Copy the list and raise the own flag; the last reader empties the list and lowers the exist flag."""
        self._acquire("get")
        self.hook("get.copy")
        batches = list(self._tasks)
        self.hook("get.flag")
        self._flags[self.client_id] = 1
        last = self._all_read("get")
        if last:
            self.hook("get.empty")
            self._tasks[:] = []
            if not self._lower_after_release:
                self.hook("get.lower")
                self._write_exist(0)
        self._release("get")
        if last and self._lower_after_release:
            self.hook("get.lower")
            self._write_exist(0)
        return batches, last

    def exist_tasks(self) -> bool:
        """Read the exist flag, without the lock."""
        return self._read_exist() == 1

    def set_exist_tasks(self, flag: bool) -> None:
        """Write the exist flag, without the lock."""
        self._write_exist(int(flag))

    def num_tasks(self) -> int:
        """Return the length of the list."""
        self._acquire("num")
        count = len(self._tasks)
        self._release("num")
        return count

    def clear_data(self) -> None:
        """Empty the list and raise all flags. The exist flag is left as it is."""
        self._acquire("clear")
        self.hook("clear.empty")
        self._tasks[:] = []
        self.hook("clear.flags")
        self._flags[:] = [1] * self.ranks
        self._release("clear")

    def count_in(self) -> None:
        """Add one to the count of clients: a read and a write. The constructor does it with the lock held."""
        self.hook("count.read")
        count = self._counter.get()
        self.hook("count.write")
        self._counter.set(count + 1)

    def clients(self) -> int:
        """Return the count of clients."""
        return self._counter.get()

    def lock_waiters(self) -> int:
        """Return how many clients wait for the lock. Not in the shipped protocol: tests wait for it."""
        waiters: int = self._lock._callmethod("waiters")
        return waiters

    def close(self) -> None:
        """Let go of the shared page. The shipped client has no end: the connections go with their threads."""
        if self._page is not None:
            self._page.close()

    # -- steps ---------------------------------------------------------------------------------------------------

    def _acquire(self, operation: str) -> None:
        self.hook(f"{operation}.acquire")
        if self._lock_s is None:
            self._lock.acquire()
        elif not self._lock.acquire(True, self._lock_s):
            raise Stuck(f"{operation} has no lock after {self._lock_s} s")

    def _release(self, operation: str) -> None:
        self.hook(f"{operation}.release")
        self._lock.release()

    def _all_read(self, operation: str) -> bool:
        self.hook(f"{operation}.scan")
        if operation == "get":
            len(self._flags), len(self._flags)  # the shipped get makes an array of the flags, which asks this twice
        return sum(self._flags) >= self.ranks  # one round trip per flag, and one to find the end

    def _read_exist(self) -> int:
        return self._exist_value.get() if self._page is None else self._page[0]

    def _write_exist(self, value: int) -> None:
        if self._page is None:
            self._exist_value.set(value)
        else:
            self._page[0] = value
