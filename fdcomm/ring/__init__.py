"""Broadcast from one writer process to a reader of each rank, through shared memory of one machine."""

from __future__ import annotations

from fdcomm.ring.reader import Lease, RingReader
from fdcomm.ring.writer import RingStatistics, RingWriter

__all__ = ("Lease", "RingReader", "RingStatistics", "RingWriter")
