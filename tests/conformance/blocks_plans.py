"""The configurations of blocks whose graphs are driven."""

from __future__ import annotations

from models.blocks import Config

__all__ = ("CORE", "CORE_LARGE", "bounds")

CORE: dict[str, Config] = {
    "1 task, 1 reset": Config(refuses=True, cancels=True, mortal=True, closes=True, overruns=True),
    "leases of 2 blocks": Config(device=2, host=0, sizes=frozenset({1, 2}), in_place=True, refuses=True),
}
CORE_LARGE: dict[str, Config] = {
    "2 tasks": Config(max_tasks=2),
    "2 tasks in place, that may be given up": Config(max_tasks=2, max_gen=0, in_place=True, cancels=True),
    "1 task in place, that overruns": Config(max_gen=1, in_place=True, cancels=True, overruns=True),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    sizes = ",".join(map(str, sorted(config.sizes)))
    return (
        f"Device={config.device} Host={config.host} Sizes={{{sizes}}} MaxTasks={config.max_tasks} "
        f"MaxGen={config.max_gen}"
    )
