"""The shared words in which the loops of parts leave stamps of time: where each is, and what a stamp says.

A word belongs to every second process of a part, and a stamp names the process that made it: what a process writes that
was fenced and does not know it is never taken for its successor's. The time is that of the machine's monotonic clock,
which all its processes share, so a stamp is judged by whoever reads it, and says nothing after a reboot.
"""

from __future__ import annotations

from typing import Final

__all__ = ("ASSUMED_DELAY_S", "age_of", "most_parts", "same_clock", "slot_of", "stamp", "words_for")

_MS_BITS: Final = 43
_INC_BITS: Final = 20
_MS_MASK: Final = (1 << _MS_BITS) - 1
_INC_MASK: Final = (1 << _INC_BITS) - 1
ASSUMED_DELAY_S: Final = 10.0
"""A call that says what time it is arrives within this, or the part's clock counts as another machine's."""


def most_parts(ranks: int) -> int:
    """Return how many parts a replica may have."""
    return 8 * (ranks + 1)


def words_for(ranks: int) -> int:
    """Return how many shared words a replica needs."""
    return 2 * most_parts(ranks)


def slot_of(number: int, inc: int) -> int:
    """Return the word of an incarnation of part ``number``."""
    return 2 * number + inc % 2


def stamp(inc: int, now: float) -> int:
    """Return the stamp of an incarnation. 0, which a fresh word has, is none: time runs since the boot."""
    return (inc & _INC_MASK) << _MS_BITS | max(1, int(now * 1000) & _MS_MASK)


def age_of(word: int, inc: int, now: float) -> float | None:
    """Return the seconds since this incarnation's stamp; None: the word has none of it."""
    if word <= 0 or word >> _MS_BITS != inc & _INC_MASK:
        return None
    return max(0.0, now - (word & _MS_MASK) / 1000)


def same_clock(theirs: float | None, now: float) -> bool:
    """Return True when a process that has just said what time it is may make stamps itself."""
    return theirs is not None and 0 <= now - theirs <= ASSUMED_DELAY_S
