"""A group of barriers of one replica. Spec: ``spec/barrier.toml``."""

from __future__ import annotations

from typing import Any

from fdcomm.core.barrier import BarrierGroup
from fdcomm.deadline import Deadline
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Place

__all__ = ("BarrierChannel",)


class BarrierChannel(Channel):
    """Barriers that one thread of each rank uses in turn."""

    def __init__(self, place: Place, names: tuple[str, ...], ranks: int) -> None:
        self._core = BarrierGroup(names, ranks)
        super().__init__(place, self._core, {"ranks": ranks, "barriers": list(names)})

    def wait(self, session: int, barrier: str, label: str, timeout: float | None) -> int:
        """Arrive, then Pass (or Mismatch, Refuse, Timeout). Returns the order of arrival, 0 for the first."""
        core, operation = self._core, f"{barrier}.wait"
        self._runtime.point("Arrive.enter")
        with self._readable:
            member = self._member(session, operation)
            rank = self._claim(member, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            arrival = core.arrive(rank, barrier, label)
            who = {"rank": rank, "barrier": barrier, "label": label}
            self._record(self._action(arrival.ending.outcome if arrival.ending else None, alone=bool(core.lost)), who)
            if arrival.ending is not None:
                self._readable.notify_all()
            while arrival.ending is None:
                if deadline.expired():
                    missing = core.missing(barrier)
                    core.withdraw(arrival)
                    self._record("Timeout", {"rank": rank})
                    raise refusals.barrier_timeout(
                        operation, missing, core.live, core.generation(barrier), deadline.waited()
                    )
                self._readable.wait(deadline.remaining())
                if arrival.ending is None:
                    self._member(session, operation)
            if arrival.ending.outcome != "passed":
                raise refusals.barrier_ended(operation, arrival.ending, deadline.waited())
            return arrival.ending.index

    def abort(self, session: int, barrier: str) -> None:
        """Abort: end the waits of the current round, and refuse new ones until a reset."""
        with self._readable:
            self._member(session, f"{barrier}.abort")
            if not self._core.broken(barrier):
                self._core.abort(barrier)
                self._record("Abort", {"barrier": barrier})
                self._readable.notify_all()

    def reset(self, session: int, barrier: str) -> None:
        """Reset: undo an abort; otherwise nothing."""
        with self._readable:
            self._member(session, f"{barrier}.reset")
            if self._core.broken(barrier):
                self._core.reset(barrier)
                self._record("Reset", {"barrier": barrier})

    def view(self, session: int, barrier: str) -> dict[str, Any]:
        """Return a snapshot of one barrier."""
        with self._readable:
            self._member(session, f"{barrier}.view")
            core = self._core
            return {
                "parties": core.ranks,
                "n_waiting": core.n_waiting(barrier),
                "broken": core.broken(barrier),
                "generation": core.generation(barrier),
                "missing": core.missing(barrier),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    @staticmethod
    def _action(outcome: str | None, *, alone: bool) -> str:
        if outcome is None:
            return "Arrive"
        if outcome == "passed":
            return "Pass"
        return "Mismatch" if outcome == "mismatch" and not alone else "Refuse"

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "generation": {name: core.generation(name) for name in core.names},
            "waiting": {name: core.n_waiting(name) for name in core.names},
        }
