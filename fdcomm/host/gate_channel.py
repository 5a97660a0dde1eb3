"""A gate of one replica: answers of all ranks, collected together. Spec: ``spec/gate.toml``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from fdcomm.core.gate import Gate, Round
from fdcomm.deadline import Deadline
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Place

__all__ = ("GateChannel",)


class GateChannel(Channel):
    """Rounds of one answer per rank, keyed by the request that they answer."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core: Gate[bytes] = Gate(ranks)
        super().__init__(place, self._core, {"ranks": ranks, "capacity": self._core.capacity})

    def put_answer(self, session: int, key: Hashable, answer: bytes, timeout: float | None, operation: str) -> bool:
        """PutAnswer or RefuseLate. Returns True when this answer completed its round."""
        core = self._core
        self._runtime.point("PutAnswer.enter")
        with self._writable:
            member = self._member(session, operation)
            rank = self._claim(member, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                put = core.put_answer(rank, key, answer, self._runtime.monotonic())
                if put is not None:
                    self._record("RefuseLate" if put.late else "PutAnswer", {"rank": rank, "key": repr(key)})
                    if put.late:
                        raise refusals.late_answer(operation, rank)
                    self._readable.notify_all()
                    return put.all_put
                if deadline.expired():
                    oldest = core.oldest_incomplete()
                    missing = core.missing(oldest) if oldest else ()
                    raise refusals.gate_full(operation, missing, deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)

    def collect(
        self, session: int, timeout: float | None, round_limit: float | None, operation: str
    ) -> list[bytes] | None:
        """Collect: the answers of the oldest complete round, in rank order; None when there is none.

        Args:
            session: The caller's session.
            timeout: Seconds to wait for a complete round; 0 answers at once.
            round_limit: Seconds after which an incomplete round is given up; a lost rank ends it at once.
            operation: Name of the public call.

        Raises:
            PeerLostError: EndRound: a rank that has not answered is lost. The round is gone.
            CommTimeoutError: EndRound after ``round_limit``; or no round became complete within ``timeout`` (then
                nothing was changed).
        """
        core = self._core
        with self._readable:
            self._member(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                done = core.collect()
                if done is not None:
                    self._record("Collect", {"key": repr(done.key)})
                    self._writable.notify_all()
                    return [done.answers[rank] for rank in range(core.ranks)]
                limit = self._end_overdue(round_limit, operation)
                if timeout == 0:
                    return None
                if deadline.expired():
                    oldest = core.oldest_incomplete()
                    missing = core.missing(oldest) if oldest else ()
                    raise refusals.collect_timeout(operation, missing, deadline.waited())
                bounds = [seconds for seconds in (deadline.remaining(), limit) if seconds is not None]
                self._readable.wait(min(bounds) if bounds else None)
                self._member(session, operation)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot of the gate."""
        with self._readable:
            self._member(session, "view")
            core = self._core
            oldest = core.oldest_incomplete()
            complete = len(core.rounds) > 0 and len(core.rounds[0].answers) == core.ranks
            return {
                "rounds": [(repr(r.key), sorted(r.answers)) for r in core.rounds],
                "answers": [list(r.answers.values()) for r in core.rounds],
                "can_put": not complete,
                "missing": core.missing(oldest) if oldest else (),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    def _end_overdue(self, round_limit: float | None, operation: str) -> float | None:
        """End the oldest incomplete round if it can never be complete or is overdue; return the seconds left."""
        core = self._core
        oldest = core.oldest_incomplete()
        if oldest is None:
            return None
        age = self._runtime.monotonic() - oldest.opened_at
        lost = tuple(rank for rank in core.missing(oldest) if rank in core.lost)
        if lost or (round_limit is not None and age >= round_limit):
            raise self._end(oldest, lost, age, operation)
        return None if round_limit is None else round_limit - age

    def _end(self, round_: Round[bytes], lost: tuple[int, ...], age: float, operation: str) -> Exception:
        missing = self._core.end_round(round_)
        self._record("EndRound", {"key": repr(round_.key)}, {"missing": list(missing)})
        self._writable.notify_all()
        return refusals.round_ended(operation, missing, lost, age)

    def _post(self) -> dict[str, Any]:
        return {"rounds": [[repr(r.key), sorted(r.answers)] for r in self._core.rounds]}
