"""The configurations of the mailbox whose graphs are driven."""

from __future__ import annotations

from models.mailbox import Config

__all__ = ("CORE", "CORE_LARGE", "bounds")

CORE: dict[str, Config] = {
    "1 request, 1 client": Config(max_items=3, mortal=frozenset({1}), slow=True, idle=True, closes=True),
    "2 requests": Config(requests=2, max_items=1, capacity=1, mortal=frozenset({1}), slow=True, idle=True, closes=True),
}
CORE_LARGE: dict[str, Config] = {
    "1 request, 2 clients": Config(clients=2, mortal=frozenset({2}), slow=True, idle=True, closes=True),
    "2 requests of 2 results": Config(requests=2, mortal=frozenset({1}), slow=True, idle=True, closes=True),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    return f"Requests={config.requests} Clients={config.clients} MaxItems={config.max_items} Capacity={config.capacity}"
