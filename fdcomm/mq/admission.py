"""Who may connect over TCP: those whose CURVE keys the binding side lists."""

from __future__ import annotations

import hashlib
import os
from typing import Final

import zmq
from zmq.utils import z85

from fdcomm.errors import FdcommError, UnsafeConfigError
from fdcomm.forksafety import no_fork
from fdcomm.runtime import SYSTEM
from fdcomm.zsocket.locked import LockedSocket
from fdcomm.zsocket.port import ZmqPort

__all__ = ("admit",)

_WHERE: Final = "inproc://zeromq.zap.01"
_VERSION: Final = b"1.0"


class _Doorkeeper:
    """Answers what ZeroMQ asks about each who wants to connect (its specification 27, ZAP)."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.known: dict[bytes, frozenset[bytes]] = {}
        port = ZmqPort(zmq.REP, linger_s=0.0)
        port.bind(_WHERE)
        self._socket = LockedSocket(port, "the list of CURVE keys")
        SYSTEM.spawn(self._answer, "fdcomm-mq-keys")

    def _answer(self) -> None:
        while not self._socket.closed:
            try:
                request = [bytes(part) for part in self._socket.receive("accept", None)]
                self._socket.send(self._verdict(request), "accept")
            except FdcommError:
                return

    def _verdict(self, request: list[bytes]) -> list[bytes]:
        number = request[1] if len(request) > 1 else b""
        good = len(request) == 7 and request[0] == _VERSION and request[5] == b"CURVE"
        known = self.known.get(request[2], frozenset()) if good else frozenset()
        if good and z85.encode(request[6]) in known:
            return [_VERSION, number, b"200", b"OK", b"", b""]
        return [_VERSION, number, b"400", b"unknown key", b"", b""]


_keeper: list[_Doorkeeper] = []


def admit(clients: tuple[str, ...]) -> bytes:
    """Let those with these public keys in; return the domain for the socket's options.

    Raises:
        UnsafeConfigError: There are none: then everybody who knows the server's key could connect.
    """
    if not clients:
        raise UnsafeConfigError("the side that binds needs the public keys of those who may connect (Curve.clients)")
    keys = frozenset(key.encode() for key in clients)
    domain = b"fdcomm-mq-" + hashlib.sha256(b"".join(sorted(keys))).hexdigest()[:16].encode()
    with no_fork():
        if not _keeper or _keeper[0].process != os.getpid():
            _keeper[:] = [_Doorkeeper()]
        _keeper[0].known[domain] = keys
    return domain
