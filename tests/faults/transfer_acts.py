"""What clients and ranks do so that a host passes every fault point of the transfer protocol."""

from __future__ import annotations

from typing import Any

from tests.traces.transfer_real import Everything

__all__ = ("TRANSFER_POINTS", "transfer_act")

TRANSFER_POINTS = (
    *("Join.done", "Leave.done", "Fence.done", "Vanish.done", "Reappear.done", "Issue.enter", "Issue.done"),
    *("Withdraw.done", "Clear.done", "Abandon.done", "HandOut.enter", "HandOut.done", "Acknowledge.done", "Gone.done"),
    *("Accept.enter", "Accept.done", "Refuse.done", "Return.done", "BackOff.done", "Start.done"),
    *("Report.enter", "ReportOk.done", "ReportFailed.done", "Overdue.enter", "Overdue.done", "Settle.enter"),
    *("Settle.done", "Settled.enter", "Settled.done"),
)


def transfer_act(stage: Any) -> None:
    """Run until the host dies: then some call raises HostLostError."""
    Everything(stage.engine, stage.open, stage.close, lambda handle: stage.lose(handle, "transfer")).do()
