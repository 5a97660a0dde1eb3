"""Which components there are: FastDeploy's, and what a declaration may say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fdcomm.errors import ConfigError

__all__ = ("DEFAULT_COMPONENTS", "checked", "names_of")

DEFAULT_COMPONENTS: Final = (("model_weights", 0), ("kv_cache", 0), ("prefix_tree", 1))
"""FastDeploy's components and their stages: the prefix tree is cleared after the cache, and restored before it."""


def checked(components: object, ranks: int) -> tuple[tuple[str, int, int], ...]:
    """Return what was declared, with 0 parts as one for each rank.

    Raises:
        ConfigError: It is no list of (name, stage, parts).
    """
    found: list[tuple[str, int, int]] = []
    given: Sequence[object] = components if isinstance(components, (list, tuple)) else [components]
    for one in given:
        match one:
            case (str(name), int(stage), int(parts)) if type(stage) is type(parts) is int and min(stage, parts) >= 0:
                found.append((name, stage, parts or ranks))
            case _:
                raise ConfigError(f"status.declare: {one!r} must be (name, stage, parts), with numbers from 0")
    return tuple(found)


def names_of(missing: dict[str, tuple[int, ...]]) -> str:
    """Return the parts of each component in words."""
    return "; ".join(f"{name}: part {', '.join(map(str, parts))}" for name, parts in missing.items())
