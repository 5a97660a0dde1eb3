"""What control requests return, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ("Answer", "ControlResult", "ControlStatistics", "ServerStatistics")


@dataclass(frozen=True)
class Answer:
    """What one rank answered.

    Attributes:
        rank: The rank.
        ok: It did what was asked.
        value: What it returned, or, when not ``ok``, the text of its error.
    """

    rank: int
    ok: bool
    value: Any


@dataclass(frozen=True)
class ControlResult:
    """The answers of all ranks to one request, in rank order.

    Attributes:
        number: The request's number; numbers of one queue ascend from 1.
        answers: One for each rank that answered.
        missing: The ranks that did not; only with ``partial``.
    """

    number: int
    answers: tuple[Answer, ...]
    missing: tuple[int, ...] = ()

    @property
    def ok(self) -> bool:
        """True when every rank did it."""
        return not self.missing and all(answer.ok for answer in self.answers)

    @property
    def failed(self) -> tuple[int, ...]:
        """The ranks that did not."""
        return tuple(answer.rank for answer in self.answers if not answer.ok)


@dataclass(frozen=True)
class ControlStatistics:
    """A snapshot.

    Attributes:
        asked: Requests so far.
        waiting_for: For each open request its number, and the ranks that may still answer.
        doing: For each rank the request that it has taken and not answered; 0 is none.
        live: Ranks that have taken part and are there.
        lost: Ranks whose process is gone.
        away: Ranks that have not taken part yet, or have left.
    """

    asked: int
    waiting_for: tuple[tuple[int, tuple[int, ...]], ...]
    doing: tuple[int, ...]
    live: tuple[int, ...]
    lost: tuple[int, ...]
    away: tuple[int, ...]


@dataclass(frozen=True)
class ServerStatistics:
    """What one ControlServer has done.

    Attributes:
        taken: Requests.
        answered: Requests that were done.
        failed: Requests that were answered with a failure.
        late: Answers that came when the request had ended.
    """

    taken: int = 0
    answered: int = 0
    failed: int = 0
    late: int = 0
