"""What a segment looks like: the array at byte 0, as foreign code expects it, and fdcomm's words behind it.

The trailer is the last :data:`TRAILER_BYTES` of the file, aligned to 64 bytes: aligned signed 8-byte words in the
machine's byte order. Constants name their places. A segment gets its name when it is complete, so a trailer that can
be found is whole; a file without one was made by other software.
"""

from __future__ import annotations

import os
import secrets
import struct
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

__all__ = (
    "BOOT_ID",
    "DTYPE",
    "GENERATION",
    "INSTANCE",
    "LAYOUT_VERSION",
    "LOCK_OWNER",
    "MAGIC",
    "MOST_DIMENSIONS",
    "NBYTES",
    "NDIM",
    "OWNER_PID",
    "PID_NAMESPACE",
    "SEQUENCE",
    "SHAPE",
    "START_TIME",
    "SUCCESSOR",
    "TRAILER_BYTES",
    "TRAILER_WORDS",
    "UNLINKED",
    "VERSION",
    "WAITERS",
    "WAKE",
    "Layout",
    "OwnerInfo",
    "Trailer",
    "pack",
    "segment_bytes",
    "this_process",
    "unpack",
)

MAGIC: Final = int.from_bytes(b"fdcommS1", "little")
LAYOUT_VERSION: Final = 1
MOST_DIMENSIONS: Final = 8
TRAILER_WORDS: Final = 32
TRAILER_BYTES: Final = TRAILER_WORDS * 8
UNLINKED: Final = -1
"""In the word SUCCESSOR: the owner has removed the segment."""

# Places of the words. SHAPE has MOST_DIMENSIONS of them, BOOT_ID 2, LOCK_OWNER 2; 26 to 31 are kept free.
VERSION: Final = 1
DTYPE: Final = 2
NDIM: Final = 3
SHAPE: Final = 4
NBYTES: Final = 12
OWNER_PID: Final = 13
START_TIME: Final = 14
BOOT_ID: Final = 15
PID_NAMESPACE: Final = 17
INSTANCE: Final = 18
GENERATION: Final = 19
SUCCESSOR: Final = 20
SEQUENCE: Final = 21
WAKE: Final = 22
WAITERS: Final = 23
LOCK_OWNER: Final = 24

_ALIGNMENT: Final = 64
_WORDS: Final = struct.Struct(f"={TRAILER_WORDS}q")


class Layout(NamedTuple):
    """What the data part is. ``dtype`` is numpy's short text (``<i4``), or "" for raw bytes."""

    dtype: str
    shape: tuple[int, ...]
    nbytes: int

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}" if self.dtype else f"{self.nbytes} raw bytes"


class OwnerInfo(NamedTuple):
    """The process that made a segment. Its lock, not this, says whether it lives: ids are used again.

    Attributes:
        pid: Its id, in its own pid namespace.
        start_time: When it started, in the kernel's clock ticks since boot (0 where that is not known).
        boot_id: The boot of the machine, two words.
        pid_namespace: The namespace of the pid (0 where there is none).
    """

    pid: int
    start_time: int
    boot_id: tuple[int, int]
    pid_namespace: int


class Trailer(NamedTuple):
    """The parts of a trailer that do not change, and the successor when it was read."""

    layout: Layout
    owner: OwnerInfo
    instance: int
    generation: int
    successor: int


def segment_bytes(nbytes: int) -> int:
    """Return the size of the file for that many bytes of data."""
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT + TRAILER_BYTES


def pack(layout: Layout, owner: OwnerInfo, generation: int) -> bytes:
    """Return a new trailer: no successor, nobody waiting, an instance number that nobody has."""
    words = [0] * TRAILER_WORDS
    words[0], words[VERSION] = MAGIC, LAYOUT_VERSION
    words[DTYPE] = int.from_bytes(layout.dtype.encode("ascii"), "little")
    words[NDIM] = len(layout.shape)
    words[SHAPE : SHAPE + len(layout.shape)] = layout.shape
    words[NBYTES] = layout.nbytes
    words[OWNER_PID], words[START_TIME], words[PID_NAMESPACE] = owner.pid, owner.start_time, owner.pid_namespace
    words[BOOT_ID : BOOT_ID + 2] = owner.boot_id
    words[INSTANCE] = secrets.randbits(63) or 1
    words[GENERATION] = generation
    return _WORDS.pack(*words)


def unpack(content: bytes, file_bytes: int) -> Trailer | None:
    """Return the trailer, or None if these are not the last bytes of a segment of that size."""
    if len(content) != TRAILER_BYTES:
        return None
    words: Sequence[int] = _WORDS.unpack(content)
    if words[0] != MAGIC or words[VERSION] != LAYOUT_VERSION or not 0 <= words[NDIM] <= MOST_DIMENSIONS:
        return None
    if words[NBYTES] < 1 or segment_bytes(words[NBYTES]) != file_bytes:
        return None
    dtype = (words[DTYPE] % 2**64).to_bytes(8, "little").rstrip(b"\0")
    if not dtype.isascii():
        return None
    return Trailer(
        Layout(dtype.decode("ascii"), tuple(words[SHAPE : SHAPE + words[NDIM]]), words[NBYTES]),
        OwnerInfo(words[OWNER_PID], words[START_TIME], (words[BOOT_ID], words[BOOT_ID + 1]), words[PID_NAMESPACE]),
        words[INSTANCE],
        words[GENERATION],
        words[SUCCESSOR],
    )


_mine: list[OwnerInfo] = []


def this_process() -> OwnerInfo:
    """Return who the calling process is."""
    if not _mine or _mine[-1].pid != os.getpid():
        _mine[:] = [_look()]
    return _mine[-1]


def _look() -> OwnerInfo:
    if not sys.platform.startswith("linux"):
        return OwnerInfo(os.getpid(), 0, (0, 0), 0)
    with open("/proc/self/stat", "rb") as stat, open("/proc/sys/kernel/random/boot_id", "rb") as boot:
        start = int(stat.read().rpartition(b")")[2].split()[19])
        digits = bytes.fromhex(boot.read().decode("ascii").strip().replace("-", ""))
    high, low = struct.unpack("=2q", digits)
    return OwnerInfo(os.getpid(), start, (high, low), os.stat("/proc/self/ns/pid").st_ino)
