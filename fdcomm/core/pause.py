"""The pause protocol as a pure object: the part that the host keeps.

One method per action of ``spec/pause.toml`` (``tla/pause/Pause.tla``) that the host decides; the actions inside a rank
are those of :class:`fdcomm.core.rank_gate.RankGate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from fdcomm.core.members import Members
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("MODES", "Mode", "Order", "Pause", "Phase")

Mode: TypeAlias = Literal["keep", "drain", "abort"]
"""What happens to jobs that run: they are parked at their next checkpoint, run to their end, or are told to end."""

Phase: TypeAlias = Literal["run", "pause"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""Weakest first."""


@dataclass(frozen=True, slots=True)
class Order:
    """The latest order, as the ranks take it."""

    number: int
    phase: Phase
    mode: Mode


class Pause(Members):
    """Pause and resume of ``ranks`` ranks."""

    def __init__(self, ranks: int) -> None:
        if ranks < 1:
            raise ConfigError(f"num_client={ranks} must be at least 1")
        super().__init__(ranks)
        self.latest = Order(0, "run", "keep")
        self.began = 0
        self.quiet: set[int] = set()
        self.seen: dict[int, int] = {}
        self.holders: set[int] = set()
        self.expecting: set[int] = set()  # clients that wait for the present pause, and have not been told

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: the rank has taken the latest order, and starts shut and quiet while that is a pause."""
        self._come(rank)
        self.seen[rank] = self.latest.number
        if self.latest.phase == "pause":
            self.quiet.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the rank went in peace, without jobs."""
        self._require_live(rank, "Leave")
        self._forget(rank)

    def fence(self, rank: int) -> None:
        """Fence: the process is gone, and its jobs with it. Nobody waits for it any longer."""
        self._require_live(rank, "Fence")
        self._forget(rank)
        self.lost.add(rank)

    # -- ranks ---------------------------------------------------------------------------------------------------

    def taken(self, rank: int, number: int) -> None:
        """Note which order a rank has taken. An older number than the last changes nothing."""
        self._require_live(rank, "Take")
        if number > self.latest.number:
            raise ProtocolViolationError(f"Take: rank {rank} names order {number}; the latest is {self.latest.number}")
        self.seen[rank] = max(self.seen[rank], number)

    def report_quiet(self, rank: int, number: int) -> bool:
        """Quiet: the rank's gate is shut and no job runs. False when this is about an older order, or no pause."""
        self.taken(rank, number)
        if self.latest.phase != "pause" or number != self.latest.number or rank in self.quiet:
            return False
        self.quiet.add(rank)
        return True

    # -- clients -------------------------------------------------------------------------------------------------

    @property
    def still(self) -> bool:
        """True when a pause is in force and every rank that is there has reported quiet."""
        return self.latest.phase == "pause" and self.live <= self.quiet

    def missing(self) -> tuple[int, ...]:
        """Return the ranks that have not reported quiet."""
        return tuple(sorted(self.live - self.quiet))

    def pause(self, mode: Mode, client: int) -> bool:
        """CallPause: order a pause, or sharpen the one under way. Returns False when nothing had to be ordered."""
        ordered = self._pause(mode)
        self.expecting.add(client)
        return ordered

    def told(self, client: int) -> None:
        """The client's call has returned, whatever it was and however it ended."""
        self.expecting.discard(client)

    def _pause(self, mode: Mode) -> bool:
        if self.latest.phase == "pause" and (self.still or MODES.index(mode) <= MODES.index(self.latest.mode)):
            return False
        begins = self.latest.phase == "run"
        self._order("pause", mode)
        if begins:
            self.began = self.latest.number
        return True

    def is_paused(self, began: int) -> bool | None:
        """PauseReturns when True; None: that pause is over (PauseEnded)."""
        if self.latest.phase == "run" or self.began != began:
            return None
        return self.still

    def resume(self) -> int | None:
        """CallResume: the order to run. None while it waits: for the pause to be reached, for those to be told who
        wait for it, or for holders."""
        if self.latest.phase == "pause":
            if not self.still or self.holders or self.expecting:
                return None
            self._order("run", self.latest.mode)
        return self.latest.number

    def cancel(self) -> int | None:
        """CancelPause: give up a pause that is not reached. None when there is no such pause."""
        if self.latest.phase == "run" or self.still:
            return None
        self._order("run", self.latest.mode)
        return self.latest.number

    def not_resumed(self, number: int) -> tuple[int, ...]:
        """Return the live ranks that have not taken that order. ResumeReturns when there is none."""
        return tuple(sorted(rank for rank in self.live if self.seen[rank] < number))

    def hold(self, client: int) -> bool:
        """Hold: no resume before this client lets go. False when no pause has been reached."""
        if client in self.holders:
            raise ProtocolViolationError("Hold: this client holds the pause already")
        if not self.still:
            return False
        self.holders.add(client)
        return True

    def let_go(self, client: int) -> bool:
        """LetGo. False when the client does not hold."""
        if client not in self.holders:
            return False
        self.holders.discard(client)
        return True

    # -- helpers -------------------------------------------------------------------------------------------------

    def _order(self, phase: Phase, mode: Mode) -> None:
        self.latest = Order(self.latest.number + 1, phase, mode)
        self.quiet.clear()
        if phase == "run":
            self.expecting.clear()

    def _forget(self, rank: int) -> None:
        self.live.discard(rank)
        self.quiet.discard(rank)
        self.seen.pop(rank, None)
