"""Faulty cores of the link: each of these must be found."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fdcomm.core.link import Link, Verdict

__all__ = ("CORE",)


class RunsAgain(Link):
    """A call that has come before is done again."""

    def arrive(self, number: int, open_calls: Collection[int], top: int) -> Verdict:
        verdict = super().arrive(number, open_calls, top)
        if verdict == "Repeat":
            self.known[number] = "running"
            self.answers.pop(number, None)
            return "Begin"
        return verdict


class TakesLateCopies(Link):
    """A call that was forgotten is new."""

    def arrive(self, number: int, open_calls: Collection[int], top: int) -> Verdict:
        verdict = super().arrive(number, open_calls, top)
        if verdict == "Stale":
            self.known[number] = "running"
            return "Begin"
        return verdict


class KeepsAll(Link):
    """Answers are kept as long as the session."""

    def _hear(self, open_calls: Collection[int], top: int) -> None:
        super()._hear({*open_calls, *self.known}, top)


class ForgetsOpen(Link):
    """An answer is forgotten though the handle waits for it."""

    def _hear(self, open_calls: Collection[int], top: int) -> None:
        super()._hear(open_calls, top)
        for number in list(self.answers):
            del self.known[number], self.answers[number]


class OpensAgain(Link):
    """The first call opens a session that has ended."""

    def arrive(self, number: int, open_calls: Collection[int], top: int) -> Verdict:
        if number == 1 and self.session in ("closed", "fenced"):
            self.session = "new"
        return super().arrive(number, open_calls, top)


class FinishesEnded(Link):
    """A call is finished after the end of its session."""

    def finish(self, number: int, answer: Any) -> None:
        session, self.session = self.session, "open"
        try:
            super().finish(number, answer)
        finally:
            self.session = session


class FencesTheGone(Link):
    """Who has said goodbye is fenced."""

    def depart(self) -> bool:
        ends = super().depart()
        if ends:
            self.session = "fenced"
        return ends


class AsksForAll(Link):
    """Calls that run are asked for again."""

    def unknown(self, open_calls: Collection[int]) -> list[int]:
        return sorted(open_calls)


CORE = {
    kind.__name__: kind
    for kind in (
        RunsAgain,
        TakesLateCopies,
        KeepsAll,
        ForgetsOpen,
        OpensAgain,
        FinishesEnded,
        FencesTheGone,
        AsksForAll,
    )
}
