"""Faulty cores of the FMQ queue: each mistake has to show."""

from __future__ import annotations

from typing import Any

from fdcomm.core.fmq import Receiver, Sender, Verdict

__all__ = ("FAULTS",)


class _ForgetsWhatIsSent(Sender[Any]):
    def put(self, message: Any) -> int:
        number = super().put(message)
        if self.linked and number:
            self.hear(number)
        return number


class _SendsNothingAgain(Sender[Any]):
    def connect(self) -> tuple[int, tuple[Any, ...]]:
        base, _ = super().connect()
        return base, ()


class _HasNoWindow(Sender[Any]):
    def put(self, message: Any) -> int:
        return super().put(message) if not self.full else self.sent + 1


class _KeepsWhatItDrops(Sender[Any]):
    def connect(self) -> tuple[int, tuple[Any, ...]]:
        base, again = self.base, super().connect()
        if not self.keeps:
            self.base = base
        return self.base, again[1]


class _GivesTwice(Receiver):
    def read(self, producer: bytes, connection: int, number: int, base: int, there: bool = True) -> Verdict:
        verdict = super().read(producer, connection, number, base, there)
        return "given" if verdict == "duplicate" else verdict


class _TellsOnce(Receiver):
    def read(self, producer: bytes, connection: int, number: int, base: int, there: bool = True) -> Verdict:
        known = self.producers.get(producer)
        told = known.told if known is not None else base
        verdict = super().read(producer, connection, number, base, there)
        if verdict == "duplicate" and known is not None:
            known.told = told
        return verdict


class _AnswersTheFirst(Receiver):
    def read(self, producer: bytes, connection: int, number: int, base: int, there: bool = True) -> Verdict:
        known = self.producers.get(producer)
        return super().read(producer, connection if known is None else known.peer, number, base, there)


class _TellsBeforeItIsDone(Receiver):
    def acknowledge(self, producer: bytes) -> int:
        known = self.producers.get(producer)
        if known is not None and known.told < known.last:
            known.told = known.last
            return known.last
        return super().acknowledge(producer)


class _NoticesNoHole(Receiver):
    def read(self, producer: bytes, connection: int, number: int, base: int, there: bool = True) -> Verdict:
        verdict = super().read(producer, connection, number, base, there)
        return "given" if verdict == "hole" else verdict


FAULTS: dict[str, tuple[type[Sender[Any]], type[Receiver]]] = {
    **{
        kind.__name__.strip("_"): (kind, Receiver)
        for kind in (_ForgetsWhatIsSent, _SendsNothingAgain, _HasNoWindow, _KeepsWhatItDrops)
    },
    **{
        kind.__name__.strip("_"): (Sender, kind)
        for kind in (_GivesTwice, _TellsOnce, _AnswersTheFirst, _TellsBeforeItIsDone, _NoticesNoHole)
    },
}
"""Name -> the two cores, one of them faulty."""
