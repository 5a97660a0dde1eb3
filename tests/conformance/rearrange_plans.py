"""The configurations of rearrange whose graphs are driven."""

from __future__ import annotations

from models.rearrange import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "bounds")

R = frozenset[int]

CORE: dict[str, Config] = {
    "2 ranks, everything": Config(max_requests=1, movers=R({1, 3, 4}), failing=R({0}), deaf=R({1})),
    "1 rank, 2 requests": Config(ranks=1, movers=R({1}), failing=R({0}), deaf=R({1})),
}
CORE_LARGE: dict[str, Config] = {
    "1 rank, 2 requests, everybody moves": Config(ranks=1, movers=R({0, 1, 2}), failing=R({0}), deaf=R({1})),
    "2 ranks, 2 requests, 2 addresses": Config(peers=2, movers=R({1, 3}), failing=R({0, 1}), deaf=R({1, 2})),
    "3 ranks": Config(ranks=3, max_requests=1, movers=R({4, 6}), failing=R({0}), deaf=R({1})),
}

# Small enough that each edge may cost a millisecond.
SERVICE: dict[str, Config] = {
    "2 ranks, a worker moves": Config(peers=0, max_requests=1, movers=R({3}), failing=R({0})),
    "1 rank, 2 requests, its loader moves": Config(ranks=1, movers=R({0}), failing=R({0}), deaf=R({1})),
    "2 ranks, the coordinator moves": Config(max_requests=1, movers=R({4}), deaf=R({1})),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    movers = ",".join(map(str, sorted(config.movers)))
    return f"N={config.ranks} A={config.peers} MaxRequests={config.max_requests} Movers={{{movers}}}"
