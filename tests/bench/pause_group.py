"""A pause of several ranks, each a process, whose jobs end at about the same time: ``python -m tests.bench.pause``."""

from __future__ import annotations

import multiprocessing
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from fdcomm import EngineCacheQueue, PauseControl

__all__ = ("Group", "measure_group")


@dataclass(frozen=True)
class Group:
    """Medians, in milliseconds.

    Attributes:
        ranks: How many there were.
        after: The pause's return after the end of the last job.
        trip: One round trip to the host by the client, after as long a rest as the jobs'.
    """

    ranks: int
    after: float
    trip: float

    def __str__(self) -> str:
        return (
            f"a pause of {self.ranks} ranks in processes of their own, whose jobs end together: it returns "
            f"{self.after:.2f} ms after the last job's end (one round trip {self.trip:.2f})"
        )


def _rank(address: tuple[str, int], ranks: int, number: int, pipe: Connection[Any, Any], length_s: float) -> None:
    """Run a job whenever the pipe says so, and tell when it began and when it ended."""

    def work() -> float:
        job = control.admit()
        pipe.send("admitted")
        threading.Event().wait(length_s)
        ended = time.perf_counter()
        job.done()
        return ended

    with EngineCacheQueue(address, num_client=ranks, client_id=number) as queue, ThreadPoolExecutor(1) as pool:
        with PauseControl(queue, rank=True) as control:
            pool.submit(control.statistics).result()  # a thread's first call opens its connection
            pipe.send("there")
            while pipe.recv():
                pipe.send(pool.submit(work).result())


def measure_group(ranks: int = 4, length_s: float = 0.01, count: int = 60) -> Group:
    """Measure pauses while a job of this length runs in each rank."""
    context = multiprocessing.get_context("spawn")
    after: list[float] = []
    trips: list[float] = []
    with EngineCacheQueue(("127.0.0.1", 0), is_server=True, num_client=ranks) as server, ExitStack() as undo:
        api, pipes = PauseControl(server), []
        for number in range(ranks):
            pipe, end = context.Pipe()
            process = context.Process(target=_rank, args=(server.address, ranks, number, end, length_s), daemon=True)
            process.start()
            undo.callback(process.join)
            undo.callback(pipe.send, False)
            pipes.append(pipe)
        for pipe in pipes:
            pipe.recv()
        for _ in range(count):
            for pipe in pipes:
                pipe.send(True)
            for pipe in pipes:
                pipe.recv()
            api.pause()
            returned = time.perf_counter()
            after.append(returned - max(pipe.recv() for pipe in pipes))
            api.resume()
            threading.Event().wait(length_s)
            begin = time.perf_counter()
            api.statistics()
            trips.append(time.perf_counter() - begin)
    return Group(ranks, statistics.median(after) * 1e3, statistics.median(trips) * 1e3)
