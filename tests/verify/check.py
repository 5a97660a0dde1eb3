"""What one verification check is and what it reports. Every level module offers ``checks(protocol, size)``."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = ("LEVELS", "Check", "Row", "run")

LEVELS = {
    "V1": "spec: invariants, liveness, refinement (TLC)",
    "V2": "model = spec: equal labelled transition graphs",
    "V3": "code = model: every edge driven through the implementation",
    "V4": "long runs: Hypothesis state machines",
    "V5": "schedules: the code's own threads, explored",
    "V6": "traces: recorded runs judged by TLC",
    "V7": "races: fails on the shipped variant, passes on ours",
}


@dataclass(frozen=True)
class Row:
    """One line of the final table.

    ``states`` and ``edges`` are what was covered (None where the word does not apply); ``bounds`` says under which
    bounds the claim holds; ``detail`` is one line for a person, and on failure the reason with the next step.
    """

    protocol: str
    level: str
    what: str
    ok: bool
    states: int | None = None
    edges: int | None = None
    bounds: str = ""
    detail: str = ""
    seconds: float = 0.0
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Check:
    """A named check that runs by itself, in any process (``run`` must be picklable by reference)."""

    protocol: str
    level: str
    what: str
    run: Callable[..., Row]
    args: tuple[object, ...] = ()

    @property
    def fresh(self) -> bool:
        """Whether it needs a process that has run no other check.

        Hypothesis also draws numbers that it finds in the modules which are loaded, so a derandomized run is the same
        each time only if these are the same.
        """
        return self.level == "V4"


def run(check: Check) -> Row:
    """Run one check. An exception is a failed row, not a crash of the whole verification."""
    start, used = time.perf_counter(), _processor_s()
    try:
        row = check.run(*check.args)
    except Exception as error:  # noqa: BLE001 - the row reports it
        row = Row(check.protocol, check.level, check.what, ok=False, detail=f"{type(error).__name__}: {error}")
    return replace(row, seconds=time.perf_counter() - start, cpu_s=_processor_s() - used)


def _processor_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)
