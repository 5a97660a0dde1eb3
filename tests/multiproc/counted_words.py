"""Words of a ring that do something after so many accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ("CountedWords",)


class CountedWords:
    """Words after one of whose accesses ``act`` is called; ``left``: how many accesses there are until then."""

    def __init__(self, words: Any, after: int, act: Callable[[], object]) -> None:
        self._words, self.left, self._act = words, after, act

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            self._act()

    def __getitem__(self, place: int) -> int:
        value = int(self._words[place])
        self._count()
        return value

    def __setitem__(self, place: int, value: int) -> None:
        self._words[place] = value
        self._count()
