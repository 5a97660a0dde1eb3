"""Rounds of a barrier: threading.Barrier behind manager proxies, multiprocessing.Barrier, our host's, our Meeting.

``python -m tests.bench.path.barriers <kind> <ranks> <rounds>`` measures one and prints microseconds of each round.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from multiprocessing import managers
from multiprocessing.connection import Connection
from multiprocessing.managers import BaseManager
from typing import Any

from tests.bench.path.board import die_with_parent
from tests.races.pipes import ROOT

__all__ = ("KINDS", "OURS", "PROXIES", "round_us", "rounds")

_FORK = multiprocessing.get_context("fork")
_WATCHDOG_S = 60.0
_KEY = os.urandom(16)

PROXIES = ("threading.Barrier behind proxies, TCP", "threading.Barrier behind proxies, Unix socket")
OURS = ("EngineWorkerQueue's barriers", "Meeting")
KINDS = (*PROXIES, "multiprocessing.Barrier", *OURS)

Wait = Callable[[], Any]
Door = Callable[[int], Wait]
"""Opens the barrier for a rank, in that rank's process."""


class _Manager(BaseManager):
    pass


def _serve(barrier: threading.Barrier, place: Any, line: Connection) -> None:
    die_with_parent()
    _Manager.register("barrier", callable=lambda: barrier, proxytype=vars(managers)["BarrierProxy"])
    server = _Manager(place, _KEY).get_server()
    line.send(server.address)
    server.serve_forever()


def _proxies(ranks: int, undo: contextlib.ExitStack, *, tcp: bool) -> Door:
    place: Any = ("127.0.0.1", 0)
    if not tcp:
        place = undo.enter_context(tempfile.TemporaryDirectory(prefix="fdcomm-bench-")) + "/manager.sock"
    line, other = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(threading.Barrier(ranks), place, other), daemon=True)
    process.start()
    undo.callback(process.join)
    undo.callback(process.kill)
    address = line.recv()

    def door(rank: int) -> Wait:
        _Manager.register("barrier", proxytype=vars(managers)["BarrierProxy"])
        manager: Any = _Manager(address, _KEY)
        manager.connect()
        wait: Wait = manager.barrier().wait
        return wait

    return door


def _multiprocessing(ranks: int, undo: contextlib.ExitStack) -> Door:
    barrier = _FORK.Barrier(ranks)
    return lambda rank: barrier.wait


def _host(ranks: int, undo: contextlib.ExitStack) -> Door:
    from fdcomm import EngineWorkerQueue

    line, other = _FORK.Pipe()  # the host is another process's, so that this one stays free of threads for its forks
    process = _FORK.Process(target=_own_host, args=(ranks, other))
    process.start()
    undo.callback(process.join)
    undo.callback(line.send, None)
    port = line.recv()

    def door(rank: int) -> Wait:
        queue = EngineWorkerQueue(("0.0.0.0", port), num_client=ranks, client_id=rank, role="reader")
        wait = queue.finish_request_barrier.wait
        return lambda: (queue, wait(timeout=_WATCHDOG_S))

    return door


def _own_host(ranks: int, line: Connection) -> None:
    from fdcomm import EngineWorkerQueue

    die_with_parent()
    server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks)
    try:
        line.send(server.get_server_port())
        line.recv()  # its owner says when
    finally:
        server.cleanup()


def _meeting(ranks: int, undo: contextlib.ExitStack) -> Door:
    import fdcomm

    kind: Any = getattr(fdcomm, "Meeting", None)
    if kind is None:
        raise ImportError("this fdcomm has no Meeting")
    name = f"bench-meeting-{os.getpid()}"
    # Made here: the ranks are killed at the end, and would leave it.
    undo.callback(kind.create(name, ranks).close)

    def door(rank: int) -> Wait:
        meeting = kind.attach(name, rank=rank)
        return lambda: meeting.wait(timeout=_WATCHDOG_S)

    return door


_DOORS: dict[str, Callable[[int, contextlib.ExitStack], Door]] = {
    PROXIES[0]: lambda ranks, undo: _proxies(ranks, undo, tcp=True),
    PROXIES[1]: lambda ranks, undo: _proxies(ranks, undo, tcp=False),
    "multiprocessing.Barrier": _multiprocessing,
    OURS[0]: _host,
    OURS[1]: _meeting,
}


def _attend(door: Door, rank: int, count: int, line: Connection) -> None:
    die_with_parent()
    wait, now = door(rank), time.monotonic_ns
    wait()
    ends = [now()]
    for _ in range(count):
        wait()
        ends.append(now())
    line.send([(end - begin) / 1e3 for begin, end in itertools.pairwise(ends)])
    line.poll(_WATCHDOG_S)  # nobody leaves while another may still be in the last round


def rounds(kind: str, ranks: int, count: int) -> list[float]:
    """Measure in processes forked from this one; returns microseconds of each round, as rank 0 finds them.

    Raises:
        ImportError: There is no such barrier here.
    """
    with contextlib.ExitStack() as undo:
        door = _DOORS[kind](ranks, undo)
        lines = []
        for rank in range(ranks):
            line, other = _FORK.Pipe()
            process = _FORK.Process(target=_attend, args=(door, rank, count, other))
            process.start()
            undo.callback(process.join)
            undo.callback(process.kill)
            other.close()
            lines.append(line)
        heard = []
        for rank, line in enumerate(lines):
            if not line.poll(_WATCHDOG_S):
                raise TimeoutError(f"{kind}: rank {rank} does not come to an end")
            heard.append(line.recv())
        for line in lines:
            line.send(None)
        taken: list[float] = heard[0]
        return taken


def round_us(kind: str, ranks: int, count: int) -> list[float] | None:
    """Measure in an interpreter of its own; None if there is no such barrier here."""
    command = [sys.executable, "-m", "tests.bench.path.barriers", kind, str(ranks), str(count)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, timeout=2 * _WATCHDOG_S, check=True)
    taken: list[float] | None = json.loads(ended.stdout)
    return taken


def _main(arguments: Iterable[str]) -> None:
    kind, ranks, count = arguments
    try:
        taken: list[float] | None = rounds(kind, int(ranks), int(count))
    except ImportError:
        taken = None
    print(json.dumps(taken))


if __name__ == "__main__":
    die_with_parent()
    _main(sys.argv[1:])
