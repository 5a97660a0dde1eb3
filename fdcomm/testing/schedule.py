"""Schedules as values: what was chosen at each step, under which bounds, and what came of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

__all__ = ("HOLDS", "PRUNED", "TICK", "Bound", "Constant", "NondeterminismError", "Outcome", "Schedule", "wake")

Constant: TypeAlias = "int | str | bool"

TICK: Final = -1
"""The choice "time passes until the next timer"."""

HOLDS: Final = "holds"
PRUNED: Final = "pruned"


class NondeterminismError(RuntimeError):
    """The program did not do the same under the same choices: it uses a clock, a random source, a thread or an
    iteration order that the runtime does not control, or state that survives from one execution to the next."""


def wake(task: int) -> int:
    """Return the choice "a spurious wake-up of this task's wait"."""
    return -2 - task


@dataclass(frozen=True)
class Bound:
    """What an exploration may do.

    Args:
        preemptions: How often a task that could go on may be set aside, per execution; None: without limit.
        ticks: How often time may pass although a task could go on. When none can, time passes anyway.
        spurious: How many waits may return without a reason.
        max_steps: An execution that is longer fails as a livelock.
        watchdog_s: An execution that takes longer, in real seconds, is an error.
    """

    preemptions: int | None = None
    ticks: int = 0
    spurious: int = 0
    max_steps: int = 3000
    watchdog_s: float = 60.0

    def __str__(self) -> str:
        parts = ["any preemptions" if self.preemptions is None else f"{self.preemptions} preemptions"]
        parts += [f"{self.ticks} early timeouts"] if self.ticks else []
        parts += [f"{self.spurious} spurious wake-ups"] if self.spurious else []
        return ", ".join(parts)


@dataclass(frozen=True)
class Outcome:
    """One execution: its verdict ("holds", "pruned", "deadlock", "livelock", "invariant" or "error"), why, and how.

    ``choices`` has one entry per step: the task that went on, :data:`TICK`, or :func:`wake` of a task. ``lines``
    says the same for a person.
    """

    verdict: str
    message: str
    choices: tuple[int, ...]
    preemptions: int
    lines: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """True when something is wrong with the program."""
        return self.verdict not in (HOLDS, PRUNED)


@dataclass(frozen=True)
class Schedule:
    """A schedule that is kept: enough to run it again, and what it must lead to.

    After the last choice the current task goes on for as long as it can, then the lowest one that can.
    """

    program: str
    choices: tuple[int, ...]
    verdict: str
    message: str = ""
    constants: Mapping[str, Constant] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, one field a line, so that a difference can be read."""
        fields = {
            "program": self.program,
            "constants": dict(self.constants),
            "choices": list(self.choices),
            "verdict": self.verdict,
            "message": self.message,
        }
        body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items())
        Path(path).write_text("{\n" + body + "\n}\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schedule:
        """Read one that :meth:`save` wrote."""
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(
            program=fields["program"],
            choices=tuple(fields["choices"]),
            verdict=fields["verdict"],
            message=fields["message"],
            constants=fields["constants"],
        )
