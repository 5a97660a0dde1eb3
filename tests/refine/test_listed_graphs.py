"""The configurations that the manifest marks ``graph`` are those whose graphs V2 compares, so that TLC runs once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from models.kernel import show
from tests.refine import (
    barrier_graphs,
    bitmask_graphs,
    blocks_graphs,
    control_graphs,
    dispatch_graphs,
    fmq_graphs,
    gate_graphs,
    item_graphs,
    layerwise_graphs,
    link_graphs,
    mailbox_graphs,
    meeting_graphs,
    pause_graphs,
    published_graphs,
    readiness_graphs,
    rearrange_graphs,
    ring_graphs,
    shipped_graphs,
    signal_graphs,
    status_graphs,
    transfer_graphs,
)
from tla.manifest import load, with_graph
from tla.run import ROOT


def _compared() -> Iterator[tuple[str, str, Any]]:
    tables: list[tuple[str, Mapping[str, Any]]] = [
        ("dispatch/Dispatch.tla", dispatch_graphs.FIXED),
        ("dispatch/DispatchShipped.tla", shipped_graphs.SHIPPED),
        ("bitmask/Bitmask.tla", bitmask_graphs.FIXED),
        ("blocks/Blocks.tla", blocks_graphs.FIXED),
        ("fmq/Fmq.tla", fmq_graphs.FIXED),
        ("gate/Gate.tla", gate_graphs.FIXED),
        ("barrier/Barrier.tla", barrier_graphs.FIXED),
        ("rearrange/Rearrange.tla", rearrange_graphs.FIXED),
        ("layerwise/Layerwise.tla", layerwise_graphs.FIXED),
        ("layerwise/LayerPair.tla", layerwise_graphs.PAIR),
        ("pause/Pause.tla", pause_graphs.FIXED),
        ("pause/PauseShipped.tla", pause_graphs.SHIPPED),
        ("control/Control.tla", control_graphs.FIXED),
        ("control/ControlShipped.tla", control_graphs.SHIPPED),
        ("link/Link.tla", link_graphs.FIXED),
        ("mailbox/Mailbox.tla", mailbox_graphs.FIXED),
        ("mailbox/MailboxShipped.tla", mailbox_graphs.SHIPPED),
        ("status/Status.tla", status_graphs.FIXED),
        ("readiness/Readiness.tla", readiness_graphs.FIXED),
        ("readiness/ReadinessShipped.tla", readiness_graphs.SHIPPED),
        ("transfer/Transfer.tla", transfer_graphs.FIXED),
        ("transfer/TransferShipped.tla", transfer_graphs.SHIPPED),
        ("signal/Signal.tla", signal_graphs.FIXED | signal_graphs.LARGE),
        ("ring/Ring.tla", ring_graphs.FIXED),
        ("ring/RingWait.tla", ring_graphs.WAITING),
        ("ring/RingOverflow.tla", ring_graphs.OVERFLOW),
        ("ring/RingPlace.tla", ring_graphs.PLACE),
        ("ring/RingBias.tla", ring_graphs.BIAS),
        ("ring/RingLast.tla", ring_graphs.LAST),
        ("meeting/Meeting.tla", meeting_graphs.FIXED),
        ("signal/SignalShipped.tla", signal_graphs.SHIPPED),
    ]
    tables += [(module.path, module.configs) for module in published_graphs.MODULES.values()]
    for module, table in tables:
        yield from ((module, "Spec", config) for config in table.values())
    for protocol, configs in item_graphs.FIXED.items():
        yield from ((item_graphs.MODELS[protocol][1], "ItemSpec", config) for config in configs.values())


def test_every_marked_configuration_is_one_that_v2_compares() -> None:
    found = set()
    for module, formula, config in _compared():
        constants = {name: show(value) for name, value in config.constants().items()}
        entry = with_graph(ROOT / module, constants, formula)
        found |= {entry.name} if entry is not None else set()
    marked = {entry.name for entry in load() if entry.graph}
    assert found == marked


def test_other_constants_or_another_formula_are_another_configuration() -> None:
    config = dispatch_graphs.FIXED["2 ranks, 2 clears"]
    constants = {name: show(value) for name, value in config.constants().items()}
    assert with_graph(ROOT / "dispatch/Dispatch.tla", constants, "Spec") is not None
    assert with_graph(ROOT / "dispatch/Dispatch.tla", constants, "FairSpec") is None
    assert with_graph(ROOT / "dispatch/Dispatch.tla", {**constants, "N": "3"}, "Spec") is None
    assert with_graph(ROOT / "dispatch/Dispatch.tla", {**constants, "JoinSkips": "FALSE"}, "Spec") is None
