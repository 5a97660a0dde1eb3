"""Scenarios of layer-wise sending: ranks in one process, since only the order of events matters; time is simulated."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdcomm.layerwise import LayerProgress, LayerSender
from fdcomm.runtime import SystemRuntime, Words
from tests.races.pipes import ROOT, WATCHDOG_S
from tests.races.race import Race

__all__ = ("Between", "Clock", "LayerRace", "OurMessager", "child_that_reports", "compared")

LIMIT_S = 5.0


@dataclass(frozen=True)
class LayerRace(Race):
    """A race of layer-wise sending. Each variant is made by its scenario, which gets a folder for shared words."""

    shipped: Callable[[Any], str]
    ours: Callable[[Any], str]

    def on_shipped(self) -> str:
        """Return what went wrong on the published steps."""
        return _in_folder(self.shipped)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        return _in_folder(self.ours)


def _in_folder(scenario: Callable[[Path], str]) -> str:
    with tempfile.TemporaryDirectory(prefix="fdcomm-race-") as folder:
        return scenario(Path(folder))


class Clock(SystemRuntime):
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Between(SystemRuntime):
    """Calls something after each load of a shared word, and at a named point."""

    def __init__(self, loaded: Callable[[int], None] | None = None, reached: Callable[[], None] | None = None) -> None:
        self._loaded = loaded
        self._reached = reached

    def load(self, words: Words, index: int) -> int:
        value = super().load(words, index)
        if self._loaded is not None:
            self._loaded(value)
        return value

    def point(self, name: str) -> None:
        if name == "layerwise.create" and self._reached is not None:
            self._reached()


class OurMessager:
    """The shipping sender of one rank, of one layer, behind the calls of the published one."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.failed: dict[str, str] = {}
        self.clock = Clock()
        self.sender = LayerSender(
            8,
            1,
            lambda request, first, last: None,
            self._finish,
            missing=self._missing,
            info_timeout=LIMIT_S,
            layer_timeout=LIMIT_S,
            runtime=self.clock,
        )

    def _finish(self, request: Any, error: Exception | None) -> None:
        self.calls.append((request,))
        if error is not None:
            self.failed[request] = type(error).__name__

    def _missing(self, slot: int, step: int, error: Exception) -> None:
        self.failed[f"slot {slot}"] = type(error).__name__

    def message(self, slots: Iterable[int]) -> None:
        """These slots have computed their layer, in step 1."""
        for slot in slots:
            self.sender.on_progress(slot, 1, 0)

    def info(self, request: str, slot: int) -> None:
        """A task comes."""
        self.sender.on_cache_info(request, slot, 1)

    def run(self, turns: int) -> bool:
        """Let the sender have its turns, and then the time limits pass."""
        for _ in range(turns):
            self.sender.run_once(0.0)
        self.clock.now += LIMIT_S
        for _ in range(turns):
            self.sender.run_once(0.0)
        return self.sender.in_flight() == 0


def compared(calls: list[list[tuple[str, ...]]]) -> str:
    """Return how the collective calls of the ranks differ, or ""."""
    return "" if all(one == calls[0] for one in calls) else f"the collective calls differ: {calls}"


def child_that_reports(folder: Path, step: int, layer: int) -> subprocess.Popen[str]:
    """Start another process that opens the progress words and reports a pair; return when it has."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.races.layerwise_race", os.fspath(folder), str(step), str(layer)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert child.stdout is not None
    if child.stdout.readline() != "reported\n":
        child.kill()
        child.wait(WATCHDOG_S)
        raise RuntimeError("the child has not reported")
    return child


def stop(child: subprocess.Popen[str]) -> None:
    """Let the child end."""
    child.communicate("end\n", timeout=WATCHDOG_S)


def _main(folder: str, step: int, layer: int) -> None:
    with LayerProgress(writer=True, directory=folder) as words:
        words.report(step, layer)
        print("reported", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
