"""What the side that gives transfer tasks may rely on: each task that it issued gets exactly one result.

Protocol: ``spec/transfer.toml``, docs/protocols/transfer.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ("Outcome", "TransferPort", "TransferResult")

Outcome: TypeAlias = Literal["ok", "failed", "cancelled"]


@dataclass(frozen=True)
class TransferResult:
    """The one result of a task, made of what all ranks reported.

    Attributes:
        number: The task's number, as ``issue`` returned it.
        outcome: ``ok``: every rank did it. ``failed``: not every rank did; some may have. ``cancelled``: it was
            withdrawn before it started, so no rank did or will do anything of it.
        value: When ``ok``, what the handlers returned, one item for each rank, in rank order. Else None.
        error: When ``failed``, the errors in words, each with its rank; when ``cancelled``, why. Else None.
        ranks: When ``failed``, the ranks that failed, are gone, or did not report in time. Else ().
    """

    number: int
    outcome: Outcome
    value: Any
    error: str | None
    ranks: tuple[int, ...]


class TransferPort(Protocol):
    """Issues tasks to all ranks and hands out their results. Safe to use from several threads."""

    def issue(self, task: Any, kind: str, timeout: float | None) -> int:
        """Queue a task for every rank; return its number: at least 1, and larger than those before.

        Raises:
            PeerLostError: A rank is gone, so nothing was issued; ``missing`` names it.
            CommTimeoutError: There was no room for ``timeout`` seconds; nothing was issued.
        """

    def withdraw(self) -> tuple[int, ...]:
        """Cancel those tasks of this port that have not started; return their numbers. Their results come too."""

    def result(self, timeout: float | None) -> TransferResult | None:
        """Return the next result; None when there is none for ``timeout`` seconds. Acknowledges the one before.

        Results come in the order in which tasks ended, exactly one for each task that was issued here.
        """

    def acknowledge(self) -> None:
        """The result that was handed out last has been handled. Does nothing when there is none."""

    def outstanding(self) -> int:
        """Return how many tasks of this port were issued and not acknowledged."""
