"""V2: the Python models are the specs. Their labelled transition graphs equal TLC's.

Compared as sets: initial states, states, and edges with their action names.
"""

from __future__ import annotations

from models.dispatch import Config
from tests.refine import broadcast_graphs, shipped_graphs, worker_loop_graphs
from tests.refine.broadcast_graphs import ABSTRACT
from tests.refine.dispatch_graphs import FAULTY, FIXED, MORE, UNGUARDED, compared
from tests.refine.shipped_graphs import MORE as MORE_SHIPPED
from tests.refine.shipped_graphs import SHIPPED
from tests.refine.worker_loop_graphs import LOOPS
from tests.verify import cache_rows, faults, rows
from tests.verify.check import Check, Row

__all__ = ("checks",)

_LEVEL = "V2"
_LOOPS = ("worker loop, tickets", "worker loop, flag on our queue")
_ALL_GUARDS = "FIXED without any guard but GuardOwnRead and FenceFrees"


def checks(protocol: str, size: str) -> list[Check]:
    """Return one check for each configuration; "large" also takes the guards away, together and each by itself."""
    if protocol in cache_rows.PROTOCOLS:
        return cache_rows.v2(protocol, size) + faults.checks(protocol)
    if protocol != "dispatch":
        return faults.checks(protocol)
    fixed, shipped = (FIXED, SHIPPED) if size == "small" else (FIXED | MORE, SHIPPED | MORE_SHIPPED)
    found = faults.checks(protocol)
    found += [Check(protocol, _LEVEL, f"FIXED: {name}", _fixed, (name,)) for name in fixed]
    found += [Check(protocol, _LEVEL, f"SHIPPED: {name}", _shipped, (name,)) for name in shipped]
    found += [Check(protocol, _LEVEL, name, _loop, (name,)) for name in LOOPS if size == "large" or name in _LOOPS]
    if size == "large":
        found.append(Check(protocol, _LEVEL, "Broadcast", _broadcast))
        found.append(Check(protocol, _LEVEL, _ALL_GUARDS, _row, (_ALL_GUARDS, UNGUARDED)))
        found += [Check(protocol, _LEVEL, f"FIXED without {name}", _faulty, (name,)) for name in FAULTY]
    return found


def _fixed(name: str) -> Row:
    return _row(f"FIXED: {name}", (FIXED | MORE)[name])


def _faulty(name: str) -> Row:
    return _row(f"FIXED without {name}", FAULTY[name])


def _shipped(name: str) -> Row:
    config = (SHIPPED | MORE_SHIPPED)[name]
    wanted, difference = shipped_graphs.compared(config)
    bounds = f"N={config.ranks} P={config.producers} MaxCalls={config.max_calls} MaxClears={config.max_clears}"
    return rows.graph("dispatch", f"SHIPPED: {name}", bounds, wanted, difference)


def _loop(name: str) -> Row:
    config = LOOPS[name]
    wanted, difference = worker_loop_graphs.compared(config)
    bounds = f"N={config.ranks} MaxCalls={config.max_calls} MaxLoops={config.max_loops} MaxClears={config.max_clears}"
    return rows.graph("dispatch", name, bounds, wanted, difference)


def _broadcast() -> Row:
    wanted, difference = broadcast_graphs.compared(ABSTRACT)
    bounds = f"Readers={ABSTRACT.readers} Messages={ABSTRACT.messages} Depth={ABSTRACT.depth} Clears={ABSTRACT.clears}"
    return rows.graph("dispatch", "Broadcast", bounds, wanted, difference)


def _row(what: str, config: Config) -> Row:
    wanted, difference = compared(config)
    bounds = (
        f"N={config.ranks} P={config.producers} Depth={config.depth} MaxCalls={config.max_calls} "
        f"MaxEpoch={config.max_epoch}"
    )
    return rows.graph("dispatch", what, bounds, wanted, difference)
