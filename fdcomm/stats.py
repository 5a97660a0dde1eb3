"""Snapshots of running queues. Plain frozen values: nothing in them changes or blocks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("BlockStatistics", "DispatchStatistics", "TransferClientStatistics")


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


@dataclass(frozen=True)
class BlockStatistics:
    """A snapshot of the lists.

    Attributes:
        phase: "open", "resetting", "lost" or "closed".
        generation: Resets so far.
        device_free: Free device blocks.
        host_free: Free host blocks.
        leased: Blocks that somebody has.
        in_flight: Blocks of tasks in flight, also of late ones.
        stale_frees: Frees that came after a reset had taken the blocks back.
        late: Of the blocks in flight those whose task has failed, and which a rank may still write to.
    """

    phase: str
    generation: int
    device_free: int
    host_free: int
    leased: int
    in_flight: int
    stale_frees: int
    late: int = 0


@dataclass(frozen=True)
class TransferClientStatistics:
    """A snapshot.

    Attributes:
        issued: Tasks that the port has taken.
        ok: Tasks that every rank did.
        failed: Tasks that not every rank did.
        cancelled: Tasks that were withdrawn before a rank had started them.
        refused: Tasks that the port has not taken.
        given_up: Tasks whose issuers were told something before their results were handled.
        unknown: Results of tasks that this client has not issued, and settlements of tasks that are not late.
        unreadable: Results that could not be understood; each counts as failed, if it is known whose it is.
        callback_errors: Done callbacks that raised.
        last_error: The latest of these in words; "" for none.
        outstanding: The numbers of the tasks whose results were not handled.
        issuing: Calls of the port that are under way.
        blocks: Of the lists.
        late: The numbers of the tasks that have failed, and that a rank may still be at: they have blocks.
        settled: Tasks that were late, and are no more.
    """

    issued: int = 0
    ok: int = 0
    failed: int = 0
    cancelled: int = 0
    refused: int = 0
    given_up: int = 0
    unknown: int = 0
    unreadable: int = 0
    callback_errors: int = 0
    last_error: str = ""
    outstanding: tuple[int, ...] = ()
    issuing: int = 0
    blocks: BlockStatistics | None = None
    late: tuple[int, ...] = ()
    settled: int = 0
