"""ring-half-made (B61, B69 at a ring): who attaches while a ring is made meets an empty file, or zeros."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from fdcomm.errors import CommTimeoutError, SignalNotFoundError
from fdcomm.ring import RingReader, RingWriter
from fdcomm.runtime import SystemRuntime
from tests.races.race import Race

_SIZE = 4096


@dataclass(frozen=True)
class HalfMade(Race):
    """A ring is made in a folder; between any two of its system calls somebody attaches."""

    shipped: Callable[..., str] = field(default=lambda _: "")
    ours: Callable[..., str] = field(default=lambda _: "")
    symptom: str = ""

    def on_shipped(self) -> str:
        """A file that is named, then sized, then filled."""
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ring"
            maker = os.open(path, os.O_CREAT | os.O_RDWR)
            try:
                seen.append(_look(path))
                os.ftruncate(maker, _SIZE)
                seen.append(_look(path))
                os.pwrite(maker, b"\x01", 0)
            finally:
                os.close(maker)
        return "; ".join(seen)

    def on_ours(self) -> str:
        """The steps of a create, one after the other."""
        with tempfile.TemporaryDirectory() as folder:
            runtime = _Looking(folder)
            with mock.patch("fdcomm.ring.memory.SYSTEM", runtime):
                writer = RingWriter.create("ring", 2, directory=folder)
            writer.close()
        if not {"not there", "whole"} <= set(runtime.found):
            return f"the attaches found {runtime.found}"
        return "; ".join(what for what in runtime.found if what not in ("not there", "whole"))


def _look(path: Path) -> str:
    """Attach as it is usually done: map the file, and read how many ranks there are."""
    with path.open("rb") as file:
        try:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as words:
                return f"a ring of {words[0]} ranks"
        except ValueError as error:
            return str(error)


class _Looking(SystemRuntime):
    """Attaches at each point of the program that makes a ring."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._folder = folder
        self._looks = False

    def point(self, name: str) -> None:
        if self._looks or not name.startswith("signal.create."):
            return
        self._looks = True
        try:
            self.found.append(self._attach())
        finally:
            self._looks = False

    def _attach(self) -> str:
        try:
            with RingReader.attach("ring", 1, directory=self._folder, timeout=0) as reader:
                if reader.shape.ranks != 2 or reader.available():
                    return f"a ring of {reader.shape.ranks} ranks with {reader.available()} messages"
                return "whole"
        except (SignalNotFoundError, CommTimeoutError):
            return "not there"


RACE = HalfMade(("ring-half-made",), symptom="cannot mmap an empty file; a ring of 0 ranks")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
