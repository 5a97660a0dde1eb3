"""The configurations of the FMQ queue whose graphs are driven."""

from __future__ import annotations

from models.fmq import Config

__all__ = ("CORE", "CORE_LARGE", "bounds")

_ONE = frozenset({1})

CORE: dict[str, Config] = {
    "1 message": Config(max_sent=1, window=1, large=_ONE),
    "1 message that is not kept": Config(max_sent=1, window=1, large=_ONE, keep=False),
}
CORE_LARGE: dict[str, Config] = {
    "2 messages": Config(),
    "2 messages, room for one": Config(window=1),
    "2 messages that are not kept": Config(keep=False),
    "2 producers": Config(producers=2, max_sent=1, window=1, large=_ONE, max_cuts=0),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    return (
        f"P={config.producers} MaxSent={config.max_sent} Window={config.window} MaxStarts={config.max_starts} "
        f"MaxCuts={config.max_cuts} Keep={config.keep}"
    )
