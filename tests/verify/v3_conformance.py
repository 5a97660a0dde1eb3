"""V3: every edge of the model's graph is driven through the core, the host's service, and a sample through a host."""

from __future__ import annotations

from tests.conformance.core_edges import drive_core
from tests.conformance.host_walks import drive_host
from tests.conformance.plans import CORE_LARGE, CORE_SMALL, HOST, HOST_TWO_PRODUCERS, SERVICE, bounds
from tests.conformance.service_edges import drive_service
from tests.verify import cache_rows
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
    done = drive_core(config)
    return Row(
        "dispatch",
        "V3",
        f"core, every edge: {plan}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(config),
        detail=f"all edges, and {done.refusals} calls that must be refused, changed nothing",
    )


def _service(plan: str) -> Row:
    done = drive_service(SERVICE[plan])
    hidden = done.of - done.edges
    return Row(
        "dispatch",
        "V3",
        f"host service, every edge that a host can take: {plan}",
        ok=done.edges > 0 and done.refusals > 0,
        states=done.states,
        edges=done.edges,
        bounds=bounds(SERVICE[plan]),
        detail=f"{done.walks} behaviours, {done.refusals} refusals; {hidden} of {done.of} edges start inside a "
        "critical section, where a put is answered at its arrival",
    )


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
