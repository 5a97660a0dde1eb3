"""Level V6 on signals: runs of real processes, judged by the model.

Each process notes its steps after it has taken them. So a step was taken between the moment that the process noted
before and its own; the judge looks for an order of all steps that respects these spans and that the model allows.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from models.kernel import Action
from models.signal import Config, Signal, State
from tests.conformance.signal_driver import ended_with
from tests.faults.remote import LIMIT_S, ROOT

__all__ = ("ALTERED", "Step", "Steps", "Verdict", "judge", "record", "switches")

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
    insist: int = 0
    error: str | None = None


@dataclass(frozen=True)
class Verdict:
    """``stuck`` says where the longest possible order ends."""

    accepted: bool
    steps: int
    stuck: str = ""


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
                pending = Step(process, event["action"], last, event["t"], event["file"], event.get("insist", 0))
            last = event["t"]
        if pending is not None:
            yield pending
        died = ends[process, life][0]
        yield Step(process, "Crash", last, died)
        last = died
        if life + 1 < lives:
            yield Step(process, "Restart", last, last)


def judge(steps: Steps) -> Verdict:
    """Say whether the model allows some order of these steps."""
    everybody = frozenset(range(len(steps)))
    files = sum(step.action == "MakeTemp" for of in steps for step in of) + len(steps)
    model = Signal(
        Config(
            processes=len(steps),
            files=files,
            creators=everybody,
            insisters=everybody,
            attachers=everybody,
            mortal=everybody,
        )
    )
    (first,) = model.initial()
    total = sum(map(len, steps))
    todo: list[tuple[tuple[int, ...], State, tuple[int, ...]]] = [((0,) * len(steps), first, ())]
    seen = {todo[0]}
    furthest = todo[0]
    while todo:
        node = todo.pop()
        at = node[0]
        if sum(at) > sum(furthest[0]):
            furthest = node
        if sum(at) == total:
            return Verdict(True, total)
        pending = [of[number] for of, number in zip(steps, at, strict=True) if number < len(of)]
        soonest = min(step.end for step in pending)
        for step in pending:
            if step.start <= soonest:
                for after, inodes in _taken(model, node[1], node[2], step):
                    process = step.process
                    there = (*at[:process], at[process] + 1, *at[process + 1 :]), after, inodes
                    if there not in seen:
                        seen.add(there)
                        todo.append(there)
    stuck = [of[number] for of, number in zip(steps, furthest[0], strict=True) if number < len(of)]
    return Verdict(False, sum(furthest[0]), "; ".join(f"{s.action} of {s.process}" for s in stuck))


def _taken(model: Signal, state: State, inodes: tuple[int, ...], step: Step) -> Iterator[tuple[State, tuple[int, ...]]]:
    if step.action not in model.actions:
        return
    for action, after in model.actions[step.action](state):
        if action.param("process") != step.process or action.param("insist") not in (None, step.insist):
            continue
        file = action.param("file")
        if file is not None and step.action != "Close" and inodes[file - 1] != step.file:
            continue
        known = (*inodes, step.file) if step.action == "MakeTemp" else inodes
        if step.action in ("Examine", "Open"):
            opened = after.seen[step.process]
            if step.action == "Examine" and state.pc[step.process] != "examine":
                continue
            if (known[opened - 1] if opened else 0) != step.file:
                continue
        if step.error is not None and not _ends(action, state, after, step.error):
            continue
        yield after, known


def _ends(action: Action, before: State, after: State, error: str) -> bool:
    wanted = ended_with(action, before, after)
    return after.pc[action.params[0][1]] == "idle" and (wanted.__name__ if wanted else "") == error


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


def _changed(steps: Steps, action: str, **fields: Any) -> Steps:
    process, number = _first(steps, action)
    altered = [list(of) for of in steps]
    altered[process][number] = replace(altered[process][number], **fields)
    return altered


ALTERED: dict[str, Callable[[Steps], Steps]] = {
    "a create without the guard": lambda steps: _without(steps, "TakeGuard"),
    "a name without a new file": lambda steps: _without(steps, "MakeTemp"),
    "a name that was not published": lambda steps: _without(steps, "Publish"),
    "an owner without its lock": lambda steps: _without(steps, "TakeLock"),
    "a guard that is not dropped": lambda steps: _without(steps, "DropGuard"),
    "another file was opened": lambda steps: _changed(steps, "Open", file=1),
    "another file was examined": lambda steps: _changed(steps, "Examine", file=1),
}
