"""Messages over TCP around 16 KiB: a stock BaseManager, which stalls there, beside fdcomm's transport.

``python -m tests.bench.path.tcp <count>`` measures both and prints JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.managers import BaseManager
from typing import Any

from tests.bench.path.board import die_with_parent
from tests.races.pipes import ROOT

__all__ = ("SIZES", "measure", "tcp_ms")

SIZES = (1_000, 16_000, 17_000, 32_768, 60_000, 70_000)
"""Payload bytes. The standard library writes header and body apart above 16 KiB; 64 KiB fill a segment of loopback."""

_FORK = multiprocessing.get_context("fork")
_KEY = os.urandom(16)


class _Stock(BaseManager):
    pass


class _Sink:
    def take(self, content: bytes) -> int:
        return len(content)


def _serve(line: Connection) -> None:
    die_with_parent()
    _Stock.register("sink", _Sink)
    server = _Stock(("127.0.0.1", 0), _KEY).get_server()
    line.send(server.address)
    server.serve_forever()


def _stock(count: int) -> list[float]:
    line, other = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(other,))
    process.start()
    try:
        _Stock.register("sink")
        manager: Any = _Stock(line.recv(), _KEY)
        manager.connect()
        sink = manager.sink()
        return [_call_ms(sink.take, size, count) for size in SIZES]
    finally:
        process.kill()
        process.join()


def _ours(count: int) -> list[float]:
    from fdcomm import EngineWorkerQueue

    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1, transport="tcp") as server:
        address = ("127.0.0.1", server.get_server_port())
        with (
            EngineWorkerQueue(address, client_id=0, role="producer", transport="tcp") as engine,
            EngineWorkerQueue(address, client_id=0, role="reader", transport="tcp") as worker,
        ):

            def through(content: bytes) -> int:
                engine.put_tasks(([content], 1))
                return len(worker.get_tasks()[0][0][0][0])

            found = [_call_ms(through, size, count) for size in SIZES]
        server.cleanup()
    return found


def _call_ms(call: Callable[[bytes], int], size: int, count: int) -> float:
    content = os.urandom(size)
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        if call(content) != size:
            raise ValueError(f"another size came back than {size}")
        taken.append((time.perf_counter() - start) * 1e3)
    return round(statistics.median(taken), 3)


def measure(count: int) -> dict[str, list[float]]:
    """Return milliseconds of each size: one call of a stock manager; a put and a get of ours, which are two."""
    return {"stock": _stock(count), "ours": _ours(count)}


def tcp_ms(count: int) -> dict[str, list[float]]:
    """Measure in an interpreter of its own."""
    command = [sys.executable, "-m", "tests.bench.path.tcp", str(count)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, timeout=120, check=True)
    found: dict[str, list[float]] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    die_with_parent()
    print(json.dumps(measure(int(sys.argv[1]))))
