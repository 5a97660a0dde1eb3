"""The model configurations whose graphs are driven, and the unbounded model that says what is enabled."""

from __future__ import annotations

from dataclasses import replace

from models.dispatch import Config, Dispatch

__all__ = ("CORE_LARGE", "CORE_SMALL", "HOST", "HOST_TWO_PRODUCERS", "SERVICE", "bounds", "unbounded")


def _set(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


# Together they have every action; each has crashes, clears and timeouts.
CORE_SMALL: dict[str, Config] = {
    "1 producer, depth 1": Config(
        ranks=2, max_calls=2, leavers=_set(0), mortal=_set(1), mortal_producers=_set(0), quitters=_set(0)
    ),
    "2 producers, depth 1": Config(ranks=2, producers=2, max_calls=2, mortal=_set(1)),
    "2 calls of one producer, depth 2": Config(
        ranks=2, depth=2, max_calls=2, per_producer=2, mortal=_set(0), mortal_producers=_set(0)
    ),
}
CORE_LARGE: dict[str, Config] = {
    "2 epochs": Config(
        ranks=2, max_calls=2, max_epoch=2, leavers=_set(0), mortal=_set(1), mortal_producers=_set(0), quitters=_set(0)
    ),
    "2 producers, depth 2, all mortal": Config(
        ranks=2,
        producers=2,
        depth=2,
        max_calls=2,
        leavers=_set(0),
        mortal=_set(0, 1),
        mortal_producers=_set(1),
        quitters=_set(0),
    ),
    "3 ranks, depth 2": Config(
        ranks=3, depth=2, max_calls=2, leavers=_set(0), mortal=_set(2), mortal_producers=_set(0), quitters=_set(0)
    ),
}

# Small enough that each edge may cost a millisecond.
SERVICE: dict[str, Config] = {
    "1 producer, depth 1": Config(ranks=2, max_calls=2, mortal=_set(1), leavers=_set(1), max_epoch=1),
    "2 producers": Config(ranks=1, producers=2, max_calls=3, mortal=_set(0), mortal_producers=_set(1), max_epoch=0),
    "2 calls of one producer, depth 2": Config(
        ranks=1, depth=2, max_calls=4, per_producer=2, mortal_producers=_set(0), quitters=_set(0)
    ),
}


HOST = Config(
    ranks=2,
    max_calls=4,
    max_epoch=2,
    leavers=_set(0, 1),
    mortal=_set(0, 1),
    mortal_producers=_set(0),
    quitters=_set(0),
)
HOST_TWO_PRODUCERS = Config(ranks=2, producers=2, depth=2, max_calls=4, mortal=_set(1), mortal_producers=_set(0))


def unbounded(config: Config) -> Dispatch:
    """Return the model without its bounds, in which everybody may crash and leave."""
    ranks, producers = frozenset(range(config.ranks)), frozenset(range(config.producers))
    free = replace(
        config,
        max_calls=None,
        max_epoch=None,
        per_producer=None,
        leavers=ranks,
        mortal=ranks,
        mortal_producers=producers,
        quitters=producers,
    )
    return Dispatch(free)


def bounds(config: Config) -> str:
    """Return the bounds of a configuration, for people."""
    parts = [f"N={config.ranks} P={config.producers} Depth={config.depth}"]
    parts.append(f"MaxCalls={config.max_calls} MaxEpoch={config.max_epoch} PerProducer={config.per_producer}")
    return " ".join(parts)
