"""The configurations in which the control protocol is driven, edge by edge."""

from __future__ import annotations

from models.control import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]

# Together every action.
CORE: dict[str, Config] = {
    "1 rank, 2 requests": Config(ranks=1, max_asked=2, leavers=R({0}), mortal=R({0}), silent=R({0})),
    "1 rank, room for 1": Config(ranks=1, max_asked=2, capacity=1, leavers=R({0}), mortal=R({0}), silent=R({0})),
    "2 ranks": Config(leavers=R({1}), mortal=R({0}), silent=R({1})),
}
CORE_LARGE: dict[str, Config] = {
    "2 ranks, 2 requests": Config(max_asked=2, leavers=R({1}), mortal=R({0})),
    "3 ranks, crash": Config(ranks=3, mortal=R({2})),
}

# A process that ends before its first take is driven in tests/unit/test_control.py.
SERVICE: dict[str, Config] = {
    "1 rank, 2 requests": Config(ranks=1, max_asked=2, leavers=R({0}), mortal=R({0})),
    "2 ranks": Config(leavers=R({1}), mortal=R({0})),
}
SERVICE_LARGE: dict[str, Config] = {
    "3 ranks, crash": Config(ranks=3, mortal=R({2})),
    "2 ranks, 2 requests": Config(max_asked=2, mortal=R({0})),
}


def bounds(config: Config) -> str:
    """Return a configuration as text."""
    shown = {"N": config.ranks, "MaxAsked": config.max_asked, "Capacity": config.capacity}
    people = {"Leavers": config.leavers, "Mortal": config.mortal, "Silent": config.silent}
    sets = (f"{name}={{{','.join(map(str, sorted(who)))}}}" for name, who in people.items())
    return " ".join([*(f"{name}={value}" for name, value in shown.items()), *sets])
