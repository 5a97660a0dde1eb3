"""The configurations of the gate whose graphs are driven."""

from __future__ import annotations

from models.gate import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "bounds")

R = frozenset[int]

CORE: dict[str, Config] = {
    "2 ranks, everything": Config(skippers=R({0}), leavers=R({0}), mortal=R({1})),
    "1 key again and again": Config(keys=1, max_issues=3, max_late=1, skippers=R({0}), mortal=R({1})),
    "1 key, ends before the first answer": Config(keys=1, mortal=R({1}), silent=R({1})),
}
CORE_LARGE: dict[str, Config] = {
    "3 ranks": Config(ranks=3, skippers=R({0}), leavers=R({1}), mortal=R({2})),
    "2 ranks, 3 requests": Config(max_issues=3, skippers=R({0}), mortal=R({1})),
}

# Small enough that each edge may cost a millisecond.
SERVICE: dict[str, Config] = {
    "1 key, everything": Config(keys=1, max_issues=2, skippers=R({0}), leavers=R({0}), mortal=R({1})),
    "2 keys, room for 1 round": Config(capacity=1, leavers=R({1})),
}


def bounds(config: Config) -> str:
    """Return the bounds as one line."""
    return (
        f"N={config.ranks} K={config.keys} Capacity={config.capacity} MaxLate={config.max_late} "
        f"MaxIssues={config.max_issues}"
    )
