"""Real processes at one ring, one of which clears all the time: a message is for all ranks or for none, and whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fdcomm.ring import RingWriter
from tests.multiproc.ring_child import LAST, LIMIT_S, NAME
from tests.races.nursery import Born, born
from tests.soak.nursery import soak_nursery

__all__ = ("soak_nursery",)

pytestmark = pytest.mark.multiproc

_CLEARS = 100


@pytest.mark.parametrize("depth", [1, 4])
def test_a_message_is_for_all_or_for_none(depth: int, tmp_path: Path) -> None:
    folder, number = str(tmp_path), depth
    with RingWriter.create(NAME, 3, depth=depth, slot_bytes=1024, directory=folder) as writer:
        for _ in range(depth):  # nobody gets these
            writer.put((0, b""), 0)
        writer.clear()
        everybody = [
            born("tests.multiproc.ring_child", folder, str(rank), str(_CLEARS * (rank == 0))) for rank in range(3)
        ]
        try:
            for process in everybody:
                assert process.stdout.readline() == b"ready\n"
            while writer.epoch <= _CLEARS:
                number += 1
                size = 5000 if number % 16 == 0 else number % 900
                writer.put((number, bytes([number % 256]) * size), LIMIT_S)
            writer.put((LAST, b""), LIMIT_S)
            first, *others = (json.loads(process.stdout.readline()) for process in everybody)
        finally:
            for process in everybody:
                _end(process)
    assert all(other == first for other in others)
    assert first.pop() == LAST
    assert first == sorted(set(first))
    assert 0 not in first  # what was taken back at the start


def _end(process: Born) -> None:
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
