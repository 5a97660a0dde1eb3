"""Starts reader processes and collects what they took."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ("LIMIT_S", "Readers", "readers")

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 100.0  # a watchdog


@dataclass
class Readers:
    """The processes, by rank."""

    processes: list[subprocess.Popen[str]]

    def results(self) -> list[dict[str, Any]]:
        """Wait for the ends; return what each rank took, in order."""
        found = []
        for rank, process in enumerate(self.processes):
            output, _ = process.communicate(timeout=LIMIT_S)
            assert process.returncode == 0, f"rank {rank} ended with {process.returncode}"
            found.append(json.loads(output))
        return found


@contextmanager
def readers(
    port: int, ranks: int, *, pythons: tuple[str, ...] = (sys.executable,), clear_every: int = 0
) -> Iterator[Readers]:
    """Start one reader for each rank, interpreters in turn, and wait until all have claimed their ranks."""
    started: list[subprocess.Popen[str]] = []
    with ExitStack() as undo:
        for rank in range(ranks):
            command = [pythons[rank % len(pythons)], "-m", "tests.multiproc.reader", "--port", str(port)]
            command += ["--rank", str(rank), "--ranks", str(ranks), "--clear-every", str(clear_every)]
            process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            undo.callback(_end, process)
            started.append(process)
        for rank, process in enumerate(started):
            assert process.stdout is not None
            assert json.loads(process.stdout.readline()) == {"ready": rank}
        yield Readers(started)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
