"""The standard library as subjects: a pipe for each reader, a queue for each reader."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("Pipes", "Queues")

_FORK = multiprocessing.get_context("fork")
_DEPTH = 8


class Pipes(Subject):
    """``multiprocessing.Pipe`` for each reader; the batch is pickled once."""

    name = "Pipe per reader, pickled once"

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        self._pipes = [_FORK.Pipe(duplex=False) for _ in range(ranks)]

    def open_reader(self, rank: int, orders: Any) -> Get:
        receive = self._pipes[rank][0].recv_bytes
        return lambda: pickle.loads(receive())

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        for _, sink in self._pipes:
            sink.send_bytes(stream)


class Queues(Subject):
    """``multiprocessing.Queue`` for each reader, with room for eight; each pickles for itself, in its thread."""

    name = "Queue per reader"

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        self._queues: list[multiprocessing.queues.Queue[Batch]] = [_FORK.Queue(_DEPTH) for _ in range(ranks)]

    def open_reader(self, rank: int, orders: Any) -> Get:
        return self._queues[rank].get

    def put(self, batch: Batch) -> None:
        for queue in self._queues:
            queue.put(batch)
