"""Level V6 on signals: runs of real processes, and altered ones, for both judges.

Each process notes its steps after it has taken them. So a step was taken between the moment that the process noted
before and its own; the judges look for an order of all steps that respects these spans.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from models.acceptance import Verdict
from models.signal_trace import accept_channel
from tests.faults.remote import LIMIT_S, ROOT
from tests.traces.both_judges import agreed
from tla.signal_trace import judge

__all__ = ("ALTERED", "Step", "Steps", "both", "by_model", "events_of", "record", "switches")

Steps = list[list["Step"]]

_POINTS = ("create.TakeGuard", "create.MakeTemp", "create.Fill", "create.Supersede", "create.Publish", "clear.MarkGone")


@dataclass(frozen=True)
class Step:
    """One noted step. ``error`` is how the call ended, of the last step of a call; None of the others."""

    process: int
    action: str
    start: int
    end: int
    file: int = 0
    insist: bool = False
    error: str | None = None


def record(seed: int, processes: int = 3, lives: int = 2, calls: int = 8) -> Steps:
    """Let processes make random calls at the same time; some are killed at a step, and followed by another one."""
    randomness = random.Random(seed)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="fdcomm-test-", dir=memory) as folder,
        tempfile.TemporaryDirectory() as notes,
    ):
        running: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        ends: dict[tuple[int, int], tuple[int, int]] = {}

        def start(process: int, life: int) -> None:
            kill = f"signal.{randomness.choice(_POINTS)}:{randomness.randint(1, 3)}" if life + 1 < lives else ""
            trace = str(Path(notes) / f"{process}.{life}")
            order = [folder, str(randomness.randrange(2**32)), str(calls), kill, trace]
            command = [sys.executable, "-m", "tests.traces.signal_child", *order]
            child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            running[process] = life, child

        for process in range(processes):
            start(process, 0)
        try:
            for _, child in running.values():  # they begin together, so that they meet
                assert child.stdout is not None
                assert child.stdout.read(1) == b"."
            for _, child in running.values():
                assert child.stdin is not None
                child.stdin.close()
            while running:
                for process, (life, child) in list(running.items()):
                    assert child.wait(LIMIT_S) in (0, -9)
                    ends[process, life] = time.monotonic_ns(), 0
                    del running[process]
                    _close(child)
                    if life + 1 < lives:
                        start(process, life + 1)
                        _, child = running[process]
                        assert child.stdin is not None
                        child.stdin.close()
        finally:
            for _, child in running.values():
                child.kill()
                child.wait()
                _close(child)
        return [list(_read(Path(notes), process, lives, ends)) for process in range(processes)]


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def switches(steps: Steps) -> int:
    """Return how often the next step was another process's: a run in which nobody meets shows little."""
    order = sorted((step for of in steps for step in of), key=lambda step: step.end)
    return sum(one.process != other.process for one, other in pairwise(order))


def _read(notes: Path, process: int, lives: int, ends: dict[tuple[int, int], tuple[int, int]]) -> Iterator[Step]:
    last = 0
    for life in range(lives):
        lines = (notes / f"{process}.{life}").read_text().splitlines()
        pending: Step | None = None
        for line in lines:
            event: dict[str, Any] = json.loads(line)
            if event["action"] == "End":
                if event["error"] == "CommTimeoutError":
                    if pending is not None:
                        yield pending
                    pending = Step(process, "GiveUp", last, event["t"], error="CommTimeoutError")
                elif pending is not None:
                    pending = replace(pending, error=event["error"])
            else:
                if pending is not None:
                    yield pending
                pending = Step(process, event["action"], last, event["t"], event["file"], bool(event.get("insist")))
            last = event["t"]
        if pending is not None:
            yield pending
        died = ends[process, life][0]
        yield Step(process, "Crash", last, died)
        last = died
        if life + 1 < lives:
            yield Step(process, "Restart", last, last)


def events_of(steps: Steps) -> list[dict[str, Any]]:
    """Return the run as the judges read it: Open, then the steps of each process in its order."""
    head = {"v": 1, "protocol": "signal", "dp": 0}
    return [{**head, "action": "Open", "processes": len(steps)}, *({**head, **asdict(s)} for of in steps for s in of)]


def both(runs: Sequence[Steps]) -> list[tuple[str, str]]:
    """Have runs judged by the model and, in one start, by TLC: of each what is wrong, ("", "") if it is accepted.

    AssertionError: they do not agree, on the verdict or on how much of a run is allowed.
    """
    return agreed(map(by_model, runs), judge([events_of(run) for run in runs]))


def by_model(steps: Steps) -> Verdict:
    """Have a run judged by the model."""
    return accept_channel("signal", events_of(steps))


# -- altered runs, each of which the judge must reject --------------------------------------------------------------


def _first(steps: Steps, action: str) -> tuple[int, int]:
    """Return where the action is that a process has gone on after, without dying first."""
    return next(
        (process, number)
        for process, of in enumerate(steps)
        for number, step in enumerate(of[:-1])
        if step.action == action and of[number + 1].action != "Crash"
    )


def _without(steps: Steps, action: str) -> Steps:
    process, number = _first(steps, action)
    return [of[:number] + of[number + 1 :] if p == process else of for p, of in enumerate(steps)]


def _changed(steps: Steps, action: str, /, **fields: Any) -> Steps:
    return _with(steps, *_first(steps, action), **fields)


def _with(steps: Steps, process: int, number: int, /, **fields: Any) -> Steps:
    altered = [list(of) for of in steps]
    altered[process][number] = replace(altered[process][number], **fields)
    return altered


def _otherwise(steps: Steps) -> Steps:
    """A call that ended well is said to have ended with an error."""
    ends = ((p, n) for p, of in enumerate(steps) for n, step in enumerate(of) if step.error == "")
    return _with(steps, *next(ends), error="SignalInUseError")


def _too_late(steps: Steps) -> Steps:
    """The process that published first says that it did so when all others had ended: it had the guard till then."""
    published = [(s.end, p, n) for p, of in enumerate(steps) for n, s in enumerate(of) if s.action == "Publish"]
    _, process, number = min(published)
    end = max(step.end for of in steps for step in of)
    altered = [list(of) for of in steps]
    for at in range(number, len(altered[process])):
        altered[process][at] = replace(altered[process][at], start=end + at, end=end + at)
    return altered


def _backwards(steps: Steps) -> Steps:
    process, number = _first(steps, "Publish")
    return _with(steps, process, number, start=steps[process][number].end + 1)


ALTERED: dict[str, Callable[[Steps], Steps]] = {
    "a create without the guard": lambda steps: _without(steps, "TakeGuard"),
    "a name without a new file": lambda steps: _without(steps, "MakeTemp"),
    "a name that was not published": lambda steps: _without(steps, "Publish"),
    "an owner without its lock": lambda steps: _without(steps, "TakeLock"),
    "a guard that is not dropped": lambda steps: _without(steps, "DropGuard"),
    "another file was opened": lambda steps: _changed(steps, "Open", file=1),
    "another file was examined": lambda steps: _changed(steps, "Examine", file=1),
    "an end with another result": _otherwise,
    "a process that says it was late": _too_late,
    "a step that ends before it begins": _backwards,
    "an action that there is not": lambda steps: _changed(steps, "Publish", action="ForeignCreate"),
}
