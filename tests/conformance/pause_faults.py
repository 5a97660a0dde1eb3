"""Planted faults in the cores and the channel of the pause protocol, each of which driving the edges must see."""

from __future__ import annotations

from typing import Any

from fdcomm.core.pause import MODES, Mode, Order, Pause
from fdcomm.core.rank_gate import RankGate
from tests.conformance.channel_faults import Change, nothing, trusting, twice

__all__ = ("CHANNEL", "CORE", "GATE")


class _JoinsLoud(Pause):
    def join(self, rank: int) -> None:
        super().join(rank)
        self.quiet.discard(rank)


class _FenceKeeps(Pause):
    def fence(self, rank: int) -> None:
        quiet = rank in self.quiet
        super().fence(rank)
        if quiet:
            self.quiet.add(rank)


class _LostAreAwaited(Pause):
    @property
    def still(self) -> bool:
        return self.latest.phase == "pause" and self.live | self.lost <= self.quiet


class _AnyReport(Pause):
    def report_quiet(self, rank: int, number: int) -> bool:
        self.taken(rank, number)
        if self.latest.phase != "pause" or rank in self.quiet:
            return False
        self.quiet.add(rank)
        return True


class _ResumesAtOnce(Pause):
    def resume(self) -> int | None:
        if self.latest.phase == "pause" and not self.still:
            self._order("run", self.latest.mode)
        return super().resume()


class _ForgetsHolders(Pause):
    def resume(self) -> int | None:
        holders, self.holders = self.holders, set()
        number = super().resume()
        self.holders = holders
        return number


class _KeepsReports(Pause):
    def _order(self, phase: Any, mode: Mode) -> None:
        quiet = set(self.quiet)
        super()._order(phase, mode)
        if phase == "pause":
            self.quiet |= quiet & {rank for rank in self.live if self.seen[rank] < self.latest.number}


class _Blunter(Pause):
    def _pause(self, mode: Mode) -> bool:
        if self.latest.phase == "pause" and not self.still and MODES.index(mode) < MODES.index(self.latest.mode):
            self._order("pause", mode)
            return True
        return super()._pause(mode)


class _SharpensTheReached(Pause):
    def _pause(self, mode: Mode) -> bool:
        if self.latest.phase == "pause" and self.still and MODES.index(mode) > MODES.index(self.latest.mode):
            self._order("pause", mode)
            return True
        return super()._pause(mode)


class _BeginsAgain(Pause):
    def _pause(self, mode: Mode) -> bool:
        ordered = super()._pause(mode)
        if ordered:
            self.began = self.latest.number
        return ordered


class _TellsNobody(Pause):
    def resume(self) -> int | None:
        self.expecting.clear()
        return super().resume()


class _CancelsTheReached(Pause):
    def cancel(self) -> int | None:
        if self.latest.phase == "pause" and self.still:
            self._order("run", self.latest.mode)
            return self.latest.number
        return super().cancel()


CORE: dict[str, type[Pause]] = {
    fault.__name__.strip("_"): fault
    for fault in (
        _JoinsLoud,
        _FenceKeeps,
        _LostAreAwaited,
        _AnyReport,
        _ResumesAtOnce,
        _ForgetsHolders,
        _KeepsReports,
        _Blunter,
        _SharpensTheReached,
        _BeginsAgain,
        _CancelsTheReached,
        _TellsNobody,
    )
}


class _OpensLate(RankGate):
    def take(self, order: Order) -> bool:
        taken = super().take(order)
        if not taken and order.number == self.order and order.phase == "run":
            self.shut = False
        return taken


class _TakesOld(RankGate):
    def take(self, order: Order) -> bool:
        if order.number < self.order:
            self.shut = order.phase == "pause"
        return super().take(order)


class _StaysOpen(RankGate):
    def take(self, order: Order) -> bool:
        shut, taken = self.shut, super().take(order)
        self.shut = self.shut and shut
        return taken


class _KeepsParked(RankGate):
    def take(self, order: Order) -> bool:
        parked = self.parked
        taken = super().take(order)
        if taken and parked and order.phase == "pause":
            self.running, self.parked = self.running - parked + self.parked, parked
        return taken


class _CountsParked(RankGate):
    def done(self, parking: int | None = None) -> None:
        super().done(None if self.running else parking)


class _BelowZero(RankGate):
    def done(self, parking: int | None = None) -> None:
        if self.running + self.parked == 0:
            return
        super().done(parking)


class _ParksAtAnyPause(RankGate):
    @property
    def may_park(self) -> bool:
        return self.shut


GATE: dict[str, type[RankGate]] = {
    fault.__name__.strip("_"): fault
    for fault in (_OpensLate, _TakesOld, _StaysOpen, _KeepsParked, _CountsParked, _BelowZero, _ParksAtAnyPause)
}


class _Mute:
    def notify_all(self) -> None:
        """Nobody is told."""


def _silent(original: Any) -> Any:
    def changed(self: Any, session: int, *args: Any) -> Any:
        clients, self._writable = self._writable, _Mute()
        try:
            return original(self, session, *args)
        finally:
            self._writable = clients

    return changed


# name -> (method of PauseChannel, what is done to it)
CHANNEL: dict[str, tuple[str, Change]] = {
    "a report wakes nobody": ("report", _silent),
    "the end of a rank wakes nobody": ("_wake_all", nothing),
    "the end of an old process is not noticed when a new one joins": ("_holder", trusting),
    "nothing is recorded": ("_record", nothing),
    "events are recorded twice": ("_record", twice),
    "what a rank has taken is not noted": ("_note", nothing),
    "a call is not given up": ("_see_wanted", nothing),
    "holds outlive their session": ("_let_go", nothing),
}
