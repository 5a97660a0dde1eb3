"""Over TCP, messages of 16 to 64 KiB do not wait for the acknowledgement of their header: both sockets are set so."""

from __future__ import annotations

import os
import socket
from typing import Any

from fdcomm.host.server import Front, HostServer
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from fdcomm.wire import Wire

LIMIT_S = 60.0
KEY = b"key"
HELLO = Hello(version=PROTOCOL_VERSION, kind="worker", num_client=1, client_id=0, dp_rank=0, role="reader", pid=1)


def _options(sock: socket.socket) -> dict[str, int]:
    return {
        "TCP_NODELAY": sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY),
        "SO_KEEPALIVE": sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    }


def test_both_ends_send_at_once() -> None:
    front = Front()
    words = memoryview(bytearray(8 * words_needed(HostConfig(1)))).cast("q")
    front.service = HostService(HostConfig(1), SYSTEM, words, is_connected=front.is_connected, refused=front.refused)
    server: Any = HostServer(("127.0.0.1", 0), KEY, front)
    server.start()
    try:
        wire = Wire(server.address, KEY, SYSTEM)
        try:
            session = wire.call("open_session", HELLO, wait_s=LIMIT_S)["session"]
            with socket.socket(fileno=os.dup(wire._connection.fileno())) as ours:
                found = {"client": _options(ours), "host": _options(front._sockets[session])}
            wire.call("close_session", session, wait_s=LIMIT_S)
        finally:
            wire.close()
    finally:
        server.listener._listener._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts, and ends it
        server.listener.close()
    assert found == {end: {"TCP_NODELAY": 1, "SO_KEEPALIVE": 1} for end in ("client", "host")}
