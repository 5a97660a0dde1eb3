"""Runs a site's programs as processes and returns what each of them said."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tidy.sources import ROOT

__all__ = ("Run", "run")

LIMIT_S = 100.0


@dataclass
class Run:
    """What the engine said, and what each rank of each replica said: ``ranks[dp][rank]``."""

    engine: list[dict[str, Any]] = field(default_factory=list)
    ranks: list[list[list[dict[str, Any]]]] = field(default_factory=list)

    def said(self, event: str, dp: int) -> list[dict[str, Any]]:
        """Return what the engine said of a replica."""
        return [line for line in self.engine if line["event"] == event and line["dp"] == dp]


class _Program:
    def __init__(self, name: str, *arguments: object) -> None:
        self.name = name
        self.said: list[dict[str, Any]] = []
        self.port: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.migrate", name, *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "FDCOMM_TIMEOUT": "60"},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def end(self) -> None:
        """Wait for the end; what the process said is complete then."""
        code = self.process.wait(LIMIT_S)
        self._reader.join()
        if code != 0:
            raise AssertionError(f"{self.name} ended with {code}")

    def stop(self) -> None:
        """Leave nothing."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            event = json.loads(line)
            if event["event"] == "serving":
                self.port.put(event["port"])
            else:
                self.said.append(event)


def run(engine: str, rank: str, ranks: int, dp_size: int, *more: object, signals: Path | None = None) -> Run:
    """Run an engine, and a program for each rank of each replica."""
    common = ["--ranks", ranks, "--dp-size", dp_size, *more]
    if signals is not None:
        common += ["--signals", signals]
    programs = [_Program(engine, *common)]
    try:
        port = programs[0].port.get(timeout=LIMIT_S)
        for dp in range(dp_size):
            programs += [_Program(rank, "--port", port, "--dp", dp, "--rank", r, *common) for r in range(ranks)]
        for program in programs[1:]:
            program.end()
        if programs[0].process.stdin is not None:
            programs[0].process.stdin.close()
        programs[0].end()
    finally:
        for program in programs:
            program.stop()
    said = [program.said for program in programs[1:]]
    return Run(programs[0].said, [said[dp * ranks : (dp + 1) * ranks] for dp in range(dp_size)])
