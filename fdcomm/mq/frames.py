"""What travels: a header, and the message or where its payload is."""

from __future__ import annotations

import pickle
import struct
from typing import Any, Final, NamedTuple

from fdcomm.errors import PayloadError, UndecodableError
from fdcomm.zsocket.codec import Buffer, decode, encode

__all__ = (
    "BYTES",
    "CODED",
    "HEADER",
    "IN_MEMORY",
    "PICKLED",
    "RAW_IN_MEMORY",
    "Message",
    "coded",
    "decoded",
    "framed",
    "id_of",
    "peer_of",
)

# Kinds of messages. The last two have their payload in shared memory, and the frame says where.
BYTES: Final = 0xB0
CODED: Final = 0xB1
PICKLED: Final = 0xB2
RAW_IN_MEMORY: Final = 0xB3
IN_MEMORY: Final = 0xB4

HEADER: Final = struct.Struct("<BQQd")
"""Kind, number, base (``spec/fmq.toml``), and when it was put (seconds of the wall clock)."""

# Up to here header and message are one part: copying is cheaper than a second part.
_ONE_PART: Final = 65_536

_PEER: Final = struct.Struct("<2s8sI")
_MAGIC: Final = b"fq"


class Message(NamedTuple):
    """A message as its consumer gets it.

    Attributes:
        payload: What was put.
        producer: Whose it is: the id of the producer's handle.
        number: Its number among the messages of that producer, from 1.
        timestamp: When it was put: seconds of the producer's wall clock.
        nbytes: Bytes that went through shared memory; 0 for a message that went through the socket.
    """

    payload: Any
    producer: str
    number: int
    timestamp: float
    nbytes: int = 0

    @property
    def msg_id(self) -> str:
        """What identifies the message, also when it is delivered again."""
        return f"{self.producer}-{self.number}"


def peer_of(producer: bytes, connection: int) -> bytes:
    """Return the routing id of a producer's connection."""
    return _PEER.pack(_MAGIC, producer, connection)


def id_of(peer: bytes) -> tuple[bytes, int] | None:
    """Return producer and connection of a routing id; None for that of something else."""
    if len(peer) != _PEER.size:
        return None
    magic, producer, connection = _PEER.unpack(peer)
    return (producer, connection) if magic == _MAGIC else None


def framed(kind: int, number: int, base: int, timestamp: float, body: Buffer) -> tuple[Buffer, ...]:
    """Return the parts of a message as it travels."""
    header = HEADER.pack(kind, number, base, timestamp)
    return (header + body,) if len(body) <= _ONE_PART else (header, body)


def coded(payload: object, local: bool, pickles: bool) -> tuple[int, Buffer]:
    """Return kind and bytes of a message that goes through the socket.

    Args:
        payload: The object.
        local: Both ends are processes of one user on this machine.
        pickles: Pickle is allowed all the same.

    Raises:
        PayloadError: It cannot be written.
    """
    if type(payload) is bytes:
        return BYTES, payload
    if not local:
        return CODED, encode(payload, "pickle" if pickles else "msgpack")
    try:
        return PICKLED, pickle.dumps(payload, 5)
    except Exception as error:
        raise PayloadError(f"a {type(payload).__name__} cannot be pickled: {type(error).__name__}: {error}") from error


def decoded(kind: int, body: Buffer, local: bool, pickles: bool) -> Any:
    """Return the object of a message that came through the socket.

    Raises:
        UndecodableError: It is of another kind, or damaged. The error has nothing of the content.
    """
    if kind == BYTES:
        return bytes(body)
    if kind == CODED:
        return decode(body, ("msgpack", "pickle") if pickles or local else ("msgpack",)).data
    if kind != PICKLED or not (local or pickles):
        raise UndecodableError(f"a message of {len(body)} bytes is of a kind that is not accepted here ({kind:#x})")
    try:
        return pickle.loads(body)
    except Exception as error:  # noqa: BLE001  (whatever a damaged message raises)
        # Not chained, and without the error's text: it may quote the content.
        raise UndecodableError(f"a message of {len(body)} bytes is no valid pickle: {type(error).__name__}") from None
