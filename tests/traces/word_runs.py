"""Recorded runs of processes that change one word, one of which is killed; judged by the model, event by event."""

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
from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.word_counter import Config, Counter, State

__all__ = ("ALTERED", "Event", "accept", "real_run")

Event = dict[str, Any]

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
            opening = {"action": "Open", "adders": adders, "adds": adds, "victim": victim}
            return [opening, *events, {"action": "End", "value": int(made.word().get())}]


def accept(run: list[Event]) -> Verdict:
    """Judge a run by the model."""
    opening, *events = run
    victim = opening["victim"]
    config = Config(opening["adders"], 1, opening["adds"], frozenset({victim}))
    model = Counter(config)
    kill = Action("Kill", (("process", victim),))

    def observe(event: Event) -> Observation[State]:
        value = event.get("value")
        process = event.get("process", 0)

        def differs(before: State, after: State) -> str:
            del before
            known = after.old[process] if event["action"] == "LoadOld" else after.value
            return "" if value is None or value == known else f"the value was {value}, and the model says {known}"

        action = None if event["action"] == "End" else Action(event["action"], (("process", process),))
        return Observation(json.dumps(event), action, differs, kill)

    return judge(model, model.initial(), map(observe, events), "word")


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
}
