"""Where the words of a meeting are, and what a turn says.

Words are signed, aligned, of 8 bytes. Line l of rank r: r for its first, third, .. process, ``ranks + r`` for the
others: two processes may hold the two lines of a rank for as long as the older one is stopped, and each stores only to
its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fdcomm.errors import ConfigError

__all__ = (
    "ARRIVAL",
    "BROKEN",
    "FLAGS",
    "KINDS",
    "LABEL",
    "LABEL_BYTES",
    "LAYOUT_VERSION",
    "LIVES",
    "LOST",
    "MAGIC",
    "MOST_ENDINGS",
    "MOST_RANKS",
    "NOBODY",
    "NUMBER",
    "PID",
    "TURN",
    "Shape",
    "endings_of",
    "next_round",
    "next_turn",
    "round_of",
    "why_of",
)

MAGIC: Final = int.from_bytes(b"fdcommM1", "little")
LAYOUT_VERSION: Final = 1
MOST_RANKS: Final = 64
LABEL_BYTES: Final = 120

# A turn: the round, how many waits of it have ended without a pass, and two bits that are 0 while the meeting is open.
LOST: Final = 1
BROKEN: Final = 2
_ENDING: Final = 4
_ROUND: Final = 1 << 18
MOST_ENDINGS: Final = _ROUND // _ENDING - 1
KINDS: Final = ("mismatch", "lost", "broken")

_LINE: Final = 8

# Words 0 to 2: magic, version, ranks.
TURN: Final = 1 * _LINE
"""The turn, whose low half is the futex word."""
_WHY: Final = 2 * _LINE
_WHYS: Final = 8
"""Why waits have ended: the turn after it times 4, and the number of the kind."""
FLAGS: Final = 3 * _LINE
"""A byte for each line: its process sleeps, or is about to."""
LIVES: Final = FLAGS + 2 * MOST_RANKS // 8
"""For each rank twice the number of its processes that were given up; odd: nobody is counted."""
_LINES: Final = LIVES + MOST_RANKS

# Places in the words of a line.
ARRIVAL: Final = 0
"""The turn in which its process waits."""
NUMBER: Final = 1
"""A number of its label."""
PID: Final = _LINE
LABEL: Final = 2 * _LINE
_LINE_WORDS: Final = 4 * _LINE

NOBODY: Final = -1


def round_of(turn: int) -> int:
    """The number of the round."""
    return turn // _ROUND


def endings_of(turn: int) -> int:
    """How many waits of the round have ended without a pass."""
    return turn % _ROUND // _ENDING


def next_round(turn: int) -> int:
    """The turn after a pass."""
    return turn - turn % _ROUND + _ROUND


def next_turn(turn: int, state: int) -> int:
    """The turn after an ending without a pass."""
    return turn - turn % _ENDING + _ENDING + state


def why_of(turn: int) -> int:
    """The word that says why waits of the turn before this one have ended."""
    return _WHY + endings_of(turn) % _WHYS


class Shape(NamedTuple):
    """The numbers that a meeting is made with."""

    ranks: int

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

    def header(self) -> tuple[int, ...]:
        """The words that say what it is."""
        return (MAGIC, LAYOUT_VERSION, self.ranks)

    def check(self) -> None:
        """Raise ConfigError for numbers that no meeting can have."""
        ranks = self.ranks
        if isinstance(ranks, bool) or not isinstance(ranks, int) or not 1 <= ranks <= MOST_RANKS:
            raise ConfigError(f"ranks={ranks!r} must be an integer from 1 to {MOST_RANKS}")
