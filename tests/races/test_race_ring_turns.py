"""ring-turns: two processes put in turn, and one of them goes on from its last turn."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError
from fdcomm.ring import RingReader
from fdcomm.ring.layout import Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.publisher import Publisher
from fdcomm.runtime import SYSTEM
from tests.races.race import Race

_PUTS = (0, 1, 1, 0)


def _put(memory: Memory, publisher: Publisher, thing: object) -> None:
    stream = pickle.dumps(thing)
    if publisher.head >= publisher.room:
        publisher.make_room(0.0, "put")
    memory.payloads[publisher.slot][: len(stream)] = stream
    publisher.publish(len(stream))


def _turns(sees_again: bool) -> str:
    """Both come, then they put in turn; each holds the lock while it does."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-turns-", dir="/dev/shm") as folder:

        def limit() -> Deadline:
            return Deadline(20.0, SYSTEM.monotonic)

        first = Memory.make("ring", Shape(1, len(_PUTS), 64), folder, limit())
        memories = (first, Memory.open("ring", folder, limit()))
        reader = RingReader.attach("ring", 0, directory=folder)
        publishers = [Publisher(memory.board) for memory in memories]
        for number, who in enumerate(_PUTS):
            memory = memories[who]
            memory.locks.wait_writer(limit(), "put", str)
            if sees_again:
                publishers[who] = Publisher(memory.board)
            _put(memory, publishers[who], number)
            memory.locks.leave_writer()
        got: list[Any] = []
        with suppress(CommTimeoutError):
            while len(got) < len(_PUTS):
                got.append(reader.get(0))
        reader.close()
        memories[1].close(limit())
        first.close(limit(), remove=True)
    return "" if got == list(range(len(_PUTS))) else f"{list(range(len(_PUTS)))} were put, and the reader got {got}"


@dataclass(frozen=True)
class TurnsRace(Race):
    """Each keeps what it knows, or reads it again."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = "and the reader got [1, 3]"

    def on_shipped(self) -> str:
        """Return what went wrong when each goes on from its last turn."""
        return _turns(sees_again=False)

    def on_ours(self) -> str:
        """Return what went wrong when each reads the state again."""
        return _turns(sees_again=True)


RACE = TurnsRace(("ring-turns",))


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
