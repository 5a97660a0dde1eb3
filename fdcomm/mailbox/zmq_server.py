"""ZmqIpcServer and ZmqTcpServer."""

from __future__ import annotations

from typing import Any

import zmq

from fdcomm.errors import AddressInUseError, ConfigError
from fdcomm.mailbox import options
from fdcomm.mailbox.server_base import ZmqServerBase
from fdcomm.zsocket.curve import CurveKeys, server_options
from fdcomm.zsocket.paths import Claim

__all__ = ("ZmqIpcServer", "ZmqServerBase", "ZmqTcpServer")


class ZmqIpcServer(ZmqServerBase):
    """A server for processes of this machine and this user. The socket (0600) is in a directory of mode 0700.

    Args:
        name: What clients call it.
        mode: ``zmq.PULL``, ``zmq.ROUTER`` or ``zmq.PUSH``.
        allow_pickle: By default objects are pickled: only processes of this user can reach the socket.
        more: As :class:`ZmqServerBase`.

    Raises:
        AddressInUseError: A live server has the name. What a killed one has left is taken over.
        ConfigError: No socket can have the name.
    """

    def __init__(self, name: str | int, mode: int, *, allow_pickle: bool = True, **more: Any) -> None:
        super().__init__(mode, allow_pickle=allow_pickle, **more)
        self.name = name
        self.file_name = options.file_of(name, mode, server=True)
        self._claim = Claim(self.file_name)
        try:
            self._open(f"ipc://{self.file_name}", {"use_fd": self._claim.listen()})
        except BaseException:
            self._claim.release()
            raise

    def close(self) -> None:
        """End all requests, close, and remove the socket. Idempotent."""
        super().close()
        self._claim.release()


class ZmqTcpServer(ZmqServerBase):
    """A server for other machines.

    Args:
        port: 0 lets the system choose; see the attribute ``port``.
        mode: ``zmq.PULL``, ``zmq.ROUTER`` or ``zmq.PUSH``.
        host: The address to bind, or ``*`` for all. By default all with keys, and 127.0.0.1 without.
        keys: Encrypts, and lets in only the client of these keys. Hand them over with ``CurveKeys.save``.
        allow_pickle: Accept pickled objects, and send them. Needs keys. By default objects are MessagePack.
        more: As :class:`ZmqServerBase`.

    Raises:
        UnsafeConfigError: No keys, for an address that other machines reach, or for pickle.
        AddressInUseError: The port is taken.
    """

    def __init__(
        self,
        port: int,
        mode: int,
        *,
        host: str | None = None,
        keys: CurveKeys | None = None,
        allow_pickle: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(mode, allow_pickle=allow_pickle, **more)
        host = host or ("*" if keys is not None else "127.0.0.1")
        options.require_safe(host, keys, allow_pickle)
        curve = server_options(keys) if keys is not None else {}
        try:
            self._open(f"tcp://{host}:{port}", {**options.TCP_OPTIONS, **curve})
        except zmq.ZMQError as error:
            if error.errno == zmq.EADDRINUSE:
                raise AddressInUseError(f"port {port} of {host} is taken; take another one") from error
            raise ConfigError(f"cannot bind port {port} of {host}: {error}") from error
        self.port = int(self.address.rpartition(":")[2])
