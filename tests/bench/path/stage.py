"""One subject with its readers, in processes of their own, idle until a run.

``python -m tests.bench.path.stage`` is the writer's process. It takes its orders as lines of JSON, and ends with its
input; everything that it started ends with it.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.bench.path.board import LOADS, MOST, Board, cpu_s, die_with_parent
from tests.bench.path.catalogue import subject_of
from tests.bench.path.reader import EDGE, serve
from tests.bench.path.subject import Missing, Subject
from tests.races.pipes import ROOT

__all__ = ("PAUSE_S", "Failed", "Stage")

PAUSE_S = 0.0025
"""Between the puts of a paced run."""

_WATCHDOG_S = 180.0
_FORK = multiprocessing.get_context("fork")


class Failed(Exception):
    """A subject could not be measured."""


class Stage:
    """The measuring process's end.

    Attributes:
        facts: What each reader found when it connected: ``connect_ms`` and ``memory_kib``.
        about: What the subject says about itself.
    """

    def __init__(self, name: str, ranks: int, largest: int) -> None:
        """Start the subject.

        Raises:
            Missing: Its package is not installed.
            Failed: It does not start.
        """
        self.name = name
        self._folder = tempfile.TemporaryDirectory(prefix="fdcomm-bench-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.path.stage", name, str(ranks), str(largest), self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=ROOT,
        )
        self._rest = b""
        try:
            answer = self._answer()
            self.facts: list[dict[str, float]] = answer["facts"]
            self.about: str = answer["about"]
        except BaseException:
            self.close()
            raise

    def run(self, load: str, size: int, count: int) -> dict[str, Any]:
        """Run ``count`` batches of ``size`` bytes.

        Returns:
            ``us``: for each batch, from the beginning of its put until the last reader had it, in microseconds;
            ``total_s``; ``cpu_s`` of all processes; numbers ``checked`` and ``wrong``; ``faults``: some of these.
        """
        if load not in LOADS or not 0 < count <= MOST:
            raise ValueError(f"load {load!r}, {count} batches")
        return self._ask({"load": load, "size": size, "count": count})

    def idle(self, seconds: float) -> dict[str, float]:
        """Let the readers wait for so long; returns ``reader`` and ``helpers``: parts of a processor (1: all of it)."""
        return self._ask({"idle": seconds})

    def close(self) -> None:
        """End all of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        for left in Path("/dev/shm").glob(f"{Path(self._folder.name).name}_*"):
            left.unlink(missing_ok=True)
        self._folder.cleanup()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        end = time.monotonic() + _WATCHDOG_S
        while b"\n" not in self._rest:
            if not select.select([self._process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                self._process.kill()
                raise Failed(f"{self.name}: no answer in {_WATCHDOG_S} s")
            if not (read := os.read(self._process.stdout.fileno(), 1 << 20)):
                raise Failed(f"{self.name}: ended")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if missing := answer.get("missing"):
            raise Missing(missing)
        return answer


class _Writer:
    """The writer's process: the subject, its readers, and the numbers of the batches so far."""

    def __init__(self, subject: Subject, ranks: int, largest: int, undo: contextlib.ExitStack) -> None:
        self._subject = subject
        subject.start(ranks, largest)
        self._board = Board(ranks)
        self._lines: list[Connection] = []
        for rank in range(ranks):
            line, other = _FORK.Pipe()
            process = _FORK.Process(target=serve, args=(subject, rank, self._board, other))
            process.start()
            other.close()
            undo.callback(_end, process)
            self._lines.append(line)
        subject.load()
        undo.callback(subject.close)
        undo.callback(self._tell, None)
        orders = subject.open_writer()
        self._tell(orders)
        self.facts = self._hear()
        subject.settle()
        self._number = 0

    def run(self, load: str, size: int, count: int, wait_s: float = 0.0) -> dict[str, Any]:
        """Run, beginning ``wait_s`` after all readers have begun to wait."""
        board, put, now = self._board, self._subject.put, time.monotonic_ns
        content, first = os.urandom(size), self._number
        self._number += count
        batches: Callable[[int], Any] = lambda index: [{"number": first + index, "kind": "batch"}, content]  # noqa: E731
        edge = content[:EDGE] + content[-EDGE:]
        board.begin()
        self._tell({"first": first, "count": count, "size": size, "edge": edge, "tell": load != "flow"})
        self._hear()  # all are about to get
        starts: list[int] = []
        helpers = self._subject.helpers()
        begin, spent = time.monotonic(), cpu_s() + sum(map(cpu_s, helpers))
        pause(begin + wait_s)
        for index in range(count):
            if load == "paced":
                pause(begin + index * PAUSE_S)
            batch = batches(index)
            starts.append(now())
            put(batch)
            if load != "flow":
                board.wait(index, look=load == "looking")
        found = self._hear()
        spent = cpu_s() + sum(map(cpu_s, helpers)) - spent
        return {
            "us": [(board.last(index) - start) / 1e3 for index, start in enumerate(starts)],
            "total_s": (board.last(count - 1) - starts[0]) / 1e9,
            "cpu_s": spent + sum(each["cpu_s"] for each in found),
            "checked": count * len(self._lines),
            "wrong": sum(each["wrong"] for each in found),
            "faults": [text for each in found for text in each["faults"]],
            "readers_cpu_s": [each["cpu_s"] for each in found],
        }

    def idle(self, seconds: float) -> dict[str, Any]:
        """Let the readers wait, then give them one batch: what they used is what waiting costs."""
        helpers = self._subject.helpers()
        before = sum(map(cpu_s, helpers))
        found = self.run("back", 64, 1, seconds)
        used = sum(map(cpu_s, helpers)) - before
        return {**found, "reader": max(found["readers_cpu_s"]) / seconds, "helpers": used / seconds}

    def _tell(self, thing: Any) -> None:
        for line in self._lines:
            with contextlib.suppress(BrokenPipeError):
                line.send(thing)

    def _hear(self) -> list[Any]:
        heard = []
        for rank, line in enumerate(self._lines):
            if not line.poll(_WATCHDOG_S):
                raise TimeoutError(f"reader {rank} says nothing")
            heard.append(line.recv())
        return heard


def _end(process: Any) -> None:
    process.join(10)
    process.kill()
    process.join()


def pause(until: float) -> None:
    """Sleep until a moment of CLOCK_MONOTONIC."""
    if (left := until - time.monotonic()) > 0:
        select.select([], [], [], left)


def _main(name: str, ranks: str, largest: str, folder: str) -> None:
    def say(value: Any) -> None:
        out.write(json.dumps(value).encode() + b"\n")

    die_with_parent()
    out = os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what a package prints does not come between
    subject = subject_of(name)
    subject.folder = folder
    try:
        subject.check()
    except Missing as error:
        say({"missing": str(error)})
        return
    with contextlib.ExitStack() as undo:
        writer = _Writer(subject, int(ranks), int(largest), undo)
        say({"facts": writer.facts, "about": subject.about()})
        for line in sys.stdin:
            order = json.loads(line)
            say(writer.idle(order["idle"]) if "idle" in order else writer.run(**order))


if __name__ == "__main__":
    _main(*sys.argv[1:])
