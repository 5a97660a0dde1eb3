"""``ZmqLink``: what a queue's ``transport="zmq"`` may be told. Needs nothing but the standard library."""

from __future__ import annotations

import importlib.util
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fdcomm.errors import ConfigError

if TYPE_CHECKING:
    from fdcomm.zsocket.curve import CurveKeys

__all__ = ("WINDOW", "ZmqLink", "endpoint_of")

WINDOW: Final = 1024
"""Most calls of one handle that are open at once."""

_SHORTEST_S: Final = 0.1
_PACKAGES: Final = ("zmq", "msgspec")


@dataclass(frozen=True)
class ZmqLink:
    """``transport=ZmqLink(...)`` is ``transport="zmq"`` with these options.

    Attributes:
        keys: The server's keys, or those of clients (``CurveKeys.for_clients()``). None on this machine only: the host
            then makes keys, and hands them to clients in a file that only this user may read.
        grace_s: Seconds of silence after which the other side counts as lost, at least 0.1. Each side has its own: of a
            server it is about its clients, of a client about its host. A connection that breaks and is back within the
            limits of both is not noticed by callers, but for the time it takes.
        heartbeat_s: Seconds between two signs of life; 0: a tenth of ``grace_s``.
    """

    keys: CurveKeys | None = None
    grace_s: float = 10.0
    heartbeat_s: float = 0.0

    def check(self) -> None:
        """Raise ConfigError for what can never work, also when pyzmq or msgspec is not installed."""
        for name in _PACKAGES:
            if importlib.util.find_spec(name) is None:
                raise ConfigError(f"transport='zmq' needs the package {name}: pip install 'fdcomm[zmq]'")
        for name, value in (("grace_s", self.grace_s), ("heartbeat_s", self.heartbeat_s)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
                raise ConfigError(f"{name}={value!r} must be a number of seconds")
        if self.grace_s < _SHORTEST_S or self.beat_s > self.grace_s / 2:
            raise ConfigError(
                f"grace_s={self.grace_s!r} must be at least {_SHORTEST_S}, and at least twice heartbeat_s={self.beat_s}"
            )

    @property
    def beat_s(self) -> float:
        """Seconds between two signs of life."""
        return self.heartbeat_s or self.grace_s / 10

    def orders(self, host: str) -> dict[str, Any]:
        """Return what a host process is told (JSON), with the folders of the packages that it needs."""
        keys = self.keys
        own = [] if keys is None else [keys.server_public, keys.client_public, keys.client_secret, keys.server_secret]
        found = [importlib.util.find_spec(name) for name in _PACKAGES]
        packages = sorted({os.path.dirname(os.path.dirname(spec.origin)) for spec in found if spec and spec.origin})
        return {
            "packages": packages,
            "host": host,
            "keys": own,
            "grace_s": self.grace_s,
            "heartbeat_s": self.heartbeat_s,
        }


def endpoint_of(host: str, port: int) -> str:
    """Return ZeroMQ's name of an address.

    Raises:
        ConfigError: The name cannot be resolved.
    """
    try:
        address = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise ConfigError(f"cannot resolve the address {host!r}: {error}") from error
    return f"tcp://[{address}]:{port}" if ":" in address else f"tcp://{address}:{port}"
