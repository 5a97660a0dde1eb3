"""pyzmq as subjects: a PUSH socket for each reader, and PUB/SUB, both over ipc."""

from __future__ import annotations

import pickle
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject, imported

__all__ = ("PubSub", "Push")

_DEPTH = 8
"""High water mark at each end: as many batches as the deeper ring has places."""


class _ZeroMQ(Subject):
    """What both have: a context of this process."""

    def check(self) -> None:
        imported("zmq", "pyzmq")

    def load(self) -> None:
        self._zmq = imported("zmq", "pyzmq")

    def _open(self, kind: str) -> Any:
        self._context = self._zmq.Context()
        return self._socket(kind)

    def _socket(self, kind: str) -> Any:
        sock = self._context.socket(getattr(self._zmq, kind))
        sock.setsockopt(self._zmq.SNDHWM, _DEPTH)
        sock.setsockopt(self._zmq.RCVHWM, _DEPTH)
        sock.setsockopt(self._zmq.LINGER, 0)
        return sock

    def close(self) -> None:
        self._context.destroy(0)

    @staticmethod
    def _getter(sock: Any) -> Get:
        return lambda: pickle.loads(sock.recv(copy=False).buffer)


class Push(_ZeroMQ):
    """A PUSH socket for each reader; the batch is pickled once, and large ones are not copied for each socket."""

    name = "pyzmq PUSH per reader"

    def open_writer(self) -> list[str]:
        self._context = self._zmq.Context()
        self._sockets = [self._socket("PUSH") for _ in range(self.ranks)]
        addresses = [f"ipc://{self.folder}/{rank}" for rank in range(self.ranks)]
        for sock, address in zip(self._sockets, addresses, strict=True):
            sock.bind(address)
        return addresses

    def open_reader(self, rank: int, orders: Any) -> Get:
        sock = self._open("PULL")
        sock.connect(orders[rank])
        return self._getter(sock)

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        for sock in self._sockets:
            sock.send(stream, copy=len(stream) < 65536)


class PubSub(_ZeroMQ):
    """One XPUB socket that waits instead of dropping, and a SUB socket for each reader."""

    name = "pyzmq PUB/SUB"

    def open_writer(self) -> str:
        self._sock = self._open("XPUB")
        self._sock.setsockopt(self._zmq.XPUB_NODROP, 1)
        self._sock.setsockopt(self._zmq.XPUB_VERBOSE, 1)  # every subscription is told, not only the first
        address = f"ipc://{self.folder}/all"
        self._sock.bind(address)
        return address

    def open_reader(self, rank: int, orders: Any) -> Get:
        sock = self._open("SUB")
        sock.connect(orders)
        sock.setsockopt(self._zmq.SUBSCRIBE, b"")
        return self._getter(sock)

    def settle(self) -> None:
        for _ in range(self.ranks):
            self._sock.recv()

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        self._sock.send(stream, copy=len(stream) < 65536)
