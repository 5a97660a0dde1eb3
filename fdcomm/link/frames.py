"""The messages of a link: their frames, and values and errors as bytes.

A message is ``[kind, link, header]``, or ``[kind, link, header, body, buffers...]``. ``link`` is the handle's random
name, which only it and the host know. Values are MessagePack: numbers, strings, bytes, None, lists, dicts, tuples and
sets of such. An error crosses as the name of its class and its fields. Nothing is ever unpickled here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

import fdcomm.errors
from fdcomm.errors import FdcommError, PayloadError, ProtocolViolationError, UndecodableError
from fdcomm.zsocket.codec import Buffer

__all__ = (
    "ANSWER",
    "BYE",
    "CALL",
    "ENDED",
    "LINK_BYTES",
    "PING",
    "PONG",
    "QUIT",
    "answer",
    "header",
    "numbers",
    "outcome",
    "pack",
    "unpack",
)

# From a handle: a call, a sign of life, a goodbye, and an end without one. The digit is the version.
CALL, PING, BYE, QUIT = b"1C", b"1P", b"1B", b"1Q"
# From a host: an answer, a sign of life, and that the session has ended.
ANSWER, PONG, ENDED = b"1A", b"1O", b"1E"
LINK_BYTES: Final = 16

_TUPLE, _SET, _FROZEN, _BUFFER, _PAIRS = 1, 2, 3, 4, 5
_APART_FROM: Final = 65_536
"""Bytes of this length are sent as a frame of their own, which is not copied."""

_MAKE: Final[dict[int, Any]] = {_TUPLE: tuple, _SET: set, _FROZEN: frozenset, _PAIRS: dict}
_CODES: Final[dict[type[Any], int]] = {tuple: _TUPLE, set: _SET, frozenset: _FROZEN}
_ENCODER = msgspec.msgpack.Encoder()
_DEEPEST: Final = 32
_FIELDS: Final = frozenset({"operation", "missing", "epoch", "waited_s", "request"})


def pack(value: Any) -> list[Buffer]:
    """Return a value as frames.

    Raises:
        PayloadError: Something in it is of no type that crosses.
    """
    buffers: list[Buffer] = []
    try:
        return [_ENCODER.encode(_plain(value, buffers)), *buffers]
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise PayloadError(f"it cannot cross to another machine: {type(error).__name__}: {error}") from error


def unpack(frames: Sequence[Buffer]) -> Any:
    """Return the value of frames.

    Raises:
        UndecodableError: They are damaged.
    """
    if not frames:
        raise UndecodableError("a message has no body")
    decoder: msgspec.msgpack.Decoder[Any]

    def special(code: int, data: memoryview) -> Any:
        if code == _BUFFER:
            return bytes(frames[1 + int.from_bytes(data, "big")])
        items = decoder.decode(data)
        return _MAKE[code](items)

    decoder = msgspec.msgpack.Decoder(ext_hook=special)
    try:
        return decoder.decode(frames[0])
    except Exception as error:  # noqa: BLE001 - whatever a crafted message raises; its text may quote the content
        raise UndecodableError(f"a message of {len(frames[0])} bytes is damaged: {type(error).__name__}") from None


def header(*values: Any) -> bytes:
    """Return a header: a list of numbers, and of lists of numbers."""
    return _ENCODER.encode(values)


def numbers(frame: Buffer, shape: str) -> list[Any]:
    """Return the numbers of a header. ``shape`` has ``n`` for a number >= 0 and ``l`` for a list of such.

    Raises:
        UndecodableError: The header has another shape.
    """
    try:
        found = msgspec.msgpack.decode(frame)
    except Exception:  # noqa: BLE001
        found = None
    if isinstance(found, list) and len(found) == len(shape):
        lists = [item if kind == "l" else [item] for kind, item in zip(shape, found, strict=True)]
        if all(isinstance(items, list) and all(type(n) is int and n >= 0 for n in items) for items in lists):
            return found
    raise UndecodableError(f"a header of {len(frame)} bytes is damaged")


def answer(value: Any, error: BaseException | None = None) -> list[Buffer]:
    """Return the frames of an answer. An error of fdcomm keeps its class and fields; any other is told of."""
    if error is None:
        try:
            return pack((True, value))
        except PayloadError as unsent:
            error = unsent
    if not isinstance(error, FdcommError):
        error = ProtocolViolationError(f"the host refused the call: {type(error).__name__}: {error}")
    fields = {
        "operation": error.operation,
        "missing": error.missing,
        "epoch": error.epoch,
        "waited_s": error.waited_s,
        "request": error.request,
    }
    try:
        return pack((False, type(error).__name__, error.message, fields))
    except PayloadError:  # its request is somebody's object
        return pack((False, type(error).__name__, error.message, fields | {"request": repr(error.request)}))


def outcome(frames: Sequence[Buffer]) -> tuple[Any, FdcommError | None]:
    """Return the value of an answer, or its error. Raises UndecodableError."""
    found = unpack(frames)
    if isinstance(found, tuple) and len(found) == 2 and found[0] is True:
        return found[1], None
    if isinstance(found, tuple) and len(found) == 4 and isinstance(found[3], dict):
        _, name, message, fields = found
        kind = getattr(fdcomm.errors, name, None) if isinstance(name, str) else None
        if isinstance(kind, type) and issubclass(kind, FdcommError) and set(fields) <= _FIELDS:
            return None, kind(str(message), **fields)
    raise UndecodableError("an answer is damaged, or of another version of fdcomm")


def _plain(value: Any, buffers: list[Buffer], depth: int = 0) -> Any:
    """Return the value with tuples and sets marked, and large bytes apart."""
    kind = type(value)
    if kind in (int, str, bool, float) or value is None:
        return value
    if kind is bytes:
        if len(value) < _APART_FROM:
            return value
        buffers.append(value)
        return msgspec.msgpack.Ext(_BUFFER, (len(buffers) - 1).to_bytes(4, "big"))
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} deep")
    if isinstance(value, dict):
        if all(type(key) in (int, str) for key in value):
            return {key: _plain(item, buffers, depth + 1) for key, item in value.items()}
        return msgspec.msgpack.Ext(_PAIRS, _ENCODER.encode(_plain([*map(list, value.items())], buffers, depth + 1)))
    code = _CODES.get(kind, _TUPLE if isinstance(value, tuple) else 0)
    if code or kind is list:
        items = [_plain(item, buffers, depth + 1) for item in value]
        return msgspec.msgpack.Ext(code, _ENCODER.encode(items)) if code else items
    if isinstance(value, (int, str)):  # an enumeration's members, numpy's scalars are none
        return value + 0 if isinstance(value, int) else str(value)
    raise TypeError(f"a {kind.__name__} is no plain value")
