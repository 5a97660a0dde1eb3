"""Keys for connections between machines (CURVE), and who of the clients is let in."""

from __future__ import annotations

import hmac
import json
import os
import stat
from dataclasses import asdict, dataclass, replace
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator

from fdcomm.errors import ConfigError, UnsafeConfigError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.zsocket.context import at_end, context

__all__ = ("CurveKeys", "client_options", "server_options")


@dataclass(frozen=True)
class CurveKeys:
    """The keys of a server and of its clients, as ZeroMQ writes them (Z85, 40 characters each).

    Attributes:
        server_public: Who a client talks to.
        client_public: Who the server lets in: nobody else.
        client_secret: For clients.
        server_secret: For the server; "" in what clients are given.
    """

    server_public: str
    client_public: str
    client_secret: str
    server_secret: str = ""

    def __repr__(self) -> str:
        return f"CurveKeys(server_public={self.server_public!r})"

    @staticmethod
    def generate() -> CurveKeys:
        """Return new random keys."""
        (public, secret), (client_public, client_secret) = zmq.curve_keypair(), zmq.curve_keypair()
        return CurveKeys(public.decode(), client_public.decode(), client_secret.decode(), secret.decode())

    def for_clients(self) -> CurveKeys:
        """Return the keys without the server's secret."""
        return replace(self, server_secret="")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a new file that only this user may read. FileExistsError: it is there."""
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CurveKeys:
        """Read a file that :meth:`save` has written.

        Raises:
            UnsafeConfigError: Others may read it, or it is somebody else's.
            ConfigError: It has no keys.
        """
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise UnsafeConfigError(f"{os.fspath(path)} must be a file of uid {os.getuid()} with mode 0600")
            try:
                keys = CurveKeys(**json.load(file))
                lengths = {len(key.encode("ascii")) for key in asdict(keys).values() if key or not keys.server_secret}
            except (ValueError, TypeError, AttributeError):
                lengths = set()
        if lengths - {0} != {40}:
            raise ConfigError(f"{os.fspath(path)} has no keys; write it with CurveKeys.save")
        return keys


class _Gate:
    """ZeroMQ asks here whom a server lets in; one thread for all servers of the process."""

    def __init__(self) -> None:
        self.keys: dict[str, bytes] = {}
        self._asked: Any = None
        self._inherited: list[Any] = []
        close_in_child(self)

    def add(self, keys: CurveKeys) -> str:
        """Let the client of these keys into a new domain, and return its name."""
        with no_fork():
            if self._asked is None:
                self._asked = ThreadAuthenticator(context())
                self._asked.start()
                at_end(self._stop)
            domain = f"fdcomm-{len(self.keys)}"
            self.keys[domain] = keys.client_public.encode()
            self._asked.configure_curve_callback(domain, self)
        return domain

    def callback(self, domain: str, key: bytes) -> bool:
        """Return True if the client may come in. Called by the authenticator."""
        return hmac.compare_digest(key, self.keys.get(domain, b""))

    def after_fork_in_child(self) -> None:
        """The thread is the parent's. The object is kept: its end would talk to it."""
        self._inherited.append(self._asked)
        self._asked = None
        self.keys = {}
        close_in_child(self)

    def _stop(self) -> None:
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.stop()


_gate = _Gate()


def server_options(keys: CurveKeys) -> dict[str, Any]:
    """Return the options of a server's socket, which lets in the client of these keys only.

    Raises:
        ConfigError: The server's secret is not among the keys.
    """
    if not keys.server_secret:
        raise ConfigError("the keys lack the server's secret: they are those of clients")
    return {
        "curve_server": True,
        "curve_publickey": keys.server_public.encode(),
        "curve_secretkey": keys.server_secret.encode(),
        "zap_domain": _gate.add(keys).encode(),
    }


def client_options(keys: CurveKeys) -> dict[str, Any]:
    """Return the options of a client's socket."""
    return {
        "curve_serverkey": keys.server_public.encode(),
        "curve_publickey": keys.client_public.encode(),
        "curve_secretkey": keys.client_secret.encode(),
    }
