"""The configurations of layer-wise sending whose graphs are driven."""

from __future__ import annotations

from models.layerwise import Config

__all__ = ("CORE", "CORE_LARGE", "bounds")

R = frozenset[int]

CORE: dict[str, Config] = {
    "1 slot, used twice": Config(aborted=R({2}), expiry=True),
    "2 slots, an info is lost": Config(tasks=3, slots=2, layers=1, lost=R({1}), aborted=R({3}), expiry=True),
    "room for 1 task": Config(tasks=3, slots=2, layers=1, capacity=1, aborted=R({2}), expiry=True),
}
CORE_LARGE: dict[str, Config] = {
    "1 slot, used three times": Config(tasks=3, aborted=R({2}), expiry=True),
    "2 ranks": Config(ranks=2, slots=2, layers=1),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    return (
        f"N={config.ranks} T={config.tasks} S={config.slots} L={config.layers} Capacity={config.capacity} "
        f"Modulus={config.modulus} First={config.first}"
    )
