"""Recorded runs of processes that change one word, one of which is killed, and altered ones, for both judges."""

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

import numpy as np

from fdcomm import IPCSignal
from models.acceptance import Verdict
from models.word_trace import accept_channel
from tests.traces.both_judges import agreed
from tests.traces.events import Event
from tla.word_trace import judge

__all__ = ("ALTERED", "accept", "both", "real_run")

_WATCHDOG_S = 60.0
_POINTS = ("word.add.locked", "word.add.loaded", "word.add.stored")
_ROOT = Path(__file__).resolve().parents[2]


def real_run(seed: int, adders: int = 2, adds: int = 15) -> list[Event]:
    """Let processes add, one compare and set, and kill one of them at a random place. The last event is the value."""
    chance = random.Random(seed)
    victim = chance.randrange(adders)
    fault = f"{chance.choice(_POINTS)}:{chance.randrange(1, adds)}=kill"
    with tempfile.TemporaryDirectory(prefix="fdcomm-word-", dir="/dev/shm") as folder:
        log = Path(folder) / "log"
        log.touch()
        with IPCSignal("word", np.zeros(2, np.int32), np.int32, directory=folder) as made:
            processes = []
            for number in range(adders + 1):
                what, count = ("add", adds) if number < adders else ("compare", 1)
                environment = dict(os.environ, PYTHONPATH=str(_ROOT))
                if number == victim:
                    environment["FDCOMM_FAULTS"] = fault
                command = [
                    sys.executable,
                    "-m",
                    "tests.traces.word_worker",
                    folder,
                    "word",
                    str(log),
                    str(number),
                    what,
                ]
                process = subprocess.Popen(
                    [*command, str(count)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    cwd=_ROOT,
                )
                processes.append(process)
            try:
                for process in processes:
                    if process.stdout is None or process.stdout.readline() != b"ready\n":
                        raise RuntimeError("a worker does not start")
                for process in processes:
                    if process.stdin is not None:
                        process.stdin.close()
                codes = [process.wait(_WATCHDOG_S) for process in processes]
            finally:
                for process in processes:
                    process.kill()
                    process.wait()
                    if process.stdout is not None:
                        process.stdout.close()
            wanted = [-signal.SIGKILL if number == victim else 0 for number in range(adders + 1)]
            if codes != wanted:
                raise RuntimeError(f"the workers ended with {codes}, {fault} in {victim}")
            events = [json.loads(line) for line in log.read_text().splitlines()]
            opening = {"action": "Open", "adders": adders, "comparers": 1, "adds": adds, "victim": victim}
            run = [opening, *events, {"action": "End", "value": int(made.word().get())}]
            return [{"v": 1, "protocol": "word.add", "dp": 0, **event} for event in run]


def both(runs: list[list[Event]]) -> list[tuple[str, str]]:
    """Have runs judged by the model and, in one start, by TLC: of each what is wrong, ("", "") if it is accepted.

    AssertionError: they do not agree, on the verdict or on the first impossible event.
    """
    return agreed(map(accept, runs), judge(runs))


def accept(run: list[Event]) -> Verdict:
    """Judge a run by the model."""
    return accept_channel("word.add", run)


def _where(run: list[Event], action: str, last: bool = False) -> int:
    found = [number for number, event in enumerate(run) if event["action"] == action]
    return found[-1 if last else 0]


def _changed(run: list[Event], at: int, **fields: Any) -> list[Event]:
    return [*run[:at], {**run[at], **fields}, *run[at + 1 :]]


def _lost(run: list[Event]) -> list[Event]:
    at = _where(run, "StoreSum")
    return _changed(run, at, value=run[at]["value"] + 1)


def _dropped(run: list[Event]) -> list[Event]:
    at = _where(run, "StoreSum")
    return run[:at] + run[at + 1 :]


def _stale(run: list[Event]) -> list[Event]:
    at = _where(run, "LoadOld", last=True)
    return _changed(run, at, value=run[at]["value"] - 1)


def _both(run: list[Event]) -> list[Event]:
    at = _where(run, "Unlock")
    return run[:at] + run[at + 1 :]


def _end(run: list[Event]) -> list[Event]:
    return _changed(run, len(run) - 1, value=run[-1]["value"] - 1)


# What must not be accepted.
ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "a store of another sum": _lost,
    "a call without its store": _dropped,
    "a load of an old value": _stale,
    "two have the lock": _both,
    "another value at the end": _end,
    "a process that there is not": lambda run: _changed(run, _where(run, "LoadOld"), process=9),
    "a load without a value": lambda run: _changed(run, _where(run, "LoadOld"), value=None),
    "a compare that stored a sum": lambda run: _changed(run, _where(run, "StoreSum"), action="StoreIf"),
}
