"""A reader's process: opens its end of a subject, and runs as it is told."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection
from typing import Any

from tests.bench.memory import anonymous_kib
from tests.bench.path.board import Board, cpu_s, die_with_parent
from tests.bench.path.subject import Batch, Get, Subject

__all__ = ("EDGE", "fault", "serve")

EDGE = 8
"""Bytes at both ends of a payload that are compared with what was put."""

_TOLD = 3


def serve(subject: Subject, rank: int, board: Board, line: Connection) -> None:
    """Be the reader of a rank: orders, then runs, until the line closes."""
    die_with_parent()
    orders = line.recv()
    before = anonymous_kib(os.getpid())
    subject.load()
    start = time.perf_counter()
    get = subject.open_reader(rank, orders)
    connect_s = time.perf_counter() - start
    line.send({"connect_ms": connect_s * 1e3, "memory_kib": anonymous_kib(os.getpid()) - before})
    try:
        while (run := line.recv()) is not None:
            line.send(_run(get, rank, board, line, **run))
    finally:
        subject.close()


def _run(
    get: Get, rank: int, board: Board, line: Connection, *, first: int, count: int, size: int, edge: bytes, tell: bool
) -> dict[str, Any]:
    """Get ``count`` batches, the first of which has the number ``first``; with ``tell``, say each to the writer."""
    row, now, arrived = board.row(rank), time.monotonic_ns, board.arrived
    faults: list[str] = []
    wrong = 0
    line.send("ready")
    begin = cpu_s()
    for index in range(count):
        batch = get()
        row[index] = now()
        if found := fault(batch, first + index, size, edge):
            wrong += 1
            faults += [f"rank {rank}: {found}"][: _TOLD - len(faults)]
        if tell:
            arrived(index)
    return {"cpu_s": cpu_s() - begin, "wrong": wrong, "faults": faults}


def fault(batch: Batch, number: int, size: int, edge: bytes) -> str:
    """Return what is wrong with a batch; "" if nothing is."""
    try:
        head, content = batch
        told = head["number"]
    except (TypeError, ValueError, KeyError):
        return f"no batch, but {batch!r:.80}"
    if told != number:
        return f"number {told} instead of {number}"
    if len(content) != size:
        return f"{len(content)} bytes instead of {size} in number {number}"
    if content[:EDGE] + content[-EDGE:] != edge:
        return f"other bytes than were put in number {number}"
    return ""
