"""Planted faults in the control core and its channel, each of which driving the edges must see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.core.control import Control, Request
from tests.conformance.channel_faults import Change, joins_and_fences, nothing, silent

__all__ = ("CORE", "SERVICE")

_Core = Control[Any]


class _OldestOpen(_Core):
    """An answer goes to the oldest open request that its rank has not answered (P14.1)."""

    def answer(self, rank: int, number: int, answer: Any) -> bool:
        lacking = [r.number for r in self.open.values() if rank not in r.answers and rank not in r.without]
        doing = self.doing[rank]
        if lacking and doing == number:
            self.doing[rank] = lacking[0]
            return super().answer(rank, lacking[0], answer)
        return super().answer(rank, number, answer)


class _CountsLate(_Core):
    def __init__(self, ranks: int, capacity: int = 64) -> None:
        super().__init__(ranks, capacity)
        self.all: dict[int, Request[Any]] = {}

    def ask(self, payload: Any, client: int) -> Request[Any] | None:
        request = super().ask(payload, client)
        if request is not None:
            self.all[request.number] = request
        return request

    def answer(self, rank: int, number: int, answer: Any) -> bool:
        counted = super().answer(rank, number, answer)
        self.all[number].answers[rank] = answer
        return counted


class _AnswerIsNotTheEnd(_Core):
    def answer(self, rank: int, number: int, answer: Any) -> bool:
        counted = super().answer(rank, number, answer)
        if counted:
            self.doing[rank] = number
        return counted


class _TakesAgain(_Core):
    def take(self, rank: int) -> Request[Any] | None:
        request = super().take(rank)
        if request is not None:
            self.served[rank] -= 1
        return request


class _TakesNewest(_Core):
    def take(self, rank: int) -> Request[Any] | None:
        self.open = dict(reversed(self.open.items()))
        return super().take(rank)


class _TakesTwo(_Core):
    def take(self, rank: int) -> Request[Any] | None:
        if rank in self.live:
            self.doing[rank] = 0
        return super().take(rank)


class _FenceDoomsNothing(_Core):
    def fence(self, rank: int) -> None:
        before = {number: set(r.without) for number, r in self.open.items()}
        super().fence(rank)
        for number, without in before.items():
            self.open[number].without = without


class _FenceDoomsAnswered(_Core):
    def fence(self, rank: int) -> None:
        super().fence(rank)
        for request in self.open.values():
            request.without.add(rank)


class _FenceKeepsDoing(_Core):
    def fence(self, rank: int) -> None:
        doing = self.doing[rank]
        super().fence(rank)
        self.doing[rank] = doing


class _LeaveKeepsWaiting(_Core):
    def leave(self, rank: int) -> None:
        doing = self.open.get(self.doing[rank])
        super().leave(rank)
        if doing is not None:
            doing.without.discard(rank)


class _LeaveDoomsAll(_Core):
    def leave(self, rank: int) -> None:
        super().leave(rank)
        for request in self.open.values():
            if rank not in request.answers:
                request.without.add(rank)


class _LostAreAsked(_Core):
    def ask(self, payload: Any, client: int) -> Request[Any] | None:
        request = super().ask(payload, client)
        if request is not None:
            request.without.clear()
        return request


class _JoinRevives(_Core):
    def join(self, rank: int) -> None:
        super().join(rank)
        for request in self.open.values():
            request.without.discard(rank)


class _ReappearIsNothing(_Core):
    def reappear(self, rank: int) -> bool:
        return rank in self.lost


class _VanishDoomsNothing(_Core):
    def vanish(self, rank: int) -> None:
        super().vanish(rank)
        for request in self.open.values():
            request.without.discard(rank)


class _CollectsSome(_Core):
    def collect(self, number: int) -> Request[Any] | None:
        request = self._open_request(number)
        return self._end(request, "done") if not self.awaited(request) else None


class _LostHurries(_Core):
    def end_lost(self, number: int) -> Request[Any] | None:
        request = self._open_request(number)
        return self._end(request, "lost") if request.without else None


class _TimeoutAlways(_Core):
    def end_timeout(self, number: int) -> Request[Any] | None:
        return self._end(self._open_request(number), "late")


class _OneTooMany(_Core):
    def __init__(self, ranks: int, capacity: int = 64) -> None:
        super().__init__(ranks, capacity + 1)


_FAULTS = (
    *(_OldestOpen, _CountsLate, _AnswerIsNotTheEnd, _TakesAgain, _TakesNewest, _TakesTwo, _FenceDoomsNothing),
    *(_FenceDoomsAnswered, _FenceKeepsDoing, _LeaveKeepsWaiting, _LeaveDoomsAll, _LostAreAsked, _JoinRevives),
    *(_ReappearIsNothing, _VanishDoomsNothing, _CollectsSome, _LostHurries, _TimeoutAlways, _OneTooMany),
)

CORE: dict[str, type[_Core]] = {fault.__name__[1:]: fault for fault in _FAULTS}


def _ends_always(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, request, *, late: method(self, request, late=True)


def _withdraws_all(method: Callable[..., Any]) -> Callable[..., Any]:
    def changed(self: Any, member: Any, token: Any = None) -> Any:
        for request in self._core.open.values():
            request.client = member.producer
        return method(self, member, token)

    return changed


def _withdraws_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, member, token=None: ()


SERVICE: dict[str, tuple[str, Change]] = {
    "an answer wakes nobody": ("answer", silent),
    "a cancel wakes nobody": ("cancel", silent),
    "a close wakes nobody": ("close_session", silent),
    "a request ends at its first look": ("_ends", _ends_always),
    "a cancel is about everybody's requests": ("_withdraw", _withdraws_all),
    "what was asked stays open after a close": ("_withdraw", _withdraws_nothing),
    "a handle that opens changes nothing": ("_enter", nothing),
    "events are missing": ("_record", joins_and_fences),
}
