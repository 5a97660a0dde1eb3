"""A queue as FastDeploy makes it, written from its description: PUSH and PULL on a path, payloads in segments."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import shared_memory
from typing import Any

import zmq

__all__ = ("EMPTY", "ShippedQueue", "exited_producer", "shipped_config")

EMPTY = b""

_PRODUCER = """
import pickle, sys, zmq
from multiprocessing import shared_memory
path, size = sys.argv[1], int(sys.argv[2])
context = zmq.Context()
push = context.socket(zmq.PUSH)
push.connect("ipc://" + path)
segment = shared_memory.SharedMemory(create=True, size=size)
segment.buf[:size] = b"x" * size
push.send(pickle.dumps(("segment", segment.name, size)))
segment.close()
print(segment.name)
push.close(linger=10_000)
context.term()
"""


class ShippedQueue:
    """The consumer's end. ``get`` returns what FastDeploy's does: a payload whose segment is gone is empty."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.context = zmq.Context()
        self.pull = self.context.socket(zmq.PULL)
        self.pull.linger = 0
        self.pull.bind(f"ipc://{path}")
        self.closed = False

    def get(self, timeout_s: float) -> Any:
        """Return a message, or None when none comes. Whatever goes wrong with one ends the consumer."""
        if self.closed or not self.pull.poll(int(1000 * timeout_s)):
            return None
        try:
            message = pickle.loads(self.pull.recv())
        except Exception:
            self.close()
            raise
        if not isinstance(message, tuple):
            return message
        try:
            segment = shared_memory.SharedMemory(message[1])
        except FileNotFoundError:
            return EMPTY
        memory: Any = segment.buf
        data = bytes(memory[: message[2]])
        segment.close()
        segment.unlink()
        return data

    def close(self) -> None:
        """Close, and remove the path."""
        if not self.closed:
            self.closed = True
            self.pull.close()
            self.context.term()

    def remove(self) -> None:
        """Remove what binding has made."""
        if os.path.exists(self.path):
            os.unlink(self.path)


def exited_producer(path: str, size: int) -> str:
    """Run a producer that sends one payload and ends. Return the path of its segment, which its tracker removes."""
    command = [sys.executable, "-W", "ignore", "-c", _PRODUCER, path, str(size)]
    done = subprocess.run(command, check=True, timeout=60, stdout=subprocess.PIPE)
    return "/dev/shm/" + done.stdout.decode().strip().lstrip("/")


def shipped_config() -> Any:
    """Make the configuration's class: one option object stands as the default of all."""

    @dataclass
    class Options:
        linger: int = -1

    return dataclass(type("Config", (), {"__annotations__": {"options": Options}, "options": Options()}))
