"""The control protocols of a host: which channel stands for each, and what a client may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fdcomm.host.control_channel import ControlChannel
from fdcomm.host.members import Channel, Place
from fdcomm.host.pause_channel import PauseChannel
from fdcomm.host.readiness_channel import ReadinessChannel
from fdcomm.host.rearrange_channel import RearrangeChannel
from fdcomm.host.status_channel import StatusChannel
from fdcomm.host.transfer_channel import TransferChannel

__all__ = ("ACTIONS", "CHANNELS")

CHANNELS: Final[dict[str, Callable[[Place, int], Channel]]] = {
    "control": ControlChannel,
    "pause": PauseChannel,
    "readiness": ReadinessChannel,
    "rearrange": RearrangeChannel,
    "status": StatusChannel,
    "transfer": TransferChannel,
}
"""Name in ``layout.CONTROLS`` -> what makes the channel, of a place and a number of ranks."""

ACTIONS: Final[dict[type[Channel], frozenset[str]]] = {
    ControlChannel: frozenset({"ask", "take", "answer", "cancel", "view"}),
    StatusChannel: frozenset({"declare", "mirror", "take", "report", "ask", "cancel", "watch", "view"}),
    PauseChannel: frozenset(
        {"join", "leave", "next_order", "report", "pause", "resume", "cancel", "hold", "let_go", "view"}
        | {"give_up", "look"}
    ),
    ReadinessChannel: frozenset(
        {"declare", "mirror", "begin", "ready", "fail", "beat", "leave", "wait", "cancel", "watch", "view"}
    ),
    RearrangeChannel: frozenset(
        {"request", "update", "wait", "view", "take", "begin_load", "peer", "gather", "declare", "free", "take_load"}
        | {"report", "take_update", "updated", "put_stats", "stats"}
    ),
    TransferChannel: frozenset(
        {"issue", "withdraw", "clear", "abandon", "result", "news", "settled"}
        | {"acknowledge", "outstanding", "view"}
        | {"next_task", "accept", "refuse", "report", "overdue", "settle", "leave"}
    ),
}
