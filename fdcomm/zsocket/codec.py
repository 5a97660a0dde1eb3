"""Objects as bytes and back. Which format a message has is seen from its first byte; what is not allowed is refused.

A message is an envelope ``(VERSION, sent_ns, data)`` in one of three formats: JSON, MessagePack, or pickle. Its first
byte is ``[``, 0x93 or 0x80. Pickle runs what the sender wishes, so it is for who asks for it.
"""

from __future__ import annotations

import pickle
import time
from multiprocessing.reduction import ForkingPickler
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from fdcomm.errors import ConfigError, PayloadError, UndecodableError

__all__ = ("FORMATS", "Buffer", "Format", "Received", "decode", "encode", "format_of")

Format: TypeAlias = Literal["json", "msgpack", "pickle"]
Buffer: TypeAlias = "bytes | bytearray | memoryview[int]"

FORMATS: Final[tuple[Format, ...]] = ("json", "msgpack", "pickle")
VERSION: Final = 1

_FIRST: Final[dict[int, Format]] = {ord("["): "json", 0x93: "msgpack", 0x80: "pickle"}
_JSON = msgspec.json.Encoder()
_MSGPACK = msgspec.msgpack.Encoder()


class Received(NamedTuple):
    """A decoded message, and when it was sent (nanoseconds of the wall clock of the sender)."""

    data: Any
    sent_ns: int


def encode(data: Any, how: Format) -> Buffer:
    """Return a message.

    Raises:
        PayloadError: The object cannot be written in this format. Nothing was sent.
    """
    envelope = (VERSION, time.time_ns(), data)
    try:
        if how == "pickle":
            return bytes(ForkingPickler.dumps(envelope, pickle.HIGHEST_PROTOCOL))
        if how == "msgpack":
            return _MSGPACK.encode(envelope)
        if how == "json":
            return _JSON.encode(envelope)
    except Exception as error:
        raise PayloadError(
            f"a {type(data).__name__} cannot be sent as {how}: {type(error).__name__}: {error}"
        ) from error
    raise ConfigError(f"{how!r} is none of the formats {', '.join(FORMATS)}")


def format_of(message: Buffer) -> Format | None:
    """Return the format that the first byte says; None if it is none of them."""
    return _FIRST.get(message[0]) if len(message) else None


def decode(message: Buffer, allowed: tuple[Format, ...]) -> Received:
    """Return what was sent.

    Args:
        message: One message.
        allowed: Formats that the receiver accepts.

    Raises:
        UndecodableError: Another format, or bytes that are no message. The error has nothing of the content.
    """
    how = format_of(message)
    if how is None or how not in allowed:
        raise UndecodableError(
            f"a message of {len(message)} bytes is {how or 'of no known format'}; accepted: {', '.join(allowed)}"
            + ("; pickle runs code of its sender: pass allow_pickle=True if you trust it" if how == "pickle" else "")
        )
    try:
        if how == "pickle":
            envelope = pickle.loads(message)
        else:
            envelope = (msgspec.json if how == "json" else msgspec.msgpack).decode(message)
        version, sent_ns, data = envelope
    except Exception as error:  # noqa: BLE001  (whatever a crafted message raises)
        # Not chained, and without the error's text: it may quote the content.
        raise UndecodableError(f"a message of {len(message)} bytes is no valid {how}: {type(error).__name__}") from None
    if version != VERSION or type(sent_ns) is not int:
        raise UndecodableError(f"a message of {len(message)} bytes is not of this version of fdcomm")
    return Received(data, sent_ns)
