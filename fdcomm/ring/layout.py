"""Where the words of a ring are: aligned signed 8-byte words, each group of them on cache lines of its own.

Line l of rank r: r for its first, third, .. reader, ``ranks + r`` for the others. Two processes may hold the two lines
of one rank for as long as the older one is stopped; each stores only to its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fdcomm.errors import ConfigError

__all__ = (
    "BEGUN",
    "BELL",
    "BIAS",
    "CLEARED",
    "COMPLEX",
    "COUNT",
    "CURSOR",
    "FLAGS",
    "FORM",
    "GATE",
    "HEAD",
    "LAYOUT_VERSION",
    "LENGTH",
    "LIVES",
    "MAGIC",
    "MOST_RANKS",
    "PARTS",
    "PID",
    "SEGMENTS",
    "SEQ",
    "SIZE",
    "TOKENS",
    "TOLD",
    "WANT",
    "WANT_BELL",
    "WRITER_PID",
    "Shape",
)

MAGIC: Final = int.from_bytes(b"fdcommR1", "little")
LAYOUT_VERSION: Final = 5
MOST_RANKS: Final = 64
COMPLEX: Final = -2
"""In the word SIZE of a slot: more words say what the message is."""

_LINE: Final = 8

# Words 0 to 4: magic, version, ranks, slots, bytes of a slot.
GATE: Final = 1 * _LINE
"""Twice the number of clears; odd while one is under way."""
CLEARED: Final = GATE + 1
"""The last message that there was at the last clear. Stored while the gate is odd."""
BELL: Final = 2 * _LINE
"""Changed before readers are woken."""
WANT: Final = 3 * _LINE
"""The cursor that a writer waits for; 0: it does not."""
WANT_BELL: Final = 4 * _LINE
"""Changed before the writer is woken."""
WRITER_PID: Final = 5 * _LINE
HEAD: Final = WRITER_PID + 1
"""Where a writer that takes its turn begins to look for the last message: that one, or the one before."""
SEGMENTS: Final = WRITER_PID + 2
"""How many segments for large payloads were made: the number of the last one. Stored under the writer's lock."""
BIAS: Final = 6 * _LINE
"""The token whose holder puts without the kernel's lock; 0: nobody; negative: somebody is about to end that."""
TOKENS: Final = _LINE - 1
"""How many tokens there are. The word BIAS + token is the process id of its holder while that puts, and else 0."""
FLAGS: Final = 7 * _LINE
"""A byte for each line: its reader sleeps, or is about to."""
LIVES: Final = FLAGS + 2 * MOST_RANKS // 8
"""For each rank twice the number of its readers that were given up; odd: nobody is counted."""
_READERS: Final = LIVES + MOST_RANKS

# Places in the words of a line. TOLD: the last message of which its reader was told that all have taken it.
CURSOR: Final = 0
BEGUN: Final = 1
PID: Final = 2
TOLD: Final = 3

# Places in the words of a slot. SEQ: the number of its message, negative when it was taken back. SIZE: bytes of the
# payload; or COMPLEX, and then FORM says which segment it is in (0: this slot), PARTS how many buffers stand beside the
# stream, and LENGTH how many bytes there are. COUNT is how many things the object counts for, and is stored by the
# writers of queues only.
SEQ: Final = 0
SIZE: Final = 1
FORM: Final = 2
PARTS: Final = 3
LENGTH: Final = 4
COUNT: Final = 5


class Shape(NamedTuple):
    """The numbers that a ring is made with."""

    ranks: int
    slots: int
    slot_bytes: int

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return 2 * self.ranks

    @property
    def flag_words(self) -> range:
        """The words that hold the flags."""
        return range(FLAGS, FLAGS + -(-self.lines // 8))

    @property
    def control_words(self) -> int:
        """Where the slots begin."""
        return _READERS + _LINE * self.lines

    @property
    def slot_words(self) -> int:
        """Words of one slot, its first line included."""
        return _LINE + self.slot_bytes // 8

    @property
    def nbytes(self) -> int:
        """Size of all."""
        return 8 * (self.control_words + self.slots * self.slot_words)

    def line(self, rank: int, life: int) -> int:
        """The line of a rank's reader in that life."""
        return rank + self.ranks * (life // 2 % 2)

    def of_line(self, line: int, place: int) -> int:
        """A word of a line."""
        return _READERS + _LINE * line + place

    def of_slot(self, slot: int, place: int = SEQ) -> int:
        """A word of a slot."""
        return self.control_words + slot * self.slot_words + place

    def payload(self, slot: int) -> int:
        """The byte at which the payload of a slot begins."""
        return 8 * (self.of_slot(slot) + _LINE)

    def header(self) -> tuple[int, ...]:
        """The words that say what it is."""
        return (MAGIC, LAYOUT_VERSION, *self)

    def check(self) -> None:
        """Raise ConfigError for numbers that no ring can have."""
        limits = {"ranks": (1, MOST_RANKS), "slots": (1, 2**20), "slot_bytes": (64, 2**30)}
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"{name}={value!r} must be an integer from {least} to {most}")
        if self.slot_bytes % 64:
            raise ConfigError(f"slot_bytes={self.slot_bytes} must be a multiple of 64")
