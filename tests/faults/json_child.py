"""A process that is given one JSON line of orders, and says what it does in JSON lines: both ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from tests.faults.remote import ROOT

__all__ = ("child_of", "heard", "say", "tell")


@contextmanager
def child_of(
    module: str, server: EngineWorkerQueue | EngineCacheQueue, **orders: Any
) -> Iterator[subprocess.Popen[str]]:
    """Start a process of the module, for the server's port and with these orders, and wait for its first word."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-m", module], cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as child:
        try:
            tell(child, json.dumps({"port": server.get_server_port(), **orders}))
            heard(child)
            yield child
        finally:
            child.kill()


def tell(child: subprocess.Popen[str], line: str) -> None:
    """Write a line to the process."""
    assert child.stdin is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()


def heard(child: subprocess.Popen[str]) -> Any:
    """Return what the process says next."""
    assert child.stdout is not None
    return json.loads(child.stdout.readline())


def say(what: object) -> None:
    """In the process: say it."""
    print(json.dumps(what), flush=True)
