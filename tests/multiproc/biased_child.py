"""A process that puts into a ring until it is biased, and is then killed or stopped at an access of its next put.

Arguments: the folder of the ring; what happens (``kill``, ``stop``, ``rest``, ``fork``); after how many accesses.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.ring.memory import Memory
from fdcomm.ring.producer import Producer
from fdcomm.runtime import SYSTEM
from tests.multiproc.counted_words import CountedWords

__all__ = ("FIRST", "main")

FIRST = 6
"""So often it puts before."""
_LIMIT_S = 60.0


def _say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def main() -> None:
    """Put, and end as the arguments say."""
    folder, how, after = sys.argv[1], sys.argv[2], int(sys.argv[3])
    memory = Memory.open("ring", folder, Deadline(_LIMIT_S, SYSTEM.monotonic))
    producer = Producer(memory, 1000)
    for number in range(FIRST):
        producer.put(("child", number), _LIMIT_S, "put")
    if not producer._place._token:
        raise RuntimeError("it is not biased")
    if how == "rest":
        _say("ready")
        os.kill(os.getpid(), signal.SIGSTOP)
    else:
        if how == "fork" and os.fork() == 0:
            _say("forked")
            os.read(0, 1)
            os._exit(0)
        number = signal.SIGSTOP if how == "stop" else signal.SIGKILL
        words: Any = CountedWords(memory.board.words, after, partial(os.kill, os.getpid(), number))
        memory.board.words = producer._publisher._words = words
        _say("ready")
    producer.put(("child", FIRST), _LIMIT_S, "put")
    if how in ("kill", "fork"):
        os.kill(os.getpid(), signal.SIGKILL)  # it has fewer accesses
    _say("done")
    os.read(0, 1)
    producer.close()
    memory.close(Deadline(_LIMIT_S, SYSTEM.monotonic))
