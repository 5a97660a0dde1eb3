"""Parts of a recorded event, for the tuples that TLC gets: each is what it has to be, or raises Malformed."""

from __future__ import annotations

from tla.judging import Malformed, number
from tla.trace_events import Event

__all__ = ("exact_parts", "ordered_ranks")


def exact_parts(what: str, found: object, wanted: set[str]) -> Event:
    """Return an object that has exactly these parts."""
    if not isinstance(found, dict) or set(found) != wanted:
        raise Malformed(f"{what} must have exactly {sorted(wanted)}, not {found}")
    return found


def ordered_ranks(ranks: object, count: int) -> frozenset[int]:
    """Return a list of ranks in their order as a set; there are so many ranks."""
    if not isinstance(ranks, list) or ranks != sorted(set(ranks)):
        raise Malformed(f"{ranks!r} is not a list of ranks in their order")
    return frozenset(number(rank, count) for rank in ranks)
