"""V4: long random runs of the core and of a real host beside the model."""

from __future__ import annotations

from models.dispatch import Dispatch
from tests.stateful.core_machine import run_core
from tests.stateful.host_machine import run_host
from tests.verify import cache_rows, rows
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


def _core(examples: int, steps: int) -> Row:
    return rows.random_runs("dispatch", _CORE, run_core, set(Dispatch().actions), examples, steps)


def _host(examples: int, steps: int) -> Row:
    return rows.random_runs("dispatch", _HOST, run_host, set(Dispatch().actions) - _ENVIRONMENT, examples, steps)
