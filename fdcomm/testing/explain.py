"""Words for people: what a task waits for, and where it is."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable

from fdcomm.testing.tasks import Task

__all__ = ("waits_for", "where")


def waits_for(task: Task) -> str:
    """Say what a blocked task waits for, and who has it."""
    kind, name, target, _ = task.op
    if kind == "acquire":
        killed = " (killed)" if target.owner.op.kind == "killed" else ""
        return f"{task.name} waits for the {name}, held by {target.owner.name}{killed}"
    if kind == "waiting":
        return f"{task.name} waits for a notification of {name}"
    return f"{task.name} waits to {task.op}"


def where(tasks: Iterable[Task]) -> str:
    """Say at which line of the program each task is, and what it is about to do."""
    frames = sys._current_frames()
    at = []
    for task in tasks:
        if not task.done and task.ident in frames:
            stack = traceback.extract_stack(frames[task.ident])
            own = [f for f in stack if "fdcomm/testing/" not in f.filename and "threading.py" not in f.filename]
            place = f"{own[-1].filename.rpartition('/')[2]}:{own[-1].lineno}" if own else "?"
            at.append(f"{task.name} before {task.op} at {place}")
    return "; ".join(at)
