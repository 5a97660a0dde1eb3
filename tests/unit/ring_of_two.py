"""Fixtures of rings: a ring in a folder of the test's own, its writer and its two readers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from fdcomm.ring import RingReader, RingWriter

__all__ = ("LIMIT_S", "Ring", "attach", "files", "folder", "ring")

LIMIT_S = 20.0
Ring: TypeAlias = tuple[RingWriter, RingReader, RingReader]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path)


@pytest.fixture
def ring(folder: str) -> Iterator[Ring]:
    with RingWriter.create("ring", 2, depth=2, slot_bytes=1024, directory=folder) as writer:
        with attach(folder, 0) as one, attach(folder, 1) as other:
            yield writer, one, other


def attach(folder: str, rank: int) -> RingReader:
    """Attach to the ring."""
    return RingReader.attach("ring", rank, directory=folder)


def files(folder: str) -> list[str]:
    """Return the names of the files there."""
    return sorted(os.listdir(folder))
