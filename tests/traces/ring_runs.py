"""Recorded runs of real processes at a ring, one reader and the writer of which are killed, and altered ones.

Rank 0 has two readers, one after the other; process numbers are those of the model.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdcomm.ring import RingWriter
from fdcomm.ring.layout import BEGUN, CURSOR, GATE, LIVES, SEQ, SIZE, Shape
from models.acceptance import Verdict
from models.ring_trace import accept_channel
from tests.traces.both_judges import agreed
from tests.traces.events import Event
from tests.traces.ring_reading import Reading
from tests.traces.ring_worker import NAME
from tla.ring_trace import judge

__all__ = ("ALTERED", "accept", "both", "real_run")

_WATCHDOG_S = 60.0
_ROOT = Path(__file__).resolve().parents[2]
RANKS, SLOTS, PUTS = 2, 2, 6
SECOND, WRITER, CLEARER = 2, 3, 4


def start(folder: str, log: Path, process: int, what: str, kill_after: int = 0, puts: int = PUTS) -> Any:
    """Start a worker; it waits for :func:`go`."""
    command = [sys.executable, "-m", "tests.traces.ring_worker", folder, str(log), str(process), what, str(puts)]
    return subprocess.Popen(
        [*command, str(kill_after)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=str(_ROOT)),
        cwd=_ROOT,
    )


def go(*processes: Any) -> None:
    """Let workers begin, when all of them are ready."""
    for process in processes:
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError("a worker does not start")
    for process in processes:
        process.stdin.close()


def real_run(seed: int, kill_reader: int | None = None, kill_writer: int | None = None) -> list[Event]:
    """Let two ranks read what is put, with a clear; kill the first reader of rank 0 and the writer, and replace them.

    Args:
        seed: Says after how many accesses each is killed, where that is not given.
    """
    chance = random.Random(seed)
    reader_at = chance.randrange(8, 40) if kill_reader is None else kill_reader
    writer_at = chance.randrange(20, 60) if kill_writer is None else kill_writer
    with tempfile.TemporaryDirectory(prefix="fdcomm-ring-", dir="/dev/shm") as folder:
        log = Path(folder) / "log"
        log.touch()
        RingWriter.create(NAME, RANKS, depth=SLOTS, directory=folder).close(remove=False)
        one = start(folder, log, 0, "read0", reader_at)
        other, writer = start(folder, log, 1, "read1"), start(folder, log, WRITER, "write", writer_at)
        again, next_writer = start(folder, log, SECOND, "read0"), start(folder, log, WRITER, "write")
        clearer = start(folder, log, CLEARER, "clear")
        everybody = (one, other, writer, again, next_writer, clearer)
        try:
            go(one, other, writer)
            codes = [one.wait(_WATCHDOG_S), writer.wait(_WATCHDOG_S)]
            go(again, next_writer, clearer)
            codes += [process.wait(_WATCHDOG_S) for process in (other, again, next_writer, clearer)]
        finally:
            for process in everybody:
                process.kill()
                process.wait()
                process.stdout.close()
        if codes[:2] != [-signal.SIGKILL] * 2 or any(codes[2:]):
            raise RuntimeError(f"the workers ended with {codes}, seed {seed}, killed after {reader_at} and {writer_at}")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    return _events(lines)


def _events(lines: list[dict[str, Any]]) -> list[Event]:
    """What the processes did, from the accesses that they noted."""
    shape = Shape(RANKS, SLOTS, 65536)
    words = {GATE: ("gate", 0)}
    words |= {shape.of_slot(slot, SEQ): ("seq", slot) for slot in range(SLOTS)}
    words |= {shape.of_slot(slot, SIZE): ("data", slot) for slot in range(SLOTS)}
    words |= {shape.of_line(line, CURSOR): ("cursor", line) for line in range(shape.lines)}
    words |= {shape.of_line(line, BEGUN): ("begun", line) for line in range(shape.lines)}
    words |= {LIVES + rank: ("life", rank) for rank in range(RANKS)}
    head = {"v": 1, "protocol": "ring", "dp": 0}
    opening = {"action": "Open", "ranks": RANKS, "slots": SLOTS, "puts": PUTS, "joins": 1, "clears": 1}
    found: list[Event] = [{**head, **opening}]
    reading = Reading(RANKS, SLOTS, 1)
    for line in lines:
        if line["op"] in ("load", "store"):
            if line["word"] not in words:
                continue
            line["word"], line["place"] = words[line["word"]]
        found += [{**head, **event} for event in reading.read(line)]
    return found


def both(runs: list[list[Event]]) -> list[tuple[str, str]]:
    """Have runs judged by the model and, in one start, by TLC: of each what is wrong, ("", "") if it is accepted.

    AssertionError: they do not agree, on the verdict or on the first impossible event.
    """
    return agreed(map(accept, runs), judge(runs))


def accept(run: list[Event]) -> Verdict:
    """Judge a run by the model."""
    return accept_channel("ring", run)


def _where(run: list[Event], action: str, last: bool = False) -> int:
    found = [number for number, event in enumerate(run) if event["action"] == action]
    return found[-1 if last else 0]


def _changed(run: list[Event], at: int, **fields: Any) -> list[Event]:
    return [*run[:at], {**run[at], **fields}, *run[at + 1 :]]


def _without(run: list[Event], at: int, count: int = 1) -> list[Event]:
    return run[:at] + run[at + count :]


def _plus(run: list[Event], action: str, last: bool = False) -> list[Event]:
    at = _where(run, action, last)
    return _changed(run, at, value=run[at]["value"] + 1)


# What must not be accepted. A store goes with its Flush.
ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "a get of another message": lambda run: _plus(run, "Got"),
    "a message is not announced": lambda run: _without(run, _where(run, "StoreBegun"), 2),
    "a slot is not given back": lambda run: _without(run, _where(run, "StoreCursor"), 2),
    "a payload is not stored": lambda run: _without(run, _where(run, "Fill"), 2),
    "a number twice": lambda run: _plus(run, "Publish"),
    "a cursor that nobody stored": lambda run: _plus(run, "LoadCursor"),
    "a clear without the gate": lambda run: _without(run, _where(run, "CloseGate"), 2),
    "the next writer counts anew": lambda run: _changed(run, _where(run, "TakeOver"), value=0),
    "a second reader begins too late": lambda run: _plus(run, "StoreStart"),
    "a process that there is not": lambda run: _changed(run, _where(run, "Publish"), who=9),
}
