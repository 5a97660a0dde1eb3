"""The shipped protocol as a subject. Apart from ours, so that a process has the modules of one of them only."""

from __future__ import annotations

from typing import Any

from tests.races.shipped import ShippedQueue

__all__ = ("open_client",)


def open_client(orders: dict[str, Any]) -> ShippedQueue:
    """Open the client that a host's ``orders`` describe."""
    address = orders["address"]
    place = address if isinstance(address, str) else (address[0], address[1])
    return ShippedQueue(place, bytes.fromhex(orders["key"]), orders["ranks"], orders["rank"], orders["words"])
