"""The configurations of the link whose graphs are driven."""

from __future__ import annotations

from models.link import Config

__all__ = ("CORE", "CORE_LARGE", "bounds")

CORE: dict[str, Config] = {
    "2 calls": Config(calls=2, may_fence=True, closes=True),
}
CORE_LARGE: dict[str, Config] = {
    "2 calls, everything": Config(2, 1, 1, True, True, True, True, True),
    "2 of 3 calls at once": Config(calls=3, window=2),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    return f"Calls={config.calls} Window={config.window} MaxLosses={config.max_losses}"
