"""The connect protocol, ``spec/connect.toml``: an item channel of its own."""

from __future__ import annotations

from models.item_channel import Config, ItemChannel, State

__all__ = ("Config", "Connect", "State")


class Connect(ItemChannel):
    """Connect tasks, each to every rank."""

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config, "connect")
