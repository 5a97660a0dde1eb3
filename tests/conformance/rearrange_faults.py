"""Planted faults in rearrange's core and its channel, each of which driving the edges must see."""

from __future__ import annotations

from typing import Any

from fdcomm.core.rearrange import Rearrange
from tests.conformance.channel_faults import Change, always_lost, nothing, twice

__all__ = ("CORE", "SERVICE")


class _SecondRequest(Rearrange):
    def request(self, addresses: tuple[str, ...]) -> int:
        if self.phase == "ASKED":
            self.phase = "FREE"
        return super().request(addresses)


class _RequestInDone(Rearrange):
    def request(self, addresses: tuple[str, ...]) -> int:
        self.free()
        return super().request(addresses)


class _AnyReportCounts(Rearrange):
    def refuse_report(self, rank: int, request: int) -> bool:
        return super().refuse_report(rank, self.request_number)


class _ReportWithoutLoad(Rearrange):
    def refuse_report(self, rank: int, request: int) -> bool:
        refused = super().refuse_report(rank, request)
        return refused and not (request == self.request_number and self.load[rank] == "asked")


class _AddressesNotCounted(Rearrange):
    def lacking(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        return super().lacking()[0], ()


class _ResetWhileSwapping(Rearrange):
    def exchanging(self) -> bool:
        return False


class _LateIsLoaded(Rearrange):
    def end_timeout(self) -> bool:
        if self.phase == "DOING":
            self.phase = "LOAD_SUCC"
            return True
        return super().end_timeout()


class _StartsAlone(Rearrange):
    def arrive(self, rank: int) -> bool:
        arrived = super().arrive(rank)
        if arrived:
            self.worker[rank] = "swap"
        return arrived


class _FenceEndsNothing(Rearrange):
    def fence(self, party: int) -> None:
        self._require_live(party, "Fence")
        self.live.discard(party)


class _FenceEndsEverything(Rearrange):
    def _part(self, party: int, how: str) -> None:
        super()._part(party, how)
        if self.phase == "ASKED":
            self._end("lost", "somebody")


class _CoordinatorNeeded(Rearrange):
    def _part(self, party: int, how: str) -> None:
        loaded = self.phase == "LOAD_SUCC" and party == self.coordinator
        super()._part(party, how)
        if loaded:
            self._end("lost", "the coordinator")


class _LostIsDone(Rearrange):
    def _close_exchange(self) -> None:
        self.worker = ["done" if worker == "lost" else worker for worker in self.worker]
        super()._close_exchange()


class _LeavesPlan(Rearrange):
    def _fresh(self, phase: str) -> None:
        reached = self.running.reached
        super()._fresh(phase)
        self.running.reached = reached


class _WrongRank(Rearrange):
    def report_failed(self, rank: int, request: int, reason: str) -> bool:
        if self.refuse_report(rank, request):
            return False
        self._end("failed", reason, (self.ranks - 1 - rank,))
        return True


class _TwicePerLoad(Rearrange):
    def take_load(self, rank: int) -> bool:
        return super().take_load(rank) or self.load[rank] == "taken"


class _UpdatedTwice(Rearrange):
    def updated(self, rank: int, request: int) -> bool:
        return super().updated(rank, request) or self.worker[rank] == "done"


CORE: dict[str, type[Rearrange]] = {
    fault.__name__.strip("_"): fault
    for fault in (
        _SecondRequest,
        _RequestInDone,
        _AnyReportCounts,
        _ReportWithoutLoad,
        _AddressesNotCounted,
        _ResetWhileSwapping,
        _LateIsLoaded,
        _StartsAlone,
        _FenceEndsNothing,
        _FenceEndsEverything,
        _CoordinatorNeeded,
        _LostIsDone,
        _LeavesPlan,
        _WrongRank,
        _TwicePerLoad,
        _UpdatedTwice,
    )
}


def _lenient(original: Any) -> Any:
    return lambda self, member, party, name: None if party in self._holders else original(self, member, party, name)


# name -> (method of RearrangeChannel, what is done to it)
SERVICE: dict[str, tuple[str, Change]] = {
    "a limit is not looked at": ("_expire", nothing),
    "whoever goes is not fenced": ("_exit", nothing),
    "a second handle is the same party": ("_act_as", _lenient),
    "nothing is recorded": ("_record", nothing),
    "events are recorded twice": ("_record", twice),
    "a closed member counts as lost": ("_exit", always_lost),
}
