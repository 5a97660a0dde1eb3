"""The configurations in which the transfer protocol is driven, edge by edge."""

from __future__ import annotations

from models.transfer import Config

__all__ = ("CORE", "CORE_LARGE", "SERVICE", "SERVICE_LARGE", "bounds")

R = frozenset[int]

_EVERYBODY = Config(
    ranks=1, mortal=R({0}), leavers=R({0}), silent=R({0}), failing=R({0}), slow=R({0}), frail=R({1}), impatient=R({1})
)

# Together every action.
CORE: dict[str, Config] = {
    "1 rank, a pause": Config(ranks=1, max_pauses=1),
    "1 rank, everybody may go": _EVERYBODY,
}
CORE_LARGE: dict[str, Config] = {
    "2 ranks, a pause": Config(max_pauses=1),
    "1 rank, 2 tasks of 2 kinds": Config(ranks=1, max_issued=2, kinds=2, capacity=1, failing=R({0})),
    "1 rank, 2 tasks": Config(ranks=1, max_issued=2, failing=R({0})),
    "2 ranks, everybody may go": Config(mortal=R({0}), leavers=R({1}), silent=R({1}), frail=R({1}), impatient=R({1})),
    "2 ranks, time limits": Config(max_pauses=1, hasty=True, impatient=R({1})),
    "2 ranks, one runs over its limit": Config(max_pauses=1, slow=R({0})),
    "3 ranks, crash": Config(ranks=3, mortal=R({2})),
    "2 clients": Config(ranks=1, clients=2, max_issued=2, leavers=R({0}), frail=R({1})),
}

# A process that ends before it has done anything here is driven in tests/unit/test_transfer.py.
SERVICE: dict[str, Config] = {
    "2 ranks": Config(inside=False, mortal=R({0}), leavers=R({1}), failing=R({1})),
    "2 ranks, late": Config(inside=False, failing=R({1}), slow=R({0}), impatient=R({1})),
    "1 rank, late, that may die": Config(
        inside=False, ranks=1, mortal=R({0}), failing=R({0}), slow=R({0}), impatient=R({1})
    ),
}
SERVICE_LARGE: dict[str, Config] = {
    "2 ranks, late, that may go": Config(
        inside=False, mortal=R({0}), leavers=R({1}), failing=R({1}), slow=R({0}), impatient=R({1})
    ),
    "1 rank, 2 tasks, the client may go": Config(
        inside=False, ranks=1, max_issued=2, kinds=2, capacity=1, mortal=R({0}), leavers=R({0}), frail=R({1})
    ),
    "2 ranks, time limits": Config(inside=False, hasty=True, leavers=R({1})),
    "2 clients": Config(inside=False, ranks=1, clients=2, max_issued=2, frail=R({2})),
}


def bounds(config: Config) -> str:
    """Return a configuration as text."""
    shown = {"N": config.ranks, "C": config.clients, "Kinds": config.kinds, "MaxIssued": config.max_issued}
    shown |= {"Capacity": config.capacity, "MaxPauses": config.max_pauses}
    people = {"Leavers": config.leavers, "Mortal": config.mortal, "Silent": config.silent, "Failing": config.failing}
    people |= {"Slow": config.slow, "Frail": config.frail, "Impatient": config.impatient}
    sets = (f"{name}={{{','.join(map(str, sorted(who)))}}}" for name, who in people.items() if who)
    return " ".join([*(f"{name}={value}" for name, value in shown.items()), *sets, *["Hasty"] * config.hasty])
