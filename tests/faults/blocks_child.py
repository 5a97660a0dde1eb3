"""A cache process, or a prefix cache that is to be killed: ``python -m tests.faults.blocks_child rank|client ...``."""

from __future__ import annotations

import itertools
import mmap
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from fdcomm import BlockLists, EngineCacheQueue, PauseControl, TransferClient
from fdcomm.transfer import TransferLoop
from fdcomm.transfer_tasks import TransferTasks

__all__ = ("SIZE", "Child")

ROOT = Path(__file__).resolve().parents[2]


class Child:
    """The parent's end: the process, and what it says line by line."""

    def __init__(self, *orders: object) -> None:
        command = [sys.executable, "-m", "tests.faults.blocks_child", *map(str, orders)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT
        )
        try:
            self.expect("ready")
        except BaseException:
            self.kill()
            raise

    def expect(self, said: str) -> None:
        """Read the next line."""
        assert self.process.stdout is not None
        found = self.process.stdout.readline()
        if found != f"{said}\n":
            raise AssertionError(f"the child said {found!r} instead of {said!r}")

    def let_go(self) -> None:
        """End what the child holds."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.process.kill()
        self.process.wait(60)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


SIZE = 4096
"""Bytes of a block in the memory of a rank that writes."""


def _rank(port: int, rank: int, limit: str = "", memory: str = "") -> None:
    go = threading.Semaphore(0)

    def swap(task: Any) -> str:
        if task.payload == "hold":
            print("holds", flush=True)
            go.acquire()
        if isinstance(task.payload, tuple) and rank == task.payload[0]:
            write(task.payload[1])
        return f"rank {rank}"

    def write(blocks: tuple[int, ...]) -> None:
        """Write rounds of 1 .. 100 to the blocks until let go, and say so after the first."""
        with open(memory, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            for count in itertools.count():
                for block in blocks:
                    mapped[block * SIZE : (block + 1) * SIZE] = bytes([1 + count % 100]) * SIZE
                if count == 0:
                    print("writes", flush=True)
                if go.acquire(timeout=0.001):
                    return

    def listen() -> None:
        for _ in sys.stdin:
            go.release()

    threading.Thread(target=listen, daemon=True).start()
    with (
        EngineCacheQueue(("0.0.0.0", port), num_client=2, client_id=rank) as queue,
        PauseControl(queue, rank=True) as control,
        TransferLoop(queue, control, {"swap": swap}, limit_s=float(limit) if limit else None) as loop,
    ):
        loop.step(timeout=0.0)  # from here on tasks wait for this rank
        print("ready", flush=True)
        loop.run()


def _client(port: int) -> None:
    with EngineCacheQueue(("0.0.0.0", port), num_client=2, client_id=0) as queue:
        lists = BlockLists(4, 4)
        client = TransferClient(TransferTasks(queue), lists)
        print("ready", flush=True)
        for payload in sys.stdin:
            client.issue(payload.strip(), "swap", lists.allocate(), lists.allocate(1, "host"))
            print("issued", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        _rank(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
    else:
        _client(int(sys.argv[2]))
