"""What is claimed of the bitmask protocol, and the situations that must be reachable."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

from models.bitmask_state import Config, State
from models.dispatch_state import DOWN, LOST

__all__ = ("invariants", "sometimes")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the state invariants under a configuration."""
    full = (1 << config.ranks) - 1
    immortal = frozenset(range(config.ranks)) - config.mortal

    def in_step(s: State) -> bool:
        queued = {task.id for task in s.queue}
        known = {id_ for ids in s.got for id_ in ids} - queued
        return all(known.issubset(s.got[rank]) for rank in immortal)

    def mask_is_prefix(s: State) -> bool:
        pairs = list(combinations(s.queue, 2))
        return all(old.mask >> r & 1 or not new.mask >> r & 1 for old, new in pairs for r in immortal)

    def no_ghost_call(s: State) -> bool:
        owners = [call.producer for call in s.waiting]
        return all(s.producer[p] != DOWN and owners.count(p) <= config.per_producer for p in owners)

    def waiting_in_order(s: State) -> bool:
        ids = tuple(call.id for call in s.waiting)
        return _increasing(ids) and all(task.id < id_ for task in s.queue for id_ in ids)

    return {
        "TypeOK": lambda s: all(0 < t.id <= s.calls and t.epoch <= s.epoch and 0 <= t.mask < full for t in s.queue),
        "ExactlyOnceInOrder": lambda s: all(_increasing(ids) for ids in s.got),
        "Bounded": lambda s: len(s.queue) <= config.depth,
        "ExistCoherent": lambda s: s.exist == bool(s.queue),
        "InStep": in_step,
        "MaskIsPrefix": mask_is_prefix,
        "NoGhostCall": no_ghost_call,
        "WaitingInOrder": waiting_in_order,
    }


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach."""
    found: dict[str, Callable[[State], bool]] = {
        "every rank took the last task": lambda s: bool(s.calls) and all(s.calls in ids for ids in s.got),
        "a task is half read": lambda s: any(task.mask for task in s.queue),
    }
    if config.depth > 1:
        found["two tasks are queued, one of them half read"] = lambda s: len(s.queue) > 1 and s.queue[0].mask != 0
    if config.mortal:
        found["a call waits while a rank is lost"] = lambda s: bool(s.waiting) and LOST in s.status
    if config.max_epoch:
        found["a half read task outlived a clear"] = lambda s: any(t.mask and t.epoch < s.epoch for t in s.queue)
    return found


def _increasing(ids: tuple[int, ...]) -> bool:
    return all(left < right for left, right in pairwise(ids))
