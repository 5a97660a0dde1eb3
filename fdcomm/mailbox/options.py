"""What clients and servers share: files, limits, formats, and the rules of safe addresses."""

from __future__ import annotations

import os
import socket
from typing import Any, Final

import msgspec
import zmq

from fdcomm.deadline import Timeout
from fdcomm.errors import ConfigError, PayloadError, UndecodableError, UnsafeConfigError
from fdcomm.rendezvous import is_loopback
from fdcomm.zsocket.codec import Buffer, Format
from fdcomm.zsocket.curve import CurveKeys
from fdcomm.zsocket.paths import socket_file

__all__ = (
    "LINGER_S",
    "TCP_OPTIONS",
    "default_limit",
    "file_of",
    "formats",
    "limit_of",
    "numeric",
    "pack",
    "require_safe",
    "unpack",
)

LINGER_S: Final = 1.0
"""Seconds that what is unsent is still sent for after a close, and at the end of the process."""

TCP_OPTIONS: Final = {"heartbeat_ivl": 2000, "heartbeat_timeout": 6000, "handshake_ivl": 5000}
"""A machine that goes away without a word is noticed within 8 seconds."""

_FILES: Final = {
    int(zmq.PULL): "{}.socket",
    int(zmq.PUSH): "{}.socket",
    int(zmq.ROUTER): "router_{}.ipc",
    int(zmq.DEALER): "router_{}.ipc",
}
_BATCH_FILE: Final = "batch_{}.ipc"
_DEFAULT_LIMIT: Final = 10_000


def file_of(name: str | int, mode: int, *, server: bool) -> str:
    """Return the path of the socket for a name: a server that pulls has that of clients that push, and so on.

    Raises:
        ConfigError: No such mode, or no such name.
    """
    side = "a server" if server else "a client"
    if mode not in _FILES or mode == (zmq.DEALER if server else zmq.ROUTER):
        modes = "PULL, ROUTER and PUSH" if server else "PUSH, DEALER and PULL"
        raise ConfigError(f"{side} has the modes zmq.{modes}, not {mode!r}")
    batches = mode == (zmq.PUSH if server else zmq.PULL)
    return socket_file((_BATCH_FILE if batches else _FILES[int(mode)]).format(name))


def default_limit() -> int:
    """Return how many messages may wait for one peer: ``FD_ZMQ_SNDHWM``, else 10,000. 0 is no limit."""
    text = os.environ.get("FD_ZMQ_SNDHWM", str(_DEFAULT_LIMIT))
    if not text.isascii() or not text.isdigit():
        raise ConfigError(f"FD_ZMQ_SNDHWM={text!r} is not a number of messages; correct or unset it")
    return int(text)


def formats(allow_pickle: bool) -> tuple[Format, ...]:
    """Return what a receiver of objects accepts; the first is what a sender writes."""
    return ("pickle", "msgpack") if allow_pickle else ("msgpack",)


def limit_of(flags: int, timeout: Timeout) -> Timeout:
    """Return the time limit that ZeroMQ's flags ask for."""
    if not flags:
        return timeout
    if int(flags) != zmq.NOBLOCK:
        raise ConfigError(f"flags={flags!r}: only zmq.NOBLOCK is possible here")
    return 0.0


def require_safe(host: str, keys: CurveKeys | None, allow_pickle: bool) -> None:
    """Refuse what would let strangers in.

    Raises:
        UnsafeConfigError: No keys, and an address that other machines reach, or pickle.
    """
    if keys is not None:
        return
    if not is_loopback(host):
        raise UnsafeConfigError(
            f"{host} can be reached from other machines: pass keys=CurveKeys..., or host='127.0.0.1'"
        )
    if allow_pickle:
        raise UnsafeConfigError("allow_pickle=True over TCP needs keys: any user of this machine could run code here")


def numeric(host: str, port: int) -> str:
    """Return ``tcp://<numeric address>:<port>``. ConfigError: the name cannot be resolved."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"cannot resolve the address {host!r}: {error}") from error
    found: Any = address[0]
    return f"tcp://[{found}]:{port}" if family == socket.AF_INET6 else f"tcp://{found}:{port}"


def pack(data: Any) -> bytes:
    """Return anything as MessagePack. PayloadError: it cannot be."""
    try:
        return msgspec.msgpack.encode(data)
    except Exception as error:
        raise PayloadError(f"it cannot be sent as msgpack: {type(error).__name__}: {error}") from error


def unpack(message: Buffer) -> Any:
    """Return what MessagePack says. UndecodableError: it is none."""
    try:
        return msgspec.msgpack.decode(message)
    except msgspec.MsgspecError as error:
        raise UndecodableError(f"a message of {len(message)} bytes is no msgpack: {type(error).__name__}") from None
