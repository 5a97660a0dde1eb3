"""A group of barriers of one replica. Spec: ``spec/barrier.toml``."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.core.barrier import BarrierGroup, Outcome
from fdcomm.deadline import Deadline
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Member, Place

__all__ = ("BarrierChannel",)

_ACTION: Final[dict[Outcome | None, str]] = {
    None: "Arrive",
    "passed": "Pass",
    "mismatch": "Mismatch",
    "lost": "Refuse",
    "broken": "Refuse",
    "over": "Refuse",
}


class BarrierChannel(Channel):
    """Barriers that one thread of each rank uses in turn.

    A rank may reset after every wait, so its reset undoes only an abort that it was told of: by an error of a wait, by
    its own abort, or because it looked. ``_told`` remembers that: (session, barrier) -> number of the abort. A handle
    that has never waited here has no such habit: its reset is about the abort that is in force.
    """

    def __init__(self, place: Place, names: tuple[str, ...], ranks: int) -> None:
        self._core = BarrierGroup(names, ranks)
        self._told: dict[tuple[int, str], int] = {}
        super().__init__(place, self._core, {"ranks": ranks, "barriers": list(names)})

    def wait(self, session: int, barrier: str, label: str, round: int | None, timeout: float | None) -> int:
        """Arrive, then Pass (or Mismatch, Refuse, Timeout). Returns the order of arrival, 0 for the first."""
        core, operation = self._core, f"{barrier}.wait"
        self._runtime.point("Arrive.enter")
        with self._readable:
            member = self._member(session, operation)
            rank = self._claim(member, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            arrival = core.arrive(rank, barrier, label, round)
            who = {"rank": rank, "barrier": barrier, "label": label, "round": round}
            self._record(_ACTION[arrival.ending.outcome if arrival.ending else None], who)
            if arrival.ending is not None:
                self._readable.notify_all()
            while arrival.ending is None:
                if deadline.expired():
                    missing = core.missing(barrier)
                    core.timeout(rank)
                    self._record("Timeout", {"rank": rank})
                    raise refusals.barrier_timeout(
                        operation, missing, core.live, core.generation(barrier), deadline.waited()
                    )
                self._readable.wait(deadline.remaining())
                if arrival.ending is None:
                    self._member(session, operation)
            if arrival.ending.outcome == "passed":
                return arrival.index
            if arrival.ending.outcome == "broken":
                self._told[session, barrier] = core.aborts(barrier)
            raise refusals.barrier_ended(operation, arrival.ending, round, deadline.waited())

    def abort(self, session: int, barrier: str) -> None:
        """Abort: end the waits of the current round, and refuse new ones until a reset."""
        with self._readable:
            self._member(session, f"{barrier}.abort")
            if self._core.abort(barrier):
                self._record("Abort", {"barrier": barrier})
                self._readable.notify_all()
            self._told[session, barrier] = self._core.aborts(barrier)

    def reset(self, session: int, barrier: str) -> None:
        """Reset: undo an abort, if the caller is no rank or was told of it; otherwise nothing."""
        with self._readable:
            member = self._member(session, f"{barrier}.reset")
            told = self._core.aborts(barrier) if member.rank is None else self._told.get((session, barrier), 0)
            if self._core.reset(barrier, told):
                self._record("Reset", {"barrier": barrier, "abort": told})

    def view(self, session: int, barrier: str) -> dict[str, Any]:
        """Return a snapshot of one barrier. Who looks is told of an abort."""
        with self._readable:
            self._member(session, f"{barrier}.view")
            core = self._core
            self._told[session, barrier] = core.aborts(barrier)
            return {
                "parties": core.ranks,
                "n_waiting": len(core.arrived(barrier)),
                "broken": core.broken(barrier),
                "generation": core.generation(barrier),
                "missing": core.missing(barrier),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _exit(self, member: Member, *, lost: bool) -> None:
        for key in [key for key in self._told if key[0] == member.session]:
            del self._told[key]

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "generation": [core.generation(name) for name in core.names],
            "arrived": [list(core.arrived(name)) for name in core.names],
            "broken": [core.broken(name) for name in core.names],
            "aborts": [core.aborts(name) for name in core.names],
            "lost": sorted(core.lost),
        }
