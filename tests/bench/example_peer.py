"""An adapter for BENCH_PEERS, as an example: a stream socket for each reader.

Run it with ``BENCH_PEERS=tests/bench/example_peer.py python -m tests.bench.path --quick``. An adapter is a Python file
with a list ``SUBJECTS``. docs/performance.md says what each method is for.
"""

from __future__ import annotations

import pickle
import socket
import struct

from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("SUBJECTS", "Streams")

_HEAD = struct.Struct("<Q")


class Streams(Subject):
    """A connected pair of stream sockets for each reader; the batch is pickled once, its length goes before it."""

    name = "socketpair per reader"

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        self._pairs = [socket.socketpair() for _ in range(ranks)]

    def open_reader(self, rank: int, orders: object) -> Get:
        file = self._pairs[rank][1].makefile("rb")

        def get() -> Batch:
            (length,) = _HEAD.unpack(file.read(_HEAD.size))
            batch: Batch = pickle.loads(file.read(length))
            return batch

        return get

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        for sink, _ in self._pairs:
            sink.sendall(_HEAD.pack(len(stream)) + stream)

    def close(self) -> None:
        for pair in self._pairs:
            for end in pair:
                end.close()


SUBJECTS = [Streams()]
