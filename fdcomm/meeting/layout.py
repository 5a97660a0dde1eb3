"""Where the words of a meeting are, and what a turn says.

Words are signed, aligned, of 8 bytes. Line l of rank r: r for its first, third, .. process, ``ranks + r`` for the
others: two processes may hold the two lines of a rank for as long as the older one is stopped, and each stores only to
its own.

Barriers that are used in turn share a meeting: a wait says at which *place* it is. How often each of them was passed
stands in two banks; the round says which one is right, so the store of the next turn changes it with all the rest.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fdcomm.errors import ConfigError

__all__ = (
    "ANY_BROKEN",
    "ARRIVAL",
    "BROKEN",
    "ENDING",
    "FLAGS",
    "KINDS",
    "LABEL",
    "LABEL_BYTES",
    "LAYOUT_VERSION",
    "LIVES",
    "LOST",
    "MAGIC",
    "MOST_ENDINGS",
    "MOST_PLACES",
    "MOST_RANKS",
    "NOBODY",
    "NUMBER",
    "PID",
    "PLACE",
    "ROUND",
    "STATE",
    "TURN",
    "Shape",
    "closed_to",
    "endings_of",
    "next_round",
    "next_turn",
    "read_why",
    "round_of",
    "why",
    "why_of",
)

MAGIC: Final = int.from_bytes(b"fdcommM1", "little")
LAYOUT_VERSION: Final = 2
MOST_RANKS: Final = 64
MOST_PLACES: Final = 4
LABEL_BYTES: Final = 120

# A turn: the round, how many waits of it have ended without a pass, and bits that are 0 while the meeting is open: a
# rank is lost; the barrier of a place was aborted.
LOST: Final = 1
BROKEN: Final = 2
"""The bit of the first place. The others follow."""
ENDING: Final = 2 << MOST_PLACES
STATE: Final = ENDING - 1
ANY_BROKEN: Final = STATE - LOST
ROUND: Final = ENDING << 16
MOST_ENDINGS: Final = ROUND // ENDING - 1
KINDS: Final = ("mismatch", "lost", "broken", "reset")

_LINE: Final = 8

# Words 0 to 3: magic, version, ranks, places.
TURN: Final = 1 * _LINE
"""The turn, whose low half is the futex word."""
_WHY: Final = 2 * _LINE
_WHYS: Final = 8
"""Why waits have ended: which ending that was, the place, and the number of the kind."""
FLAGS: Final = 3 * _LINE
"""A byte for each line: its process sleeps, or is about to."""
LIVES: Final = FLAGS + 2 * MOST_RANKS // 8
"""For each rank twice the number of its processes that were given up; odd: nobody is counted."""
_COUNTS: Final = LIVES + MOST_RANKS
_LINES: Final = _COUNTS + 2 * MOST_PLACES

# Places in the words of a line.
ARRIVAL: Final = 0
"""The turn in which its process waits."""
NUMBER: Final = 1
"""At which place that is, times PLACE, and a number of its label."""
PLACE: Final = 1 << 33
PID: Final = _LINE
LABEL: Final = 2 * _LINE
_LINE_WORDS: Final = 4 * _LINE

NOBODY: Final = -1


def round_of(turn: int) -> int:
    """The number of the round."""
    return turn // ROUND


def endings_of(turn: int) -> int:
    """How many waits of the round have ended without a pass."""
    return turn % ROUND // ENDING


def next_round(turn: int) -> int:
    """The turn after a pass. A barrier that is aborted stays so when another one is passed."""
    return turn - turn % ROUND + ROUND + turn % ENDING


def next_turn(turn: int, state: int) -> int:
    """The turn after an ending without a pass."""
    return turn - turn % ENDING + ENDING + state


def why_of(turn: int) -> int:
    """The word that says why waits of the turn before this one have ended."""
    return _WHY + endings_of(turn) % _WHYS


def why(turn: int, place: int, kind: int) -> int:
    """What it says."""
    return turn // ENDING * 16 + place * 4 + kind


def read_why(value: int, turn: int) -> tuple[str, int]:
    """The kind and the place of what it says, ("unknown", 0) if that is about another ending."""
    return (KINDS[value % 4], value % 16 // 4) if value // 16 == turn // ENDING else ("unknown", 0)


def closed_to(place: int) -> int:
    """The bits of a turn in which nobody may begin to wait there."""
    return LOST | BROKEN << place


class Shape(NamedTuple):
    """The numbers that a meeting is made with."""

    ranks: int
    places: int = 1

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return 2 * self.ranks

    @property
    def flag_words(self) -> range:
        """The words that hold the flags."""
        return range(FLAGS, FLAGS + -(-self.lines // 8))

    @property
    def nbytes(self) -> int:
        """Size of all."""
        return 8 * (_LINES + _LINE_WORDS * self.lines)

    def line(self, rank: int, life: int) -> int:
        """The line of a rank's process in that life."""
        return rank + self.ranks * (life // 2 % 2)

    def of_line(self, line: int, place: int) -> int:
        """A word of a line."""
        return _LINES + _LINE_WORDS * line + place

    def label(self, line: int) -> int:
        """The byte at which the label of a line begins: its length, and then UTF-8."""
        return 8 * self.of_line(line, LABEL)

    def passes(self, turn: int, place: int) -> int:
        """The word that says how often a barrier was passed before that turn, if there are several."""
        return _COUNTS + turn // ROUND % 2 * MOST_PLACES + place

    def header(self) -> tuple[int, ...]:
        """The words that say what it is."""
        return (MAGIC, LAYOUT_VERSION, self.ranks, self.places)

    def check(self) -> None:
        """Raise ConfigError for numbers that no meeting can have."""
        ranks = self.ranks
        if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MOST_RANKS:
            raise ConfigError(f"ranks={ranks!r} must be an integer from 1 to {MOST_RANKS}")
        if not 1 <= self.places <= MOST_PLACES:
            raise ConfigError(f"places={self.places!r} must be an integer from 1 to {MOST_PLACES}")
