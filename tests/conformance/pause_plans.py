"""The configurations of the pause protocol whose graphs are driven."""

from __future__ import annotations

from models.pause import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]

CORE: dict[str, Config] = {
    "2 ranks, 1 client": Config(leavers=R({1}), mortal=R({0}), impatient=R({1})),
    "1 rank, 2 clients, 2 modes": Config(ranks=1, clients=2, modes=R({0, 2}), mortal=R({0}), impatient=R({1})),
}
CORE_LARGE: dict[str, Config] = {
    "2 ranks, 2 clients": Config(clients=2, leavers=R({1}), mortal=R({0}), impatient=R({2})),
    "1 rank, 2 clients, all modes": Config(
        ranks=1, clients=2, max_orders=2, modes=R({0, 1, 2}), mortal=R({0}), impatient=R({1})
    ),
    "1 rank, 2 jobs, 3 orders": Config(ranks=1, clients=2, max_jobs=2, max_orders=3, modes=R({0, 1, 2})),
    "2 ranks, 2 jobs, kept": Config(max_jobs=2, modes=R({0, 2}), mortal=R({1}), leavers=R({0})),
}

# Small enough that each edge may cost a millisecond.
SERVICE: dict[str, Config] = {
    "2 ranks, 1 client": Config(leavers=R({1}), mortal=R({0}), impatient=R({1})),
    "1 rank, 2 clients": Config(ranks=1, clients=2, modes=R({0}), mortal=R({0}), impatient=R({2})),
}
SERVICE_LARGE: dict[str, Config] = {
    "1 rank, 2 clients, 3 orders": Config(ranks=1, clients=2, max_orders=3, modes=R({0, 1}), impatient=R({1})),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    modes = "".join(map(str, sorted(config.modes)))
    return (
        f"N={config.ranks} C={config.clients} MaxJobs={config.max_jobs} MaxOrders={config.max_orders} Modes={{{modes}}}"
    )
