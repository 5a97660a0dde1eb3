"""The consumer's socket behind calls that never block."""

from __future__ import annotations

from typing import Any, Protocol

import zmq

from fdcomm.errors import UndecodableError, UndeliverableError
from fdcomm.forksafety import close_in_child
from fdcomm.mq.config import Config, Endpoint
from fdcomm.mq.link import Bell, bind, secure, wait_for
from fdcomm.zsocket.codec import Buffer
from fdcomm.zsocket.paths import Claim
from fdcomm.zsocket.port import ZmqPort

__all__ = ("Inbox", "ZmqInbox")


class Inbox(Protocol):
    """The consumer's socket. Nobody else can have one of the same queue. All calls but ``wait`` are made under its
    owner's lock."""

    def start(self) -> None:
        """Let producers connect."""

    def receive(self) -> tuple[bytes, Buffer, Buffer | None] | None:
        """Return the peer, the frame and its second part, if it has one, of the next message; None: there is none.

        Raises:
            UndecodableError: What was read has more parts, or fewer.
        """

    def send(self, peer: bytes, data: bytes) -> bool:
        """Send to a peer. False: it is not connected any more, and everything that it has sent can be received."""

    def wait(self, seconds: float | None) -> None:
        """Return when something may have come, at a ring, or after so many seconds. Without the lock."""

    def ring(self) -> None:
        """End the wait, or the next one."""

    def stop(self) -> None:
        """Close the socket. Nobody may be waiting."""

    def release(self) -> None:
        """Let others have one."""


class ZmqInbox:
    """An inbox that is a ZeroMQ socket, on a path that has one live owner."""

    def __init__(self, endpoint: Endpoint, config: Config) -> None:
        """Raises:
        AddressInUseError: Another live consumer has the endpoint.
        UnsafeConfigError: It can be reached from other machines, and has no keys.
        """
        self.endpoint = endpoint
        self._options = {
            "router_mandatory": True,
            "sndhwm": 0,
            "rcvhwm": 0,
            "rcvbuf": config.socket_config.rcvbuf,
            **secure(endpoint, binds=True),
        }
        self._linger_s = config.socket_config.linger / 1000
        self._claim = Claim(endpoint.address) if endpoint.protocol == "ipc" else None
        self._port: ZmqPort | None = None
        self._socket: Any = None
        self._fd: Any = -1
        self._bell = Bell()
        self.bound = ""
        close_in_child(self)

    def start(self) -> None:
        """Bind."""
        self._port = ZmqPort(zmq.ROUTER, linger_s=self._linger_s, options=self._options)
        self._socket = self._port.socket
        self._fd = self._socket.getsockopt(zmq.FD)
        self.bound = bind(self._port, self.endpoint)

    def receive(self) -> tuple[bytes, Buffer, Buffer | None] | None:
        """Return what came next."""
        socket = self._socket
        try:
            peer: bytes = socket.recv(zmq.NOBLOCK)
        except zmq.Again:
            return None
        frame: bytes = socket.recv(zmq.NOBLOCK)  # a router's message has one, after the peer
        body: Buffer | None = None
        if socket.getsockopt(zmq.RCVMORE):
            body = socket.recv(zmq.NOBLOCK, copy=False).buffer
            if socket.getsockopt(zmq.RCVMORE):
                while socket.getsockopt(zmq.RCVMORE):
                    socket.recv(zmq.NOBLOCK)
                raise UndecodableError("a message of too many parts")
        return peer, frame, body

    def send(self, peer: bytes, data: bytes) -> bool:
        """Send to a peer."""
        return self._port is not None and _sent(self._port, peer, data)

    def wait(self, seconds: float | None) -> None:
        """Wait."""
        wait_for((self._fd, self._bell.fd), seconds)
        self._bell.silence()

    def ring(self) -> None:
        """End the wait."""
        self._bell.ring()

    def stop(self) -> None:
        """Close the socket."""
        if self._port is not None:
            self._port.close()
        self._bell.close()

    def release(self) -> None:
        """Give the path up."""
        if self._claim is not None:
            self._claim.release()

    def after_fork_in_child(self) -> None:
        """The child keeps no copy of the connections; bell and claim see to themselves."""
        if self._port is not None:
            self._port.after_fork_in_child()


def _sent(port: ZmqPort, peer: bytes, data: bytes) -> bool:
    try:
        return port.send((peer, data))
    except UndeliverableError:
        return False
