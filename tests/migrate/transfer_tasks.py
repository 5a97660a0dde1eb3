"""What prefix cache manager and transfer managers tell each other."""

from __future__ import annotations

from enum import Enum

__all__ = ("CacheStatus",)


class CacheStatus(Enum):
    """Kinds of transfer tasks."""

    SWAP2GPU = 1
    SWAP2CPU = 2
    STORAGE2GPU = 3
    CTRL = -1
