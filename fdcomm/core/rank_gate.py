"""The pause protocol as a pure object: the part inside a rank, which every job passes.

One method per action of ``spec/pause.toml`` that a rank decides. The caller holds one lock around each call.
"""

from __future__ import annotations

from fdcomm.core.pause import Mode, Order
from fdcomm.errors import ProtocolViolationError

__all__ = ("RankGate",)


class RankGate:
    """Counts the jobs of one rank exactly, from their admission to their end, and shuts at a pause.

    Args:
        order: The order that was in force when the rank joined.
    """

    __slots__ = ("mode", "order", "parked", "parking", "running", "shut")

    def __init__(self, order: Order) -> None:
        self.order = order.number
        self.shut = order.phase == "pause"
        self.mode: Mode = order.mode
        self.running = 0
        self.parked = 0
        self.parking = 0

    def take(self, order: Order) -> bool:
        """Take: False when it is no newer than the last. Afterwards parked jobs that may go on count as running."""
        if order.number <= self.order:
            return False
        self.order = order.number
        self.mode = order.mode
        self.shut = order.phase == "pause"
        if not self.may_park:
            self.running += self.parked
            self.parked = 0
            self.parking += 1
        return True

    def admit(self) -> bool:
        """Admit: False while the gate is shut."""
        if self.shut:
            return False
        self.running += 1
        return True

    def done(self, parking: int | None = None) -> None:
        """Done: a job has ended, well or not. What it had to post was posted before.

        ``parking``: the job ends where it was parked, and :meth:`park` gave it this number.
        """
        if parking == self.parking and self.parked > 0:
            self.parked -= 1
        elif self.running > 0:
            self.running -= 1
        else:
            raise ProtocolViolationError("Done: no job of this rank runs")

    @property
    def may_park(self) -> bool:
        """True while a job that reaches a checkpoint is to wait there."""
        return self.shut and self.mode == "keep"

    @property
    def aborting(self) -> bool:
        """True while jobs are to end early."""
        return self.shut and self.mode == "abort"

    def park(self) -> int | None:
        """Park: a running job waits at its checkpoint while :attr:`may_park`. None: it goes on.

        Returns the number of the parking: jobs with the same number are released together.
        """
        if not self.may_park:
            return None
        if self.running < 1:
            raise ProtocolViolationError("Park: no job of this rank runs")
        self.running -= 1
        self.parked += 1
        return self.parking

    @property
    def quiet(self) -> bool:
        """True when the gate is shut and no job runs: what the rank reports."""
        return self.shut and self.running == 0
