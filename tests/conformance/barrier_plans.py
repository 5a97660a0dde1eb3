"""The configurations of the barrier model whose graphs are driven."""

from __future__ import annotations

from models.barrier import Config

__all__ = ("CORE_LARGE", "CORE_SMALL", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]

# Together they have every action and every outcome of a wait.
CORE_SMALL: dict[str, Config] = {
    "2 ranks, 2 barriers, everything": Config(
        labels=2, max_rounds=1, max_aborts=1, named=True, leavers=R({1}), mortal=R({0})
    ),
    "3 ranks, 2 barriers, crash": Config(ranks=3, labels=2, max_rounds=1, mortal=R({2})),
    "1 rank": Config(ranks=1, barriers=1, max_rounds=2, max_aborts=1, named=True, leavers=R({0}), mortal=R({0})),
}
CORE_LARGE: dict[str, Config] = {
    "2 ranks, 1 barrier, 3 rounds, 2 aborts": Config(
        barriers=1, labels=2, max_rounds=3, max_aborts=2, named=True, leavers=R({0, 1}), mortal=R({0, 1})
    ),
    "3 ranks, 2 barriers, 2 rounds": Config(ranks=3, labels=2, max_rounds=2, max_aborts=1, mortal=R({0, 2})),
    "4 ranks, 2 barriers": Config(ranks=4, max_rounds=1, leavers=R({1}), mortal=R({3})),
}
SERVICE: dict[str, Config] = {
    "2 ranks, 1 barrier, 2 rounds": Config(
        barriers=1, labels=2, max_rounds=2, max_aborts=1, named=True, leavers=R({1}), mortal=R({0})
    ),
    "2 ranks, 2 barriers": Config(max_rounds=1, max_aborts=1, mortal=R({1})),
}
SERVICE_LARGE: dict[str, Config] = {
    "2 ranks, 2 barriers, both mortal": Config(max_rounds=1, max_aborts=1, mortal=R({0, 1})),
    "3 ranks, 2 barriers": Config(ranks=3, max_rounds=1, mortal=R({2}), leavers=R({0})),
}


def bounds(config: Config) -> str:
    """Return the bounds in one line."""
    return (
        f"N={config.ranks} B={config.barriers} L={config.labels} MaxRounds={config.max_rounds} "
        f"MaxAborts={config.max_aborts}"
    )
