"""The futex calls of a ring, with what ctypes needs for them made beforehand: a sleep costs half the time so."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from typing import Any, Final

from fdcomm.signals import futex
from fdcomm.signals.kernel import SystemKernel

__all__ = ("RING_KERNEL", "RingKernel")

_WAIT: Final = 0
_WAKE: Final = 1
_EVERYBODY: Final = 2**31 - 1
_NUMBERS: Final = {"x86_64": 202, "AMD64": 202}


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _call() -> Any:
    if not sys.platform.startswith("linux") or platform.machine() not in _NUMBERS or not futex.AVAILABLE:
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (
        ctypes.c_long,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_uint32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_uint32,
    )
    return call


class RingKernel(SystemKernel):
    """As :class:`fdcomm.signals.kernel.SystemKernel`, and faster where it is known how."""

    def __init__(self) -> None:
        super().__init__()
        self._call = _call()
        self._number = _NUMBERS.get(platform.machine(), 0)

    def sleep(self, address: int, token: int, timeout_s: float) -> None:
        """Sleep while the futex word is the token, until woken, for at most so long. Full barrier."""
        if self._call is None:
            super().sleep(address, token, timeout_s)
            return
        seconds = int(timeout_s)
        limit = _Time(seconds, int((timeout_s - seconds) * 1e9))
        if self._call(self._number, address, _WAIT, token & 0xFFFFFFFF, ctypes.addressof(limit), None, 0):
            code = ctypes.get_errno()
            if code not in (errno.ETIMEDOUT, errno.EAGAIN, errno.EINTR):
                raise OSError(code, os.strerror(code))

    def wake(self, address: int) -> int:
        """Wake all who sleep, and return how many did. Full barrier."""
        if self._call is None:
            return super().wake(address)
        return max(0, int(self._call(self._number, address, _WAKE, _EVERYBODY, None, None, 0)))


RING_KERNEL: Final = RingKernel()
"""What every ring uses. Tests put others in its place."""
