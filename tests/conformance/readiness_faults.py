"""Planted faults: small mistakes in the readiness core or channel, each of which driving the edges must see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.core.readiness import Readiness, Waiting
from fdcomm.host.readiness_channel import ReadinessChannel
from tests.conformance.channel_faults import Change, silent, without

__all__ = ("CHANNEL", "CORE")


class _JoinKeepsWhatWasSaid(Readiness):
    def join(self, component: str, rank: int) -> int:
        lost = self.part(component, rank).lost
        inc = super().join(component, rank)
        if lost:
            self.part(component, rank).said = "ready"
        return inc


class _SameIncarnation(Readiness):
    def join(self, component: str, rank: int) -> int:
        inc = super().join(component, rank)
        if inc > 1:
            self.part(component, rank).inc = inc - 1
        return self.part(component, rank).inc


class _TheLostStayReady(Readiness):
    def fence(self, component: str, rank: int) -> list[Waiting]:
        said = self.part(component, rank).said
        gone = super().fence(component, rank)
        self.part(component, rank).said = said
        return gone


class _LeavingIsLoss(Readiness):
    def leave(self, component: str, rank: int) -> list[Waiting]:
        return self.fence(component, rank)


class _StuckForEver(Readiness):
    def recover(self, component: str, rank: int) -> bool:
        return self.part(component, rank).stuck


class _StuckWhileItStarts(Readiness):
    def withdraw(self, component: str, rank: int, reason: str = "") -> None:
        stuck = self.part(component, rank).stuck
        super().withdraw(component, rank, reason)
        self.part(component, rank).stuck = stuck


class _ReadyAgainAfterFailure(Readiness):
    def ready(self, component: str, rank: int) -> None:
        part = self.part(component, rank)
        if part.said == "failed":
            part.said = "starting"
        super().ready(component, rank)


class _StuckOnesCount(Readiness):
    def complete(self, number: int) -> bool:
        waiting = self.open.get(number)
        if waiting is None or any(part.said != "ready" for _, _, part in self.awaited(waiting)):
            return False
        self._end(waiting, "done")
        return True


class _OneIsEnough(Readiness):
    def complete(self, number: int) -> bool:
        waiting = self.open.get(number)
        if waiting is None or not any(part.serves for _, _, part in self.awaited(waiting)):
            return False
        self._end(waiting, "done")
        return True


class _FailureIsWaitedFor(Readiness):
    def give_up(self, number: int) -> bool:
        waiting = self.open.get(number)
        failed = waiting and any(part.said == "failed" for _, _, part in self.awaited(waiting))
        return not failed and super().give_up(number)


class _LossIsWaitedFor(Readiness):
    def give_up(self, number: int) -> bool:
        waiting = self.open.get(number)
        lost = waiting and any(part.lost for _, _, part in self.awaited(waiting))
        return not lost and super().give_up(number)


class _ThePatientGiveUp(Readiness):
    def give_up(self, number: int) -> bool:
        waiting = self.open.get(number)
        if waiting is None or not any(part.troubled for _, _, part in self.awaited(waiting)):
            return False
        self._end(waiting, "failed")
        return True


class _AnyOrder(Readiness):
    def check_order(self, components: Any, mine: str, rank: int) -> None:
        self._live(mine, rank, "Wait")


class _TheGoneStillWait(Readiness):
    def _go(self, component: str, rank: int, action: str) -> list[Waiting]:
        mine = [waiting for waiting in self.open.values() if waiting.by == (component, rank)]
        for waiting in mine:
            waiting.by = None
        gone = super()._go(component, rank, action)
        for waiting in mine:
            waiting.by = (component, rank)
        return gone


CORE: dict[str, Callable[[Any], Readiness]] = {
    "a new process is ready as the one before it": _JoinKeepsWhatWasSaid,
    "a new process has the number of the one before it": _SameIncarnation,
    "who is lost stays ready": _TheLostStayReady,
    "who leaves is lost": _LeavingIsLoss,
    "a stuck loop never recovers": _StuckForEver,
    "who reloads stays stuck": _StuckWhileItStarts,
    "who has failed is ready at a word": _ReadyAgainAfterFailure,
    "stuck ones count": _StuckOnesCount,
    "one part is enough": _OneIsEnough,
    "a failure is waited for": _FailureIsWaitedFor,
    "a loss is waited for": _LossIsWaitedFor,
    "who waits for restarts gives up": _ThePatientGiveUp,
    "anybody waits for anybody": _AnyOrder,
    "who is gone still waits": _TheGoneStillWait,
}


def _always(value: Any) -> Change:
    return lambda original: lambda self, *args, **options: value


def _fresh_words(original: Any) -> Any:
    """A new process finds a stamp of its own."""

    def store(self: ReadinessChannel, core: Any, party: Any, value: int) -> None:
        if value:
            original(self, core, party, value)

    return store


def _one_word(original: Any) -> Any:
    """All processes of a part share one word."""
    return lambda self, core, party: original(self, core, party) & ~1


# Name -> method of the channel, and what becomes of it.
CHANNEL: dict[str, tuple[str, Change]] = {
    "what is said wakes nobody": ("ready", silent),
    "a failure wakes nobody": ("fail", silent),
    "a cancel wakes nobody": ("cancel", silent),
    "the end of a session wakes nobody": ("close_session", silent),
    "nobody looks at the words": ("_look", _always(False)),
    "a stamp is for ever": ("_age", _always(0.0)),
    "ready is no stamp": ("_stamp", _always(None)),
    "old words stay for a new process": ("_store", _fresh_words),
    "all processes of a part share a word": ("_place", _one_word),
    "a stall is not recorded": ("_record", without("Stall")),
    "a time limit is not recorded": ("_record", without("Expire")),
}
