"""Planted faults in the gate's core and its channel, each of which driving the edges must see."""

from __future__ import annotations

from collections.abc import Hashable

from fdcomm.core.gate import Ended, Gate, Put, Round
from tests.conformance.channel_faults import Change, always_lost, nothing, trusting, twice
from tests.conformance.gate_core import Payload

__all__ = ("CORE", "SERVICE")

_Gate = Gate[Payload]


class _ByPosition(_Gate):
    def put_answer(self, rank: int, key: Hashable, answer: Payload, now: float) -> Put | None:
        open_ = next((r.key for r in self.rounds if rank not in r.answers and len(r.answers) < self.ranks), key)
        return super().put_answer(rank, open_, answer, now)


class _Overwrites(_Gate):
    def put_answer(self, rank: int, key: Hashable, answer: Payload, now: float) -> Put | None:
        put = super().put_answer(rank, key, answer, now)
        if put is None and rank in self.live:
            for round_ in self.rounds:
                if round_.key == key and rank in round_.answers:
                    round_.answers[rank] = answer
        return put


class _ForgetsLate(_Gate):
    def _end(self, round_: Round[Payload]) -> Ended:
        ended = super()._end(round_)
        for owed in self.late:
            owed.clear()
        return ended


class _OwesOnce(_Gate):
    def _end(self, round_: Round[Payload]) -> Ended:
        known = [round_.key in owed for owed in self.late]
        ended = super()._end(round_)
        for rank in ended.missing:
            if known[rank] and rank not in round_.without:
                self.late[rank].pop()
        return ended


class _RefusesForEver(_Gate):
    def refuse_late(self, rank: int, key: Hashable) -> bool:
        refused = super().refuse_late(rank, key)
        if refused:
            self.late[rank].append(key)
        return refused


class _FenceDoomsNothing(_Gate):
    def fence(self, rank: int) -> None:
        without = [set(r.without) for r in self.rounds]
        super().fence(rank)
        for round_, before in zip(self.rounds, without, strict=True):
            round_.without = before


class _FenceDoomsAll(_Gate):
    def fence(self, rank: int) -> None:
        super().fence(rank)
        for round_ in self.rounds:
            round_.without.add(rank)


class _FenceKeepsLate(_Gate):
    def fence(self, rank: int) -> None:
        owed = list(self.late[rank])
        super().fence(rank)
        self.late[rank].extend(owed)


class _VanishIsNothing(_Gate):
    def vanish(self, rank: int) -> None:
        if rank in self.live or rank in self.lost:
            super().vanish(rank)


class _VanishKeepsLate(_Gate):
    def vanish(self, rank: int) -> None:
        owed = list(self.late[rank])
        super().vanish(rank)
        self.late[rank].extend(owed)


class _JoinRevives(_Gate):
    def join(self, rank: int) -> None:
        super().join(rank)
        for round_ in self.rounds:
            round_.without.discard(rank)


class _LostCanAnswerNewRounds(_Gate):
    def put_answer(self, rank: int, key: Hashable, answer: Payload, now: float) -> Put | None:
        known = {r.key for r in self.rounds}
        put = super().put_answer(rank, key, answer, now)
        for round_ in self.rounds:
            if round_.key not in known:
                round_.without.clear()
        return put


class _HeadOfLine(_Gate):
    def _settled(self) -> Round[Payload] | None:
        return self.rounds[0] if self.rounds and self._is_settled(self.rounds[0]) else None


class _NewestFirst(_Gate):
    def _settled(self) -> Round[Payload] | None:
        return next((r for r in reversed(self.rounds) if self._is_settled(r)), None)


class _OneTooMany(_Gate):
    def __init__(self, ranks: int, capacity: int = 64, max_late: int = 256) -> None:
        super().__init__(ranks, capacity + 1, max_late)


class _CollectLeavesIt(_Gate):
    def collect(self) -> Round[Payload] | None:
        settled = self._settled()
        return None if settled is None or settled.without else settled


class _WrongMissing(_Gate):
    def missing(self, round_: Round[Payload]) -> tuple[int, ...]:
        return tuple(sorted(round_.answers))


class _ForgetsNewest(_Gate):
    def _end(self, round_: Round[Payload]) -> Ended:
        before = [list(owed) for owed in self.late]
        ended = super()._end(round_)
        for owed, old in zip(self.late, before, strict=True):
            if len(old) == self.max_late and list(owed) != old:
                owed.clear()
                owed.extend(old)
        return ended


CORE: dict[str, type[_Gate]] = {
    fault.__name__.strip("_"): fault
    for fault in (
        _ByPosition,
        _Overwrites,
        _ForgetsLate,
        _OwesOnce,
        _RefusesForEver,
        _FenceDoomsNothing,
        _FenceDoomsAll,
        _FenceKeepsLate,
        _VanishIsNothing,
        _VanishKeepsLate,
        _JoinRevives,
        _LostCanAnswerNewRounds,
        _HeadOfLine,
        _NewestFirst,
        _OneTooMany,
        _CollectLeavesIt,
        _WrongMissing,
        _ForgetsNewest,
    )
}


# name -> (method of GateChannel, what is done to it)
SERVICE: dict[str, tuple[str, Change]] = {
    "a new handle is not noticed": ("_enter", nothing),
    "the end of an old handle is not noticed when a new one opens": ("_holder", trusting),
    "rounds of lost ranks are kept": ("_end_lost", nothing),
    "rounds never time out": ("_end_overdue", nothing),
    "nothing is recorded": ("_record", nothing),
    "events are recorded twice": ("_record", twice),
    "a closed member counts as lost": ("_remove", always_lost),
}
