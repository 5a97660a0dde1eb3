"""What a put's time limit is about: room in the ring, and not other processes that make files just now."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdcomm.deadline import Deadline
from fdcomm.ring.layout import Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.producer import Producer
from fdcomm.runtime import SYSTEM
from fdcomm.signals.files import Files


def test_a_large_put_without_waiting_outlasts_who_makes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path)
    memory = Memory.make("ring", Shape(1, 1, 64), folder, Deadline(20.0, SYSTEM.monotonic))
    producer = Producer(memory, 1 << 20)
    other = Files(folder)
    guard = other.open_directory()
    assert other.lock(guard, shared=False)
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        if not waits:
            other.close(guard)
        waits.append(seconds)

    monkeypatch.setattr(SYSTEM, "sleep", sleep)
    assert producer.put(bytes(100_000), 0.0, "put") == 1
    assert waits
    monkeypatch.undo()
    producer.close(remove=True)
    memory.close(Deadline(20.0, SYSTEM.monotonic), remove=True)
