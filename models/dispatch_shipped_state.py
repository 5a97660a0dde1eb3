"""State, constants and claims of the shipped dispatch. Names and shapes are those of ``DispatchShipped.tla``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ("NOBODY", "Config", "Put", "State", "Words", "invariants", "sometimes")

NOBODY = -1


class Words(NamedTuple):
    """The two exist words. Which one a process uses depends on the address that it was given."""

    shm: bool
    manager: bool


class Put(NamedTuple):
    """History of a put: its batch, and how many rounds of clears had begun."""

    id: int
    rounds: int


class State(NamedTuple):
    """All variables of the spec. ``mine`` is indexed by producer number minus N."""

    lock: int
    tasks: tuple[int, ...]
    flags: tuple[int, ...]
    exist: Words
    pc: tuple[str, ...]
    mine: tuple[int, ...]
    told: frozenset[int]
    calls: int
    alive: tuple[bool, ...]
    got: tuple[tuple[int, ...], ...]
    puts: tuple[Put, ...]
    clears: tuple[int, ...]
    wiped: frozenset[int]


@dataclass(frozen=True)
class Config:
    """Constants of the spec. The defaults are the guarded environment, in which the shipped protocol works."""

    ranks: int = 2
    producers: int = 1
    max_calls: int = 2
    max_clears: int = 0
    barrier: bool = True
    idle_gets: bool = False
    clearers: frozenset[int] = frozenset()
    mortal: frozenset[int] = frozenset()
    killed_holding: bool = False
    one_address: bool = True
    lower_inside: bool = True

    def constants(self) -> dict[str, int | bool | frozenset[int]]:
        """Return the constants under their names in the spec."""
        return {
            "N": self.ranks,
            "P": self.producers,
            "MaxCalls": self.max_calls,
            "MaxClears": self.max_clears,
            "Barrier": self.barrier,
            "IdleGets": self.idle_gets,
            "Clearers": self.clearers,
            "Mortal": self.mortal,
            "KilledHolding": self.killed_holding,
            "OneAddress": self.one_address,
            "LowerInside": self.lower_inside,
        }


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return what should hold, and does in the guarded environment only."""

    def workers_see(s: State) -> bool:
        return s.exist.shm if config.one_address else s.exist.manager

    return {
        "ExactlyOnceInOrder": lambda s: all(_increasing(ids) for ids in s.got),
        "OnlyReadersLower": lambda s: "idle get: lower" not in s.pc,
        "ExistMeansWork": lambda s: s.lock != NOBODY or not workers_see(s) or bool(s.tasks),
        "NoLostWakeUp": lambda s: s.lock != NOBODY or not s.tasks or workers_see(s),
        "InStep": lambda s: all({*ids} <= {*others, *s.tasks} for ids in s.got for others in s.got),
        "ClearsOnlySeen": lambda s: not s.wiped,
        "PutsInOrder": lambda s: _increasing(tuple(put.id for put in s.puts)),
    }


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return what must be reachable, so that the claims are not empty."""
    return {
        "every rank took the last batch": lambda s: all(config.max_calls in ids for ids in s.got),
        "a put waits for readers": lambda s: "put: wait" in s.pc,
    }


def _increasing(ids: tuple[int, ...]) -> bool:
    return all(left < right for left, right in pairwise(ids))
