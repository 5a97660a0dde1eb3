"""One process of a litmus test: ``python -m tests.litmus.sides <file> <side> <seed> <seconds> <rounds> <pattern>...``.

Two processes go through rounds together. In each they meet, wait for some loops that their seed says, and do their
side of the pattern, on one line of memory after the other: words of shared memory as memoryviews, as the ring has them.
A word's value is the round's number, so nothing is ever set back. Side 0 compares what both saw in the round before,
and prints the counts.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.signals.kernel import SYSTEM_KERNEL

__all__ = ("BYTES", "PATTERNS", "PLANTED", "main")

BYTES = 1 << 17
_LINE = 8
_MEET = (0, _LINE)
_STOP = 2 * _LINE
_SAW = (3 * _LINE, 4 * _LINE)
_X = 64 * _LINE
_Y = 256 * _LINE
_LINES = 32
_PAYLOAD = 1024
_PAYLOADS = (1 << 15, 1 << 16)
"""Where each side's payloads are, in bytes. They are stored before the word, as in a ring: while they are on their way
to memory, which takes long because the other side has read them, the word waits behind them."""
_LOOPS = 12
_SPINS = 500

Step = Callable[[int], int]


def _stores(words: Any, bytes_: Any, name: str, side: int) -> Step:
    """For each line: store mine, then look at yours. Returns the lines in which yours was not there, as bits."""
    fence, barrier = SYSTEM_KERNEL.fence, SYSTEM_KERNEL.barrier
    mine, yours = ((_X, _Y), (_Y, _X))[side]
    places = [(1 << line, mine + line * _LINE, yours + line * _LINE) for line in range(_LINES)]
    payload = bytes(_PAYLOAD)
    slots = [_PAYLOADS[side] + line * _PAYLOAD for line in range(_LINES)]
    theirs = bytes_[_PAYLOADS[1 - side] : _PAYLOADS[1 - side] + _LINES * _PAYLOAD]

    def plain(number: int) -> int:
        missed = len(bytes(theirs)) & 0
        for (bit, my, your), slot in zip(places, slots, strict=True):
            bytes_[slot : slot + _PAYLOAD] = payload
            words[my] = number
            if words[your] != number:
                missed |= bit
        return missed

    def behind(between: Callable[[], object], number: int) -> int:
        missed = len(bytes(theirs)) & 0
        for (bit, my, your), slot in zip(places, slots, strict=True):
            bytes_[slot : slot + _PAYLOAD] = payload
            words[my] = number
            between()
            if words[your] != number:
                missed |= bit
        return missed

    if name == "store buffering":
        return plain
    if name == "store buffering, fences":
        return partial(behind, fence)
    return partial(behind, barrier) if side else plain


def _wakes(words: Any, bytes_: Any, name: str, side: int) -> Step:
    """Side 0 publishes and looks at a word of flags; side 1 raises its flag, a byte, and looks.

    Returns the lines in which the other's was not there. Flags have two words, used in turn: the other one is lowered.
    """
    barrier: Callable[[], object] = SYSTEM_KERNEL.barrier if "barrier" in name else int
    places = [(1 << line, _X + line * _LINE, _Y + line * _LINE) for line in range(_LINES)]

    payload = bytes(_PAYLOAD)
    slots = [_PAYLOADS[0] + line * _PAYLOAD for line in range(_LINES)]

    def publish(number: int) -> int:
        missed, turn = 0, number % 2
        for (bit, told, flag), slot in zip(places, slots, strict=True):
            bytes_[slot : slot + _PAYLOAD] = payload
            words[told] = number
            if not words[flag + turn]:
                missed |= bit
        return missed

    def sleep(number: int) -> int:
        missed, turn = 0, number % 2
        for (bit, told, flag), slot in zip(places, slots, strict=True):
            bytes(bytes_[slot : slot + _PAYLOAD])
            bytes_[8 * (flag + turn)] = 1
            barrier()
            if words[told] != number:
                missed |= bit
        return missed

    def lowering(number: int) -> int:
        for _, _, flag in places:
            words[flag + 1 - number % 2] = 0
        return sleep(number)

    return lowering if side else publish


def _messages(words: Any, bytes_: Any, name: str, side: int) -> Step:
    """Side 0 stores a payload, then its number; side 1 waits for the number. 1: the payload was not there."""
    payload = memoryview(bytearray(56)).cast("q")
    late = name in PLANTED

    def write(number: int) -> int:
        place = number % _LINES * _LINE
        payload[0] = payload[3] = payload[6] = number
        if late:
            words[_Y + place] = number
            os.sched_yield()
        bytes_[8 * (_X + place) : 8 * (_X + place) + 56] = memoryview(payload).cast("B")
        words[_Y + place] = number
        return 1

    def read(number: int) -> int:
        place = number % _LINES * _LINE
        while words[_Y + place] != number:
            os.sched_yield()
        copied = bytes(bytes_[8 * (_X + place) : 8 * (_X + place) + 56])
        found = memoryview(copied).cast("q")
        return int(any(found[at] != number for at in (6, 3, 0)))

    return read if side else write


def _tears(words: Any, bytes_: Any, name: str, side: int) -> Step:
    """Side 0 stores all bits and none in turn; side 1 loads. 1: something else was seen."""

    def write(number: int) -> int:
        for _ in range(100):
            words[_X] = -1
            words[_X] = 0
        return 1

    def read(number: int) -> int:
        return int(any(words[_X] not in (0, -1) for _ in range(200)))

    return read if side else write


PATTERNS: dict[str, Callable[[Any, Any, str, int], Step]] = {
    "message passing": _messages,
    "torn stores": _tears,
    "store buffering": _stores,
    "store buffering, barrier of one side": _stores,
    "store buffering, fences": _stores,
    "publish and look": _wakes,
    "publish and look, barrier of the sleeper": _wakes,
}

PLANTED = {"planted: number first": _messages}
"""Wrong on purpose: shows that the count is not blind."""


def _rounds(words: Any, side: int, chance: random.Random, step: Step, first: int, end: float) -> tuple[int, int, int]:
    """Go through rounds until time is over. Returns the last one, how many, and how often both say so of one line."""
    number, both, saw = first, 0, 0
    limit = first + int(words[_STOP + 1])
    while True:
        number += 1
        if side == 0 and (number > limit or (not number % 64 and time.monotonic() > end)):
            words[_STOP] = number
        words[_SAW[side] + (number - 1) % 2] = saw
        words[_MEET[side]] = number
        spins = 0
        while words[_MEET[1 - side]] < number:
            spins += 1
            if spins > _SPINS:
                os.sched_yield()
        both += (saw & words[_SAW[1 - side] + (number - 1) % 2]).bit_count()
        if words[_STOP] == number:
            return number, number - first - 1, both
        for _ in range(chance.randrange(_LOOPS)):
            pass
        saw = step(number)


def main() -> None:
    """Do one side of all patterns."""
    path, side_text, seed, seconds, rounds, *names = sys.argv[1:]
    side, chance = int(side_text), random.Random(f"{seed} {side_text}")
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), BYTES)
    bytes_ = memoryview(memory)
    words = bytes_.cast("q")
    words[_STOP + 1] = int(rounds)
    joined = SYSTEM_KERNEL.joins_barriers()
    number = 0
    for name in names:
        step = {**PATTERNS, **PLANTED}[name](words, bytes_, name, side)
        start = time.monotonic()
        number, count, both = _rounds(words, side, chance, step, number, start + float(seconds))
        if side == 0:
            took = time.monotonic() - start
            said = {"pattern": name, "rounds": count, "seen": both, "seconds": round(took, 2), "joined": joined}
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
