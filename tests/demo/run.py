"""Runs the demo's processes and collects what they say."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.demo.engine import batch

__all__ = ("DemoError", "Outcome", "run")

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 90.0


class DemoError(Exception):
    """A process said nothing in time, or ended with an error."""


@dataclass
class Outcome:
    """What happened: batches put, and batches received by each rank, in order."""

    put: list[int | str] = field(default_factory=list)
    got: dict[int, list[int | str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    killed: int | None = None


class _Process:
    def __init__(self, module: str, *arguments: object, events: queue.Queue[dict[str, Any]]) -> None:
        command = [sys.executable, "-m", f"tests.demo.{module}", *map(str, arguments)]
        self.name = " ".join(command[2:4])
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._reader = threading.Thread(target=self._read, args=(events,), daemon=True)
        self._reader.start()

    def _read(self, events: queue.Queue[dict[str, Any]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            events.put(json.loads(line))
        events.put({"event": "ended", "name": self.name, "process": self})

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go on\n")
        self.process.stdin.flush()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@contextmanager
def _started(events: queue.Queue[dict[str, Any]]) -> Iterator[list[_Process]]:
    processes: list[_Process] = []
    try:
        yield processes
    finally:
        for process in reversed(processes):
            process.stop()


def run(trace: Path, ranks: int, batches: int, kill: bool = False) -> Outcome:
    """Run engine and workers until every rank has had the last batch.

    Args:
        trace: File that the engine's host records to.
        ranks: How many workers.
        batches: How many batches the engine puts.
        kill: Kill the last rank's worker after a third of them, and start it again.
    """
    events: queue.Queue[dict[str, Any]] = queue.Queue()
    outcome = Outcome(got={rank: [] for rank in range(ranks)})
    victim, die_after = (ranks - 1, max(1, batches // 3)) if kill else (None, 0)
    outcome.killed = victim
    with _started(events) as processes:
        engine = _Process("engine", "--ranks", ranks, "--batches", batches, "--trace", trace, events=events)
        processes.append(engine)
        port = 0
        waits_for_restart = False
        ended = 0
        while ended < ranks + (1 if kill else 0) or "end" not in outcome.put:
            event = _next(events)
            kind = event["event"]
            if kind == "serving":
                port = event["port"]
                print(f"engine: serving {ranks} ranks on port {port}; a batch from before a clear was dropped")
                for rank in range(ranks):
                    last_words = ("--die-after", die_after) if rank == victim else ()
                    processes.append(_worker(port, rank, ranks, events, *last_words))
            elif kind == "ready":
                print(f"rank {event['rank']}: reads as process {event['pid']}")
                if waits_for_restart and event["rank"] == victim:
                    waits_for_restart = False
                    engine.tell()
            elif kind == "put":
                outcome.put.append(event["batch"])
            elif kind == "got":
                _got(outcome, event)
            elif kind == "lost":
                print(f"engine: {event['text']}")
                waits_for_restart = True
                if event["ranks"] != [victim]:
                    raise DemoError(f"the engine lost ranks that nobody killed: {event['ranks']}")
                processes.append(_worker(port, event["ranks"][0], ranks, events))
            elif event["process"] is not engine:
                ended += 1
                _check_end(event["process"], may_be_killed=kill and ended == 1)
            else:
                raise DemoError(f"the engine ended early with {engine.process.wait()}")
        engine.tell()
        if engine.process.wait(LIMIT_S) != 0:
            raise DemoError(f"the engine ended with {engine.process.returncode}")
    return outcome


def _worker(port: int, rank: int, ranks: int, events: queue.Queue[dict[str, Any]], *more: object) -> _Process:
    return _Process("worker", "--port", port, "--rank", rank, "--ranks", ranks, *more, events=events)


def _next(events: queue.Queue[dict[str, Any]]) -> dict[str, Any]:
    try:
        return events.get(timeout=LIMIT_S)
    except queue.Empty:
        raise DemoError(f"no process said anything for {LIMIT_S:.0f} s") from None


def _got(outcome: Outcome, event: dict[str, Any]) -> None:
    rank, name = event["rank"], event["batch"]
    outcome.got[rank].append(name)
    last = ", the last to take it" if event["all_read"] else ""
    print(f"rank {rank}: got batch {name} with {len(event['tasks'])} tasks{last}")
    expected = [] if name == "end" else batch(name)["tasks"]
    if event["tasks"] != expected:
        outcome.wrong.append(f"rank {rank}: batch {name} has other tasks than the engine put")


def _check_end(process: _Process, may_be_killed: bool) -> None:
    code = process.process.wait()
    if code != (-9 if may_be_killed else 0):
        raise DemoError(f"{process.name} ended with {code}")
