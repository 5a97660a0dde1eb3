"""Snapshots of running queues. Plain frozen values: nothing in them changes or blocks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("DispatchStatistics",)


@dataclass(frozen=True)
class DispatchStatistics:
    """State of a dispatch channel at one moment.

    Attributes:
        num_tasks: Retained batches.
        unread: For each retained batch, oldest first: its id and the ranks that have not taken it.
        waiting_puts: Put calls that wait for room.
        puts: Put calls so far, including those that gave up.
        epoch: Effective clears so far.
        live: Ranks with a live reader.
        lost: Ranks whose reader's process is gone.
        away: Ranks that nobody reads for (not connected yet, or closed).
        sessions: Open handles, readers and producers.
        refused_connections: Connections that the host closed since its start because it had no thread for them.
    """

    num_tasks: int
    unread: tuple[tuple[int, tuple[int, ...]], ...]
    waiting_puts: int
    puts: int
    epoch: int
    live: tuple[int, ...]
    lost: tuple[int, ...]
    away: tuple[int, ...]
    sessions: int
    refused_connections: int = 0
