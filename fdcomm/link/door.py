"""The host's door for handles on other machines: a ROUTER socket, a thread that receives, and threads that do calls."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import zmq

from fdcomm.errors import AddressInUseError, ClosedError, CommTimeoutError, ConfigError, FdcommError
from fdcomm.link.links import Links, Service
from fdcomm.link.options import ZmqLink, endpoint_of
from fdcomm.link.workers import Workers
from fdcomm.runtime import Runtime
from fdcomm.trace import Recorder
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.curve import CurveKeys, server_options
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Door", "keys_of")

_LINGER_S: Final = 0.1
_AT_ONCE: Final = 64
"""So many messages are received before limits are looked at again."""


def keys_of(own: list[str]) -> CurveKeys:
    """Return the keys that were handed over; new ones if there are none."""
    return CurveKeys(*own) if own else CurveKeys.generate()


class Door:
    """Serves links at an address, with CURVE.

    Args:
        host: Address of this machine to listen on.
        port: Port.
        link: Keys with the server's secret, and limits.
        service: Does the calls.
        instance: The host's number.
        runtime: Threads and time.
        recorder: Where events go; None records nothing.

    Raises:
        AddressInUseError: Another program has the port.
    """

    def __init__(
        self,
        host: str,
        port: int,
        link: ZmqLink,
        service: Service,
        *,
        instance: int,
        runtime: Runtime,
        recorder: Recorder | None = None,
    ) -> None:
        if link.keys is None:
            raise ConfigError("a door needs keys")
        workers = Workers(runtime, "fdcomm-link-call")
        self._runtime = runtime
        self._beat_s = link.beat_s
        options: dict[str, Any] = {"router_mandatory": True, "ipv6": ":" in host, **server_options(link.keys)}
        options |= {"heartbeat_ivl": _ms(link.beat_s), "heartbeat_timeout": _ms(link.grace_s), "handshake_ivl": 5000}
        port_ = ZmqPort(zmq.ROUTER, linger_s=_LINGER_S, options=options)
        self._socket = LockedSocket(port_, "the door of the host", runtime)
        try:
            port_.bind(endpoint_of(host, port))
        except zmq.ZMQError as error:
            self._socket.close()
            if error.errno == zmq.EADDRINUSE:
                raise AddressInUseError(f"port {port} of {host} is taken") from error
            raise ConfigError(f"cannot take port {port} of {host}: {error}") from error
        self.links = Links(
            service,
            self._send,
            workers.submit,
            grace_s=link.grace_s,
            instance=instance,
            runtime=runtime,
            recorder=recorder,
        )
        runtime.spawn(self._run, "fdcomm-link")

    def close(self) -> None:
        """Tell handles that the host ends, and stop serving."""
        if self.links.shut_down():
            self._runtime.sleep(_LINGER_S)  # the process ends next, and would take along what is unsent
        self._socket.close()

    def _send(self, peer: Any, message: list[Buffer]) -> None:
        """Send, or drop: what a handle misses it asks for again."""
        with contextlib.suppress(FdcommError):
            self._socket.send([peer, *message], "link", timeout=0)

    def _run(self) -> None:
        last = self._runtime.monotonic()
        while True:
            try:
                self._receive_some()
            except ClosedError:
                return
            now = self._runtime.monotonic()
            # A host that was stopped, or starved, has not heard what came meanwhile: that time is nobody's silence.
            self.links.tick(min(now - last, 2 * self._beat_s))
            last = now

    def _receive_some(self) -> None:
        """Receive what there is, or wait for a message."""
        wait = True
        for _ in range(_AT_ONCE):
            parts = self._socket.look("link")
            if parts is None:
                if not wait:
                    return
                try:
                    parts = self._socket.receive("link", timeout=self._beat_s)
                except CommTimeoutError:
                    return
            wait = False
            self.links.receive(bytes(parts[0]), parts[1:])


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
