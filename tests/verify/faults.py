"""V2: a guard that is taken away, and a race of the shipped steps, fail in the model as TLC found them in the spec.

``tla/manifest.toml`` has a configuration for each, with its counterexample's length. TLC itself runs most of them in
the nightly verification; here the model, whose graph equals the spec's, has to break the same property in as many
states under the same constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from models import (
    barrier_shipped,
    control_shipped,
    gate_shipped,
    pause_shipped,
    readiness_shipped,
    status_shipped,
    status_shipped_races,
)
from models.barrier import Barrier
from models.barrier_bugs import BUGS as BARRIER_BUGS
from models.control import Control
from models.control_bugs import BUGS as CONTROL_BUGS
from models.dispatch import Dispatch
from models.dispatch_bugs import BUGS as DISPATCH_BUGS
from models.dispatch_shipped import DispatchShipped
from models.dispatch_shipped_races import RACES as DISPATCH_RACES
from models.explore import explore
from models.gate import Gate
from models.gate_bugs import BUGS as GATE_BUGS
from models.gate_bugs import FORGETFUL
from models.kernel import Model, show
from models.pause import Pause
from models.pause_bugs import BUGS as PAUSE_BUGS
from models.readiness import Readiness
from models.readiness_bugs import BUGS as READINESS_BUGS
from models.status import Status
from models.status_bugs import BUGS as STATUS_BUGS
from tests.explore import item_models
from tests.verify import configured
from tests.verify.check import Check, Row
from tla.manifest import Entry, load

__all__ = ("WHAT", "checks", "compared", "model_of")

WHAT = "without each guard, and on the shipped steps, the model breaks what TLC breaks"

# TLA+ module -> the model, and the configurations in which something must fail.
_TABLES: dict[str, tuple[Callable[[Any], Model[Any]], Mapping[str, Any]]] = {
    "MCDispatch": (Dispatch, DISPATCH_BUGS),
    "MCDispatchShipped": (DispatchShipped, DISPATCH_RACES),
    "MCGate": (Gate, {**GATE_BUGS, "MaxLate": FORGETFUL}),
    "MCGateShipped": (gate_shipped.GateShipped, gate_shipped.RACES),
    "MCBarrier": (Barrier, BARRIER_BUGS),
    "MCBarrierShipped": (barrier_shipped.BarrierShipped, barrier_shipped.RACES),
    "MCControl": (Control, CONTROL_BUGS),
    "MCControlShipped": (control_shipped.ControlShipped, control_shipped.RACES),
    "MCPause": (Pause, PAUSE_BUGS),
    "MCPauseShipped": (pause_shipped.PauseShipped, pause_shipped.RACES),
    "MCReadiness": (Readiness, READINESS_BUGS),
    "MCReadinessShipped": (readiness_shipped.ReadinessShipped, readiness_shipped.RACES),
    "MCStatus": (Status, STATUS_BUGS),
    "MCStatusShipped": (status_shipped.StatusShipped, status_shipped_races.RACES),
}
_MOST_STATES = 20_000
"""What needs more is left to TLC at night."""


def checks(protocol: str) -> list[Check]:
    """Return the check of a protocol."""
    return [Check(protocol, "V2", WHAT, _row, (protocol,))]


def _entries(protocol: str) -> list[Entry]:
    listed = (entry for entry in load() if protocol in entry.protocols and entry.violates and entry.mode == "check")
    return [entry for entry in listed if entry.distinct <= _MOST_STATES]


def _plain(constants: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value).replace(" ", "") for name, value in constants.items()}


def model_of(entry: Entry) -> Model[Any] | None:
    """Return the model under the constants of the entry; None when no table has them."""
    if entry.module in item_models.MODELS:
        return item_models.model_of(entry)
    if entry.module not in _TABLES:
        return configured.configured(entry)
    make, table = _TABLES[entry.module]
    wanted = _plain(entry.config().constants)
    for fault in table.values():
        shown = {name: show(value) for name, value in fault.config.constants().items()}
        if fault.violates == entry.violates and _plain(shown) == wanted:
            return make(fault.config)
    return None


def compared(protocol: str) -> Iterator[tuple[Entry, str]]:
    """Yield each configuration with what is wrong with the model there ("" when nothing is)."""
    for entry in _entries(protocol):
        model = model_of(entry)
        if model is None:
            yield entry, "" if entry.size == "small" else "no model has these constants, and TLC runs it only at night"
            continue
        found = explore(model, only={entry.violates}, max_states=_MOST_STATES).violation
        if found is None:
            yield entry, f"the model keeps {entry.violates}"
        elif len(found.path) + 1 != entry.depth:
            yield entry, f"{len(found.path) + 1} states, and TLC found {entry.depth}"
        else:
            yield entry, ""


def _row(protocol: str) -> Row:
    found = list(compared(protocol))
    wrong = [f"{entry.name}: {text}" for entry, text in found if text]
    return Row(
        protocol,
        "V2",
        WHAT,
        ok=bool(found) and not wrong,
        bounds="those of each configuration",
        detail="; ".join(wrong) or f"{len(found)} faults",
    )
