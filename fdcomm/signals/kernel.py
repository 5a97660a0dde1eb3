"""The system calls of typed access: sleep and wake on a futex, a barrier on other processors, locks that end with
their process. Tests put others in the place of :data:`SYSTEM_KERNEL`.

Where memory is weaker than on x86-64, and where a call is missing, is said here and nowhere else.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import platform
import secrets
import struct
import sys
from typing import Any, Final, Protocol

from fdcomm.errors import SignalError
from fdcomm.signals import futex

__all__ = ("ORDERED", "SYSTEM_KERNEL", "Kernel", "SystemKernel")

ORDERED: Final = platform.machine().lower() in ("x86_64", "amd64")
"""True where the processor keeps loads in order and stores in order, so that only a store and a later load may pass."""

# syscall numbers of membarrier, by machine
_MEMBARRIER: Final = {"x86_64": 324, "aarch64": 283, "arm64": 283, "riscv64": 283, "loongarch64": 283, "ppc64le": 365}
_GLOBAL_EXPEDITED: Final = 1 << 1
_REGISTER_GLOBAL_EXPEDITED: Final = 1 << 2

# struct flock of 64-bit Linux: type, whence, start, length, process (0 for locks of an open file description).
_FLOCK: Final = struct.Struct("@hhqqi4x")


class Kernel(Protocol):
    """What typed access asks of the system."""

    def token(self) -> int:
        """Return a number that no word has had of late."""

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        """Sleep while the futex word is the token, until woken, for at most so long. Full barrier."""

    def wake(self, address: int) -> int:
        """Wake all who sleep, and return how many did. Full barrier."""

    def joins_barriers(self) -> bool:
        """Let the barriers of other processes reach this one from now on. False: it has to use :meth:`fence`."""

    def barrier(self) -> bool:
        """Full barrier here, and in every process that has joined. False: only here."""

    def fence(self) -> None:
        """Full barrier here."""

    def order(self) -> None:
        """Keep loads before it before those after it, and stores too. Nothing where the processor does that."""

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        """Take, or change to, the lock of a place of a file, for this open file description, if it is free."""

    def give(self, fd: int, place: int) -> None:
        """Give it back. Full barrier. The kernel does this when the process dies."""


class SystemKernel:
    """Linux; elsewhere only what has no system call to itself."""

    def __init__(self) -> None:
        self._joined: dict[int, bool] = {}
        self._scratch = ctypes.c_uint32()
        self._membarrier: Any = None
        number = _MEMBARRIER.get(platform.machine())
        if sys.platform.startswith("linux") and number is not None and ctypes.sizeof(ctypes.c_void_p) == 8:
            call = ctypes.CDLL(None, use_errno=True).syscall
            call.restype = ctypes.c_long
            self._membarrier = lambda command: call(ctypes.c_long(number), command, 0, 0)

    def token(self) -> int:
        """31 random bits: that two processes draw the same within one sleep happens once in 2**31."""
        return secrets.randbits(31)

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        futex.wait(address, token, timeout_s)

    def wake(self, address: int) -> int:
        return futex.wake_all(address)

    def joins_barriers(self) -> bool:
        process = os.getpid()
        joined = self._joined.get(process)
        if joined is None:
            joined = self._membarrier is not None and self._membarrier(_REGISTER_GLOBAL_EXPEDITED) == 0
            self._joined[process] = joined
        return joined

    def barrier(self) -> bool:
        if self._membarrier is not None and self._membarrier(_GLOBAL_EXPEDITED) == 0:
            return True
        self.fence()
        return False

    def fence(self) -> None:
        # To find out that nobody sleeps, the futex call has a full barrier before it looks.
        futex.wake_all(ctypes.addressof(self._scratch))

    def order(self) -> None:
        if not ORDERED:
            self.fence()

    def take(self, fd: int, place: int, *, shared: bool) -> bool:
        try:
            _fcntl(fd, _SET_LOCK or _no_lock(), _lock(_SHARED if shared else _ALONE, place))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def give(self, fd: int, place: int) -> None:
        _fcntl(fd, _SET_LOCK or _no_lock(), _lock(_FREE, place))


_fcntl: Final = fcntl.fcntl
_SHARED, _ALONE, _FREE = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
_SET_LOCK: Final = fcntl.F_OFD_SETLK if sys.platform.startswith("linux") else 0


def _no_lock() -> int:
    raise SignalError("this system has no locks of open file descriptions: words cannot be locked here")


@functools.lru_cache(1024)
def _lock(kind: int, place: int) -> bytes:
    return _FLOCK.pack(kind, os.SEEK_SET, place, 1, 0)


SYSTEM_KERNEL: Final = SystemKernel()
