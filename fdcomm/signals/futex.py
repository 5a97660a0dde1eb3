"""Wait on a word that processes share, and wake those who wait. Linux; elsewhere nothing waits and nobody is woken."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from typing import Any, Final

from fdcomm.errors import ConfigError

__all__ = ("AVAILABLE", "address_of", "wait", "wake_all")

_NUMBERS: Final = {"x86_64": 202, "aarch64": 98, "arm64": 98, "riscv64": 98, "loongarch64": 98, "ppc64le": 221}
_WAIT: Final = 0
_WAKE: Final = 1
_EVERYBODY: Final = 2**31 - 1


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _find() -> tuple[Any, int] | None:
    number = _NUMBERS.get(platform.machine())
    if not sys.platform.startswith("linux") or number is None or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    # With these, nothing has to be made for a call, which takes half the time so.
    pointer, word = ctypes.c_void_p, ctypes.c_uint32
    call.argtypes = (ctypes.c_long, pointer, ctypes.c_int, word, pointer, pointer, word)
    return call, number


_found: Final = _find()

AVAILABLE: Final = _found is not None
"""True where this machine has a futex that fdcomm can call."""


def address_of(buffer: memoryview | Any, offset: int) -> int:
    """Return the address of a byte of a writable buffer. It holds for as long as the buffer's memory does."""
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer, offset))


def wait(address: int, expected: int, timeout_s: float) -> bool:
    """Sleep while the 32-bit word at the address is ``expected``, until woken, or for that many seconds.

    Returns False when the time is over. May return True without a reason. The memory must stay mapped.
    """
    if _found is None:
        raise ConfigError("this machine has no futex; poll instead")
    call, number = _found
    limit = _Time(int(timeout_s), int(timeout_s % 1 * 1e9))
    # The words are little-endian or big-endian as the machine: the caller gives the address of the low half.
    if call(number, address, _WAIT, expected & 0xFFFFFFFF, ctypes.addressof(limit), None, 0) == 0:
        return True
    code = ctypes.get_errno()
    if code == errno.ETIMEDOUT:
        return False
    if code in (errno.EAGAIN, errno.EINTR):
        return True
    raise OSError(code, os.strerror(code))


def wake_all(address: int) -> int:
    """Wake everybody who waits on the word, and return how many did. The memory must stay mapped."""
    if _found is None:
        return 0
    call, number = _found
    return max(0, int(call(number, address, _WAKE, _EVERYBODY, None, None, 0)))
