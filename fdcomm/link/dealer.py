"""The handle's socket: it drops what cannot be sent, can be renewed, and says why no connection came about."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any, Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from fdcomm.errors import AuthError, CommTimeoutError, ConfigError, FdcommError, HostLostError, HostNotFoundError
from fdcomm.link.options import ZmqLink
from fdcomm.runtime import Runtime
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.curve import client_options
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Dealer",)

_LINGER_S: Final = 0.5
_HANDSHAKE_S: Final = 10.0
"""Seconds for the handshake with somebody who listens."""


class Dealer:
    """A DEALER socket to one host. Safe to use from several threads.

    Args:
        endpoint: ZeroMQ's name of the host's door.
        link: Keys and limits.
        runtime: Threads and time.
    """

    def __init__(self, endpoint: str, link: ZmqLink, runtime: Runtime) -> None:
        if link.keys is None:
            raise ConfigError("transport='zmq' needs the host's keys: pass transport=ZmqLink(keys=...)")
        self._endpoint = endpoint
        self._runtime = runtime
        self._options: dict[str, Any] = {**client_options(link.keys), "ipv6": "[" in endpoint}
        milliseconds = max(1, round(link.grace_s * 1000))
        self._options |= {"heartbeat_ivl": milliseconds // 3, "heartbeat_timeout": milliseconds, "reconnect_ivl": 20}
        self._options |= {"reconnect_ivl_max": max(20, milliseconds // 10), "connect_timeout": milliseconds}
        self._closed = False
        self._port = self._new()
        self._monitor: Any = self._port.socket.get_monitor_socket(
            zmq.EVENT_HANDSHAKE_SUCCEEDED
            | zmq.EVENT_HANDSHAKE_FAILED_AUTH
            | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
            | zmq.EVENT_CONNECTED
            | zmq.EVENT_CLOSED
            | zmq.EVENT_DISCONNECTED
        )
        self._socket = LockedSocket(self._port, "the link to the host", runtime)
        self._port.connect(endpoint)

    def wait_until_connected(self, seconds: float) -> None:
        """Wait until the host has accepted the keys.

        Args:
            seconds: How long to wait for somebody who listens.

        Raises:
            HostNotFoundError: Nobody listens.
            AuthError: The host does not accept the keys, or has other ones.
            HostLostError: Somebody listens but does not answer.
        """
        monitor, self._monitor = self._monitor, None
        reached = refused = False
        end = time.monotonic() + seconds
        last = time.monotonic() + max(seconds, _HANDSHAKE_S)
        try:
            while time.monotonic() < last:
                if not monitor.poll(50):
                    continue
                event = recv_monitor_message(monitor)["event"]
                if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                    return
                if event == zmq.EVENT_CONNECTED:
                    reached = True
                elif event == zmq.EVENT_CLOSED and not reached:
                    refused = True
                    if time.monotonic() >= end:
                        break
                elif reached:
                    raise AuthError(f"the host at {self._endpoint} has other keys, or does not let these in")
        finally:
            self._port.socket.disable_monitor()
            monitor.close(0)
        if reached:
            raise HostLostError(f"somebody listens at {self._endpoint}, and does not answer")
        why = "refuses connections" if refused else "does not answer"
        raise HostNotFoundError(
            f"{self._endpoint} {why}: no fdcomm host serves it; start the server first, or pass connect_timeout="
        )

    def send(self, message: Sequence[Buffer]) -> None:
        """Send, or drop: what the host misses it asks for again."""
        with contextlib.suppress(FdcommError):
            self._socket.send(message, "link", timeout=0)

    def receive(self, seconds: float) -> list[Buffer] | None:
        """Return the next message, or None: none came in time.

        Raises:
            ClosedError: The socket was closed, or renewed.
        """
        try:
            return self._socket.receive("link", timeout=seconds)
        except CommTimeoutError:
            return None

    def renew(self) -> None:
        """Drop the connection, and make a new one: what was in the old one may be lost."""
        port = self._new()
        renewed = LockedSocket(port, "the link to the host", self._runtime)
        port.connect(self._endpoint)
        old, self._socket, self._port = self._socket, renewed, port
        old.close()
        if self._closed:
            renewed.close()

    def close(self) -> None:
        """Close; what was sent just before is still sent for half a second. Idempotent."""
        self._closed = True
        self._socket.close()

    def _new(self) -> ZmqPort:
        return ZmqPort(zmq.DEALER, linger_s=_LINGER_S, options=self._options)
