"""Objects as bytes in a slot: pickled once, large buffers beside the stream and not in it.

A payload is the stream alone; or a table of words (length of the stream, length of each buffer), the stream, and the
buffers, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from fdcomm.errors import PayloadError
from fdcomm.items import not_unpickled

__all__ = ("Encoded", "Window", "decode", "dump", "encode", "encode_into", "item_of", "not_pickled", "raw")

_ALIGNMENT: Final = 64
_PROTOCOL: Final = 5
_DUMPS: Final = pickle.dumps
_LOADS: Final = pickle.loads

Refuse: TypeAlias = Callable[[Exception], PayloadError]


def _up(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class Encoded:
    """A pickled object: its stream, and the buffers that stand beside it."""

    __slots__ = ("buffers", "nbytes", "stream")

    def __init__(self, stream: bytes, buffers: Sequence[memoryview]) -> None:
        self.stream = stream
        self.buffers = buffers
        self.nbytes = len(stream)
        if buffers:
            table = _up(8 * (1 + len(buffers)))
            self.nbytes = table + _up(len(stream)) + sum(_up(buffer.nbytes) for buffer in buffers)

    def write(self, target: memoryview) -> None:
        """Write it to where it is read from."""
        if not self.buffers:
            target[: len(self.stream)] = self.stream
            return
        lengths = (len(self.stream), *(buffer.nbytes for buffer in self.buffers))
        table = target[: 8 * len(lengths)].cast("q")
        for place, length in enumerate(lengths):
            table[place] = length
        begin = _up(8 * len(lengths))
        target[begin : begin + len(self.stream)] = self.stream
        begin += _up(len(self.stream))
        for buffer in self.buffers:
            target[begin : begin + buffer.nbytes] = buffer
            begin += _up(buffer.nbytes)


def not_pickled(error: Exception) -> PayloadError:
    """Return the error of a put."""
    return PayloadError(f"put: the object cannot be pickled: {type(error).__name__}: {error}", operation="put")


def raw(found: Sequence[pickle.PickleBuffer], refuse: Refuse = not_pickled) -> list[memoryview]:
    """Return the buffers that the pickler left out of its stream."""
    try:
        return [buffer.raw() for buffer in found]
    except BufferError as error:
        raise refuse(error) from error


def dump(thing: object, refuse: Refuse = not_pickled) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """Pickle an object; return the stream, and the buffers that are not in it.

    Raises:
        PayloadError: It cannot be pickled. ``refuse`` makes the error.
    """
    found: list[pickle.PickleBuffer] = []
    try:
        return _DUMPS(thing, _PROTOCOL, buffer_callback=found.append), found
    except Exception as error:
        raise refuse(error) from error


def encode(thing: object, refuse: Refuse = not_pickled) -> Encoded:
    """Pickle an object.

    Raises:
        PayloadError: It cannot be pickled. ``refuse`` makes the error.
    """
    stream, found = dump(thing, refuse)
    return Encoded(stream, raw(found, refuse))


class Window:
    """A file that a pickler writes straight into memory. What does not fit is counted and dropped."""

    def __init__(self, target: memoryview) -> None:
        self._target = target
        self.nbytes = 0

    def write(self, piece: Any) -> int:
        """Take the next bytes of the stream."""
        length = len(piece) if type(piece) is bytes else memoryview(piece).nbytes
        end = self.nbytes + length
        if end <= len(self._target):
            self._target[self.nbytes : end] = piece
        self.nbytes = end
        return length


def encode_into(thing: object, target: memoryview, refuse: Refuse = not_pickled) -> tuple[int, bool]:
    """Pickle an object straight into memory.

    Returns:
        How many bytes it has, which may be more than there is room for; and whether it has buffers: they were left out.

    Raises:
        PayloadError: It cannot be pickled. ``refuse`` makes the error.
    """
    window = Window(target)
    found: list[pickle.PickleBuffer] = []
    try:
        pickle.Pickler(window, _PROTOCOL, buffer_callback=found.append).dump(thing)
    except Exception as error:
        raise refuse(error) from error
    return window.nbytes, bool(found)


def decode(payload: memoryview | bytes, parts: int, *, views: bool) -> Any:
    """Return the object of a payload with that many buffers. ``views``: they are the memory itself, read-only."""
    if not parts:
        return _LOADS(payload)
    payload = memoryview(payload)
    lengths = payload[: 8 * (1 + parts)].cast("q").tolist()
    begin = _up(8 * (1 + parts))
    stream = payload[begin : begin + lengths[0]]
    begin += _up(lengths[0])
    buffers: list[Any] = []
    for length in lengths[1:]:
        buffer = payload[begin : begin + length]
        buffers.append(buffer.toreadonly() if views else bytearray(buffer))
        begin += _up(length)
    return pickle.loads(stream, buffers=buffers)


def item_of(payload: memoryview | bytes, parts: int, operation: str) -> Any:
    """Return the item of a queue that a payload is.

    Raises:
        PayloadError: It cannot be made in this process.
    """
    try:
        return decode(payload, parts, views=False) if parts else _LOADS(payload)
    except Exception as error:  # unpickling may raise anything
        raise not_unpickled(operation, error) from error
