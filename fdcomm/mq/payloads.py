"""Large payloads in shared memory, handed from their producer to the consumer.

A payload is a file whose name says whose it is and which message it belongs to. Its producer writes it before the
message is sent, and never touches it again; the consumer removes it when it is done with the message, and before it
acknowledges. So a payload that is not there was handled, and one that is there can be delivered again. What nobody
can ask for any more is removed by whoever finds out that its producer is gone: the producer holds a lock on a file of
its own (its mark), which the kernel drops with the process.

To remove a payload is to take its name away. The file gets another one, under which its producer may use its memory
again, once nothing of the consumer's process refers to it any more (:mod:`fdcomm.mq.memory`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pickle
import re
import time
from collections.abc import Iterator
from typing import Any, Final

from fdcomm.errors import FdcommError, PayloadError, SignalSpaceError, UndecodableError
from fdcomm.mq.frames import IN_MEMORY, RAW_IN_MEMORY
from fdcomm.ring.payload import raw
from fdcomm.signals.files import Files, default_directory

__all__ = ("Mark", "Payloads", "Pieces", "loaded", "pieces_of")

_ALIGNMENT: Final = 64
_MOST_AT_ONCE: Final = 512
_WORD: Final = 8
_TRIES: Final = 1000


class Pieces:
    """A payload as it is written: its kind, its bytes in pieces, and how many they are."""

    __slots__ = ("kind", "nbytes", "parts")

    def __init__(self, kind: int, parts: list[Any]) -> None:
        self.kind = kind
        self.parts = parts
        self.nbytes = sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)


def pieces_of(payload: object, threshold: int) -> Pieces | bytes:
    """Return a payload for shared memory; or, of one smaller than the threshold, what ``pickle.dumps`` returns.

    Buffers (of numpy arrays, for example) stay where they are until they are written: they are copied once.

    Raises:
        PayloadError: It cannot be pickled.
    """
    if type(payload) is bytes:
        return Pieces(RAW_IN_MEMORY, [payload])
    found: list[pickle.PickleBuffer] = []
    try:
        stream = pickle.dumps(payload, 5, buffer_callback=found.append)
    except Exception as error:
        raise PayloadError(f"a {type(payload).__name__} cannot be pickled: {type(error).__name__}: {error}") from error
    size = len(stream)
    size += sum(memoryview(buffer).nbytes for buffer in found)
    if size < threshold:
        return stream if not found else pickle.dumps(payload, 5)
    buffers = raw(found)
    lengths = [len(stream), *(buffer.nbytes for buffer in buffers)]
    table = b"".join(length.to_bytes(_WORD, "little") for length in (len(lengths), *lengths))
    parts: list[Any] = [table, _padding(len(table)), stream]
    for buffer in buffers:
        parts += [_padding(len(parts[-1]) if type(parts[-1]) is bytes else parts[-1].nbytes), buffer]
    return Pieces(IN_MEMORY, parts)


def _padding(length: int) -> bytes:
    return bytes(-length % _ALIGNMENT)


class Payloads:
    """The payloads of one queue.

    Attributes:
        key: What the names of its files begin with, after "fdcomm-mq.".
        directory: Where they are.
    """

    def __init__(self, path: str, directory: str | None = None) -> None:
        """Args:
        path: Path of the queue's socket.
        directory: Where the files are; None is the file system of shared memory.
        """
        self.directory = default_directory() if directory is None else directory
        self.key = hashlib.sha256(os.fsencode(os.path.abspath(path)) + b"\0%d" % os.getuid()).hexdigest()[:16]
        self._pattern = re.compile(rf"fdcomm-mq\.{self.key}\.([0-9a-f]{{16}})\.(\d+|mark|free\.\d+|held\.\d+)")

    def name(self, producer: str, number: int | str) -> str:
        """Return the name of a file."""
        return f"fdcomm-mq.{self.key}.{producer}.{number}"

    def path(self, producer: str, number: int | str) -> str:
        """Return the path of a file."""
        return os.path.join(self.directory, self.name(producer, number))

    # -- its producer ------------------------------------------------------------------------------------------------

    def write(self, producer: str, number: int, pieces: Pieces) -> None:
        """Write: make the payload of a message.

        Raises:
            SignalSpaceError: There is no room for it. Nothing is left of it.
        """
        path = self.path(producer, number)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _write_all(fd, pieces)
        except BaseException as error:
            os.unlink(path)
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM):
                raise SignalSpaceError(
                    f"{self.directory} has no room for a payload of {pieces.nbytes} bytes; nothing was put",
                    operation="put",
                ) from error
            raise
        finally:
            os.close(fd)

    # -- the consumer ------------------------------------------------------------------------------------------------

    def rename(self, producer: str, old: int | str, new: int | str) -> bool:
        """Give a file another name. Returns False when it has none."""
        try:
            os.rename(self.path(producer, old), self.path(producer, new))
        except FileNotFoundError:
            return False
        return True

    def remove(self, producer: str, number: int | str) -> bool:
        """Remove a payload. Returns False when there was none."""
        try:
            os.unlink(self.path(producer, number))
        except FileNotFoundError:
            return False
        return True

    def listed(self) -> dict[str, list[int]]:
        """Return the numbers of the payloads of each producer that has files."""
        found: dict[str, list[int]] = {}
        for match in map(self._pattern.fullmatch, os.listdir(self.directory)):
            if match is not None:
                numbers = found.setdefault(match[1], [])
                if match[2].isdecimal():
                    numbers.append(int(match[2]))
        return found

    # -- who is gone -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def of_gone(self, producer: str) -> Iterator[bool]:
        """True within the block when the producer is gone; nobody else can then remove what it has left."""
        files = Files(self.directory)
        try:
            gone = True
            with contextlib.suppress(FileNotFoundError):
                gone = files.lock(files.open(self.name(producer, "mark")))
            yield gone
        finally:
            files.abandon()

    def remove_memory(self, producer: str) -> None:
        """Remove the files of a producer that are no payloads now."""
        for match in map(self._pattern.fullmatch, os.listdir(self.directory)):
            if match is not None and match[1] == producer and match[2].startswith(("free.", "held.")):
                self.remove(producer, match[2])

    def reclaim(self, producer: str) -> int | None:
        """Remove what a producer that is gone has left. None: it lives. Else how many payloads there were."""
        with self.of_gone(producer) as gone:
            if not gone:
                return None
            count = sum(self.remove(producer, number) for number in self.listed().get(producer, ()))
            self.remove_memory(producer)
            self.remove(producer, "mark")
            return count

    def forget(self, producer: str, upto: int) -> None:
        """Remove what a producer has left up to a number, whether it lives or not: nobody asks for it."""
        for number in self.listed().get(producer, ()):
            if number <= upto:
                self.remove(producer, number)

    def sweep(self) -> Iterator[tuple[str, int]]:
        """Remove everything that producers that are gone have left; yield each, and how many payloads."""
        for producer in self.listed():
            count = self.reclaim(producer)
            if count is not None:
                yield producer, count


class Mark:
    """The sign that a producer lives."""

    def __init__(self, payloads: Payloads, producer: str) -> None:
        self._payloads = payloads
        self._producer = producer
        for _ in range(_TRIES):
            self._files = Files(payloads.directory)
            if self._made():
                return
            self._files.abandon()
            time.sleep(0.001)  # somebody has taken it for that of a killed producer, and removes it
        raise FdcommError(f"the mark of producer {producer} cannot be made in {payloads.directory}")

    def _made(self) -> bool:
        name = self._payloads.name(self._producer, "mark")
        try:
            fd = self._files.make(name)
        except FileExistsError:
            return False
        found = self._files.find(name) if self._files.lock(fd) else None
        return found is not None and found.inode == self._files.status(fd).inode

    def drop(self, *, remove: bool) -> None:
        """The producer ends. ``remove``: it leaves nothing."""
        if remove:
            with contextlib.suppress(FdcommError):  # a forked child's
                self._files.unlink(self._payloads.name(self._producer, "mark"))
        self._files.abandon()


def loaded(kind: int, view: memoryview) -> Any:
    """Return the object of a payload. Arrays stand in the memory itself.

    Raises:
        UndecodableError: It is damaged.
    """
    if kind == RAW_IN_MEMORY:
        return bytes(view)
    try:
        count = int.from_bytes(view[:_WORD], "little")
        begin = _WORD * (1 + count)
        lengths = [int.from_bytes(view[at : at + _WORD], "little") for at in range(_WORD, begin, _WORD)]
        parts: list[memoryview] = []
        for length in lengths:
            begin = -(-begin // _ALIGNMENT) * _ALIGNMENT
            parts.append(view[begin : begin + length])
            begin += length
        return pickle.loads(parts[0], buffers=parts[1:])
    except Exception as error:  # noqa: BLE001  (whatever a damaged payload raises)
        raise UndecodableError(f"a payload of {len(view)} bytes is no valid one: {type(error).__name__}") from None


def _write_all(fd: int, pieces: Pieces) -> None:
    """Write into the file: its pages are filled as they are made, and a full file system is an error, not a signal."""
    parts = [memoryview(part).cast("B") for part in pieces.parts if len(part)]
    while parts:
        written = os.writev(fd, parts[:_MOST_AT_ONCE])
        while written and parts:
            if written >= len(parts[0]):
                written -= len(parts.pop(0))
            else:
                parts[0] = parts[0][written:]
                written = 0
