"""The cache_info protocol, ``spec/cache_info.toml``: an item channel of its own."""

from __future__ import annotations

from models.item_channel import Config, ItemChannel, State

__all__ = ("CacheInfo", "Config", "State")


class CacheInfo(ItemChannel):
    """Lists of cache infos, each to every rank."""

    def __init__(self, config: Config | None = None) -> None:
        super().__init__(config, "cache_info")
