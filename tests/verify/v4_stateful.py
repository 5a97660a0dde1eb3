"""V4: long random runs of the core and of a real host beside the model."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, settings

from models.dispatch import Dispatch
from tests.stateful.core_machine import run_core
from tests.stateful.host_machine import run_host
from tests.verify import cache_rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

_ENVIRONMENT = {"Crash", "CrashProducer"}
_CORE, _HOST = "core beside the model, random runs", "real host beside the model, random runs"


def checks(protocol: str, size: str) -> list[Check]:
    """Return the checks of this level."""
    if protocol in cache_rows.PROTOCOLS:
        return cache_rows.v4(protocol, size)
    if protocol != "dispatch":
        return []
    small = size == "small"
    return [
        Check(protocol, "V4", _CORE, _core, (110 if small else 5000, 40 if small else 100)),
        Check(protocol, "V4", _HOST, _host, (20 if small else 400, 30 if small else 60)),
    ]


def _options(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def _core(examples: int, steps: int) -> Row:
    return _row(_CORE, run_core(_options(examples, steps)), set(Dispatch().actions), examples, steps)


def _host(examples: int, steps: int) -> Row:
    occurred = run_host(_options(examples, steps))
    return _row(_HOST, occurred, set(Dispatch().actions) - _ENVIRONMENT, examples, steps)


def _row(what: str, occurred: Counter[str], wanted: set[str], examples: int, steps: int) -> Row:
    missing = sorted(name for name in wanted if not occurred[name])
    return Row(
        "dispatch",
        "V4",
        what,
        ok=not missing,
        edges=sum(occurred.values()),
        bounds=f"{examples} runs of up to {steps} rules, derandomized",
        detail=f"never occurred: {', '.join(missing)}" if missing else f"all {len(wanted)} actions occurred",
    )
