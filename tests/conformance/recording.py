"""What a channel under test records, kept in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdcomm.trace import Recorder

__all__ = ("Memory",)


class Memory(Recorder):
    """Keeps the events of a protocol (None: of all), but for Open, which is no step of a model."""

    def __init__(self, protocol: str | None = None) -> None:
        self.protocol = protocol
        self.events: list[dict[str, Any]] = []

    def write(self, event: Mapping[str, Any]) -> None:
        if self.protocol in (None, event["protocol"]) and event["action"] != "Open":
            self.events.append(dict(event))

    def take(self) -> list[dict[str, Any]]:
        """Return what was recorded since the last look."""
        events, self.events = self.events, []
        return events

    def close(self) -> None:
        """Nothing is open."""
