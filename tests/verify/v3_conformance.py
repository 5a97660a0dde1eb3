"""V3: every edge of the model's graph is driven through the core, the host's service, and a sample through a host."""

from __future__ import annotations

from tests.conformance.core_edges import drive_core
from tests.conformance.host_walks import drive_host
from tests.conformance.plans import CORE_LARGE, CORE_SMALL, HOST, HOST_TWO_PRODUCERS, SERVICE, bounds
from tests.conformance.service_edges import drive_service
from tests.verify import cache_rows, rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

SEED = 20240229
_SERVICE_SMALL = ("2 producers", "2 calls of one producer, depth 2")


def checks(protocol: str, size: str) -> list[Check]:
    """Return the checks of this level."""
    if protocol in cache_rows.PROTOCOLS:
        return cache_rows.v3(protocol, size)
    if protocol != "dispatch":
        return []
    small = size == "small"
    core = list(CORE_SMALL) if small else [*CORE_SMALL, *CORE_LARGE]
    found = [Check(protocol, "V3", f"core, every edge: {plan}", _core, (plan,)) for plan in core]
    for plan in _SERVICE_SMALL if small else SERVICE:
        found.append(Check(protocol, "V3", f"host service, every edge that a host can take: {plan}", _service, (plan,)))
    walks = 12 if small else 300
    found.append(Check(protocol, "V3", f"real host, {2 * walks} behaviours through handles", _host, (walks,)))
    return found


def _core(plan: str) -> Row:
    config = {**CORE_SMALL, **CORE_LARGE}[plan]
    return rows.core_edges("dispatch", f"core, every edge: {plan}", bounds(config), drive_core(config))


def _service(plan: str) -> Row:
    what = f"host service, every edge that a host can take: {plan}"
    hidden = "start inside a critical section, where a put is answered at its arrival"
    return rows.host_edges("dispatch", what, bounds(SERVICE[plan]), drive_service(SERVICE[plan]), hidden)


def _host(walks: int) -> Row:
    runs = [drive_host(config, SEED, walks, 25) for config in (HOST, HOST_TWO_PRODUCERS)]
    moves, events = sum(run.moves for run in runs), sum(run.events for run in runs)
    return Row(
        "dispatch",
        "V3",
        f"real host, {2 * walks} behaviours through handles",
        ok=moves > 0,
        edges=moves,
        bounds=f"seed {SEED}, 25 moves each; {bounds(HOST)}",
        detail=f"{moves} different moves, {events} recorded events, all as the model says",
    )
