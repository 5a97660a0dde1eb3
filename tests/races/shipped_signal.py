"""IPCSignal as FastDeploy has it, for one int32: the standard library's shared memory, found and removed by its name.

Written anew from the description of the steps. ``hook`` is called before each; it may stop there. The resource tracker
is the real one: it is told of whatever is made or attached, and it removes that when its process tree is gone.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

__all__ = ("ShippedSignal", "exists", "tracker")

Hook = Callable[[str], None]
_WORD = struct.Struct("i")


def exists(name: str) -> bool:
    """To ask is to attach, which the tracker is told."""
    try:
        SharedMemory(name).close()
    except FileNotFoundError:
        return False
    except Exception:  # noqa: BLE001 - as shipped: any other error also means "no"
        return False
    return True


def tracker() -> int | None:
    """Return the process id of this tree's tracker, if it has one."""
    found: int | None = vars(resource_tracker)["_resource_tracker"]._pid
    return found


class ShippedSignal:
    """One word. ``unregisters``: the work-around that takes an attach's entry back."""

    def __init__(
        self,
        name: str,
        value: int = 0,
        *,
        create: bool = True,
        unregisters: bool = False,
        hook: Hook = lambda step: None,
    ) -> None:
        self.name = name
        if create:
            self._remove_old(hook)
            self.shm = self._make(hook)
            hook("fill")
            self.write(value)
        else:
            hook("map")
            self.shm = SharedMemory(name)
            if unregisters:
                resource_tracker.unregister(f"/{name}", "shared_memory")

    def _remove_old(self, hook: Hook) -> None:
        hook("find")
        if exists(self.name):
            hook("remove")
            old = SharedMemory(self.name)
            old.close()
            old.unlink()

    def _make(self, hook: Hook) -> SharedMemory:
        hook("make")
        # What SharedMemory(create=True) does, with a place to stop between its system calls.
        fd = os.open(f"/dev/shm/{self.name}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        with contextlib.closing(os.fdopen(fd, "rb")):
            hook("size")
            os.ftruncate(fd, _WORD.size)
        return SharedMemory(self.name)

    def _memory(self) -> memoryview:
        memory: memoryview | None = self.shm.buf
        if memory is None:
            raise ValueError("the memory is closed")
        return memory

    def read(self) -> int:
        """Return the word."""
        return int(_WORD.unpack_from(self._memory())[0])

    def write(self, value: int) -> None:
        """Change the word."""
        _WORD.pack_into(self._memory(), 0, value)

    def clear(self) -> None:
        """If the name exists it is removed, whatever it leads to."""
        if exists(self.name):
            self.shm.close()
            self.shm.unlink()
