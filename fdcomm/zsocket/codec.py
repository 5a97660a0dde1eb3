"""Objects as bytes and back. Which format a message has is seen from its first byte; what is not allowed is refused.

What is sent is a list: a bare one, or an envelope ``(VERSION, sent_ns, data)``. It is written as JSON, MessagePack, or
pickle, and its first byte is ``[``, one of MessagePack's lists, or 0x80. Pickle runs what the sender wishes, so it is
for who asks for it.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import time
from collections import ChainMap
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from fdcomm.errors import ConfigError, PayloadError, UndecodableError

__all__ = ("FORMATS", "Buffer", "Format", "Received", "decode", "dumps", "encode", "format_of", "loads")

Format: TypeAlias = Literal["json", "msgpack", "pickle"]
Buffer: TypeAlias = "bytes | bytearray | memoryview[int]"

FORMATS: Final[tuple[Format, ...]] = ("json", "msgpack", "pickle")
VERSION: Final = 1

_REDUCERS: Any = ChainMap(vars(ForkingPickler)["_extra_reducers"], copyreg.dispatch_table)
_JSON = msgspec.json.Encoder()
_MSGPACK = msgspec.msgpack.Encoder()


class Received(NamedTuple):
    """A decoded message, and when it was sent (nanoseconds of the wall clock of the sender)."""

    data: Any
    sent_ns: int


def _pickled(data: Any) -> bytes:
    """As ``ForkingPickler.dumps``, with what others have registered there, in half of the time."""
    to = io.BytesIO()
    pickler = pickle.Pickler(to, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _REDUCERS
    pickler.dump(data)
    return to.getvalue()  # shared, not copied


def dumps(data: list[Any] | tuple[Any, ...], how: Format) -> Buffer:
    """Return a list as bytes.

    Raises:
        PayloadError: Something in it cannot be written in this format.
    """
    try:
        if how == "pickle":
            return _pickled(data)
        if how == "msgpack":
            return _MSGPACK.encode(data)
        if how == "json":
            return _JSON.encode(data)
    except Exception as error:
        raise PayloadError(f"it cannot be sent as {how}: {type(error).__name__}: {error}") from error
    raise ConfigError(f"{how!r} is none of the formats {', '.join(FORMATS)}")


def loads(message: Buffer, allowed: tuple[Format, ...]) -> Any:
    """Return the list.

    Args:
        message: The bytes.
        allowed: Formats that the receiver accepts.

    Raises:
        UndecodableError: Another format, or bytes that are no list. The error has nothing of the content.
    """
    how = format_of(message)
    if how is None or how not in allowed:
        raise UndecodableError(
            f"a message of {len(message)} bytes is {how or 'of no known format'}; accepted: {', '.join(allowed)}"
            + ("; pickle runs code of its sender: pass allow_pickle=True if you trust it" if how == "pickle" else "")
        )
    try:
        if how == "pickle":
            found = pickle.loads(message)
        else:
            found = (msgspec.json if how == "json" else msgspec.msgpack).decode(message)
    except Exception as error:  # noqa: BLE001  (whatever a crafted message raises)
        # Not chained, and without the error's text: it may quote the content.
        raise UndecodableError(f"a message of {len(message)} bytes is no valid {how}: {type(error).__name__}") from None
    if not isinstance(found, (list, tuple)):
        raise UndecodableError(f"a message of {len(message)} bytes is a {type(found).__name__}, not a list")
    return found


def format_of(message: Buffer) -> Format | None:
    """Return the format of a list, as the first byte says; None if it is none."""
    first = message[0] if len(message) else 0
    if first == 0x80:
        return "pickle"
    if first == 0x5B:  # [
        return "json"
    return "msgpack" if first & 0xF0 == 0x90 or first in (0xDC, 0xDD) else None


def encode(data: Any, how: Format) -> Buffer:
    """Return a message with the time of the call. Raises PayloadError: nothing was sent."""
    return dumps((VERSION, time.time_ns(), data), how)


def decode(message: Buffer, allowed: tuple[Format, ...]) -> Received:
    """Return what was sent. Raises UndecodableError."""
    envelope = loads(message, allowed)
    if len(envelope) != 3 or envelope[0] != VERSION or type(envelope[1]) is not int:
        raise UndecodableError(f"a message of {len(message)} bytes is not of this version of fdcomm")
    return Received(envelope[2], envelope[1])
