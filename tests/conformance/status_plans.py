"""The configurations of the status model whose graphs are driven."""

from __future__ import annotations

from models.status import Config

__all__ = ("CORE_LARGE", "CORE_SMALL", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]

# It has every action.
CORE_SMALL: dict[str, Config] = {
    "2 stages, a part comes back": Config(components=2, mortal=R({0})),
}
CORE_LARGE: dict[str, Config] = {
    "1 part, 2 requests": Config(max_asked=2, mortal=R({0})),
    "2 parts, 2 requests": Config(parts=2, max_asked=2, mortal=R({0})),
    "weights, cache and tree of 2 ranks": Config(components=3, per_stage=2, parts=2, without=R({5})),
}
SERVICE: dict[str, Config] = {
    "1 part, 2 requests": Config(max_asked=2, mortal=R({0})),
}
SERVICE_LARGE: dict[str, Config] = {
    "2 stages, a part comes back": Config(components=2, mortal=R({0})),
    "2 parts, 2 requests": Config(parts=2, max_asked=2, mortal=R({0})),
    "2 components in a stage": Config(components=2, per_stage=2, mortal=R({0})),
}


def bounds(config: Config) -> str:
    """Return the bounds in one line."""
    return (
        f"K={config.components} PerStage={config.per_stage} N={config.parts} MaxAsked={config.max_asked} "
        f"Mortal={set(config.mortal) or '{}'}"
    )
