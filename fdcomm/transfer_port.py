"""What the side that gives transfer tasks may rely on: each task that it issued gets exactly one result, and, when a
rank may still be at it then, word of when it has settled.

Protocol: ``spec/transfer.toml``, docs/protocols/transfer.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ("Outcome", "TransferPort", "TransferResult", "TransferSettled")

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
        running: When ``failed``, the ranks whose handler may still be at it, because it ran over its limit, or was not
            waited for: what the task writes to may still change. When the last of them has ended, or its process has,
            a :class:`TransferSettled` says so. Else (): nothing changes any more.
    """

    number: int
    outcome: Outcome
    value: Any
    error: str | None
    ranks: tuple[int, ...]
    running: tuple[int, ...] = ()


@dataclass(frozen=True)
class TransferSettled:
    """No rank is at a task any more whose result had ``running`` ranks. Comes once, after that result.

    Attributes:
        number: The task's number.
    """

    number: int


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

    def news(self, timeout: float | None) -> TransferResult | TransferSettled | None:
        """Return what is next; None when there is nothing for ``timeout`` seconds. Acknowledges the result before.

        Results come in the order in which tasks ended, exactly one for each task that was issued here. A task that a
        rank may still be at when its result is taken settles once after that.
        """

    def acknowledge(self) -> None:
        """The result that was handed out last has been handled. Does nothing when there is none."""

    def outstanding(self) -> int:
        """Return how many tasks of this port were issued and not acknowledged."""
