"""A reader in an interpreter of its own: ``python -m tests.bench.reader``, started by Reader.

It notes for each batch the time at which it had it, in a page that the engine maps too, and then writes one byte to a
pipe, so that the engine can wait without looking.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench.memory import memory_kib
from tests.races.pipes import ROOT, read_line

__all__ = ("MOST", "PAGE_BYTES", "POLL_S", "Reader")

MOST = 512
"""Batches in one run, at most."""

POLL_S = 0.0002
"""Between two looks of a polling reader, as in FastDeploy's workers."""

_RANKS = 8
PAGE_BYTES = 8 * (1 + _RANKS * MOST)


class Reader:
    """The engine's end."""

    def __init__(self, orders: dict[str, Any], page: str, ack: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
            pass_fds=(ack,),
        )
        self._say({**orders, "page": page, "ack": ack})

    def wait_ready(self) -> dict[str, float]:
        """Wait until it is connected; returns what it measured of itself."""
        facts: dict[str, float] = read_line(self.process)
        return facts

    def run(self, count: int, mode: str) -> None:
        """Have it read so many batches: ``mode`` is "poll" or "block"."""
        self._say({"count": count, "mode": mode})

    def wait_done(self) -> None:
        """Wait until it has read them."""
        read_line(self.process)

    def close(self) -> None:
        """End it."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _say(self, line: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")


def _tell(value: Any) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


def _taker(queue: Any, orders: dict[str, Any], mode: str, gate: Callable[[], int]) -> Callable[[int], list[Any]]:
    """Return a function that waits for the run's batch of a number and takes it."""

    def shipped_poll(number: int) -> list[Any]:
        # In FastDeploy a barrier between the ranks keeps a rank that has read from reading again before the others
        # have. Here the engine's number of the round does, at no cost to the manager.
        while gate() < number or not queue.exist_tasks():
            time.sleep(POLL_S)
        batches: list[Any] = queue.get_tasks()[0]
        while not batches:  # exist was still raised from the round before
            time.sleep(POLL_S)
            batches = queue.get_tasks()[0]
        return batches

    def our_poll(number: int) -> list[Any]:
        while not queue.task_ticket():
            time.sleep(POLL_S)
        batches: list[Any] = queue.get_tasks()[0]
        return batches

    def our_block(number: int) -> list[Any]:
        batches: list[Any] = queue.get_tasks(timeout=60.0)[0]
        return batches

    if orders["shipped"]:
        return shipped_poll
    return our_poll if mode == "poll" else our_block


def _run() -> None:
    orders = json.loads(sys.stdin.buffer.readline())
    before_kib = memory_kib(os.getpid())
    # Late, so that the modules count as memory of the client. The time to import them does not count.
    module = importlib.import_module("tests.bench.clients_shipped" if orders["shipped"] else "tests.bench.clients_ours")
    start = time.perf_counter()
    queue = module.open_client(orders)
    connected = time.perf_counter()
    with open(orders["page"], "r+b") as file, mmap.mmap(file.fileno(), PAGE_BYTES) as page:
        words = memoryview(page).cast("q")
        base = 1 + orders["rank"] * MOST
        queue.num_tasks()
        _tell({"connect_s": connected - start, "client_kib": memory_kib(os.getpid()) - before_kib})
        while line := sys.stdin.buffer.readline():
            run = json.loads(line)
            take = _taker(queue, orders, run["mode"], lambda: words[0])
            for number in range(run["count"]):
                batch = take(number + 1)
                words[base + number] = time.monotonic_ns()
                if batch[0][1] != number:
                    raise SystemExit(f"rank {orders['rank']} read batch {batch[0][1]} instead of {number}")
                os.write(orders["ack"], b".")
            _tell("done")
        words.release()
    queue.close()


if __name__ == "__main__":
    _run()
