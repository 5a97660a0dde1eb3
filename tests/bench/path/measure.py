"""All subjects by turns: one turn is one run of each subject, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.bench.path.catalogue import SHIPPED
from tests.bench.path.crowd import crowded
from tests.bench.path.stage import Failed, Stage
from tests.bench.path.subject import Missing

__all__ = ("Found", "Plan", "WrongDelivery", "measure")

_LOOKING_MOST = 1 << 16
"""Payload bytes of the runs whose writer looks: with larger ones it makes no difference."""

_WARM = 5


class WrongDelivery(Exception):
    """A reader got something else than what had to come. Nothing that was measured counts."""


@dataclass(frozen=True)
class Plan:
    """What to measure.

    Attributes:
        ranks: Numbers of readers.
        sizes: Payload bytes.
        turns: Runs of each subject in each cell.
        share: Part of the batches of a full run.
        idle_s: Seconds that readers wait to find what waiting costs.
        limit_s: Turns after the first are left out when their share of this time is over.
    """

    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    turns: int
    share: float
    idle_s: float
    limit_s: float

    @property
    def crowded_ranks(self) -> int:
        """Number of readers of the runs on a crowded machine."""
        return 4 if 4 in self.ranks else max(self.ranks)

    @property
    def crowded_size(self) -> int:
        """Payload bytes of the runs on a crowded machine."""
        return 4096 if 4096 in self.sizes else min(self.sizes)

    def count(self, subject: str, load: str, size: int) -> int:
        """Return the batches of a run."""
        slow = subject in SHIPPED
        if slow:
            most = 3 if size >= 1 << 20 else 10
        elif size >= 1 << 20:
            most = 20
        elif size >= 1 << 18:
            most = {"paced": 40}.get(load, 80)
        else:
            most = {"paced": 80, "flow": 1000, "crowded": 100}.get(load, 300)
        return max(3, round(most * self.share))


@dataclass
class Found:
    """What was measured, by rows that JSON can carry. Each list of figures has one for each turn."""

    cells: dict[tuple[str, int, int, str], dict[str, Any]] = field(default_factory=dict)
    idle: dict[str, dict[str, Any]] = field(default_factory=dict)
    clients: list[dict[str, Any]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    checked: int = 0

    def add(self, subject: str, ranks: int, size: int, load: str, run: dict[str, Any], count: int) -> None:
        """Keep one run."""
        row = self.cells.setdefault(
            (subject, ranks, size, load), {"subject": subject, "ranks": ranks, "bytes": size, "load": load}
        )
        if load == "flow":
            row.setdefault("per_s", []).append(round(count / run["total_s"], 1))
            return
        taken = sorted(run["us"])
        row.setdefault("us", []).append(round(statistics.median(taken), 2))
        row.setdefault("p90_us", []).append(round(taken[min(len(taken) - 1, len(taken) * 9 // 10)], 2))
        row.setdefault("cpu_us", []).append(round(1e6 * run["cpu_s"] / count, 1))


def measure(plan: Plan, subjects: Iterable[str], say: Callable[[str], None]) -> Found:
    """Measure. What cannot be measured is told and left out.

    Raises:
        WrongDelivery: A subject delivered something wrong.
    """
    found, begin = Found(), time.monotonic()
    for number, ranks in enumerate(plan.ranks):
        until = begin + plan.limit_s * (number + 1) / len(plan.ranks)
        with contextlib.ExitStack() as stack:
            stages = _stages(subjects, ranks, max(plan.sizes), found, stack, say)
            for turn in range(plan.turns):
                if turn and time.monotonic() > until:
                    say(f"N = {ranks}: {turn} turns only: the time is over")
                    break
                _turn(plan, stages, ranks, found, say, idle=not number)
        say(f"N = {ranks}: measured, {time.monotonic() - begin:.0f} s so far")
    return found


def _stages(
    subjects: Iterable[str],
    ranks: int,
    largest: int,
    found: Found,
    stack: contextlib.ExitStack,
    say: Callable[[str], None],
) -> dict[str, Stage]:
    stages = {}
    for name in subjects:
        if name in found.skipped or name in found.failed:
            continue
        try:
            stages[name] = stage = stack.enter_context(Stage(name, ranks, largest))
        except Missing as error:
            found.skipped[name] = str(error)
            say(f"skipped: {name}: {error}")
            continue
        except Failed as error:
            found.failed[name] = str(error)
            say(f"failed: {error}")
            continue
        if stage.about:
            found.about[name] = stage.about
        facts = {key: [round(each[key], 3) for each in stage.facts] for key in ("connect_ms", "memory_kib")}
        found.clients.append({"subject": name, "ranks": ranks, **facts})
        _guarded(found, stages, say, stage, partial(stage.run, "back", 64, _WARM))
    return stages


def _turn(
    plan: Plan, stages: dict[str, Stage], ranks: int, found: Found, say: Callable[[str], None], *, idle: bool
) -> None:
    for size in plan.sizes:
        for stage in list(stages.values()):  # memory of that size is had, and sizes that a subject learns are learnt
            _guarded(found, stages, say, stage, partial(stage.run, "back", size, _WARM))
        for load in ("back", "paced", "flow", "looking"):
            for name, stage in list(stages.items()):
                if load == "looking" and (name in SHIPPED or size > _LOOKING_MOST):
                    continue
                count = plan.count(name, load, size)
                run = _guarded(found, stages, say, stage, partial(stage.run, load, size, count))
                if run is not None:
                    found.add(name, ranks, size, load, run, count)
    if ranks == plan.crowded_ranks:
        with crowded():
            for name, stage in list(stages.items()):
                count = plan.count(name, "crowded", plan.crowded_size)
                run = _guarded(found, stages, say, stage, partial(stage.run, "back", plan.crowded_size, count))
                if run is not None:
                    found.add(name, ranks, plan.crowded_size, "crowded", run, count)
    for name, stage in list(stages.items()) if idle else ():
        used = _guarded(found, stages, say, stage, partial(stage.idle, plan.idle_s))
        if used is not None:
            row = found.idle.setdefault(name, {"subject": name, "ranks": ranks, "reader": [], "helpers": []})
            for key in ("reader", "helpers"):
                row[key].append(round(used[key], 5))


def _guarded(
    found: Found, stages: dict[str, Stage], say: Callable[[str], None], stage: Stage, run: Callable[[], Any]
) -> Any:
    """Return what a run has found; None if the subject failed, which then takes part in nothing more.

    Raises:
        WrongDelivery: It had one.
    """
    try:
        ran = run()
    except Failed as error:
        stages.pop(stage.name, None)
        found.failed[stage.name] = str(error)
        say(f"failed: {error}")
        return None
    if ran["wrong"]:
        raise WrongDelivery(f"{stage.name}: {ran['wrong']} wrong; {ran['faults']}")
    found.checked += ran["checked"]
    return ran
