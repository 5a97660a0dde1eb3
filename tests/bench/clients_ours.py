"""fdcomm as a subject."""

from __future__ import annotations

from typing import Any

from fdcomm import EngineWorkerQueue

__all__ = ("open_client",)


def open_client(orders: dict[str, Any]) -> EngineWorkerQueue:
    """Open the client that a host's ``orders`` describe."""
    return EngineWorkerQueue(
        ("0.0.0.0", orders["port"]), num_client=orders["ranks"], client_id=orders["rank"], role=orders["role"]
    )
