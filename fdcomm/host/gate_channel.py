"""A gate of one replica: answers of all ranks, collected together. Spec: ``spec/gate.toml``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from fdcomm.core.gate import Gate
from fdcomm.deadline import Deadline
from fdcomm.errors import ProtocolViolationError, StaleAnswerError
from fdcomm.host import refusals
from fdcomm.host.members import AnswerChannel, Place

__all__ = ("GateChannel",)


class GateChannel(AnswerChannel):
    """Rounds of one answer per rank, keyed by the request that they answer."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._core: Gate[bytes] = Gate(ranks)
        shape = {"ranks": ranks, "capacity": self._core.capacity, "max_late": self._core.max_late}
        super().__init__(place, self._core, shape)

    def put_answer(self, session: int, key: Hashable, answer: bytes, timeout: float | None, operation: str) -> bool:
        """PutAnswer or RefuseLate (after Join, on the first answer). Returns True when it completed its round.

        Raises:
            StaleAnswerError: RefuseLate.
            CommTimeoutError: There was no room in time, or the rank's last answer to this key is still in its round.
        """
        core = self._core
        if not _is_key(key):
            raise ProtocolViolationError(f"{operation}: {key!r} is no key of a request", operation=operation)
        self._runtime.point("PutAnswer.enter")
        with self._readable:
            rank = self._claim(self._member(session, operation), operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            who = {"rank": rank, "key": key}
            while True:
                if core.refuse_late(rank, key):
                    self._record("RefuseLate", who)
                    raise refusals.late_answer(operation, key, rank)
                put = core.put_answer(rank, key, answer, self._runtime.monotonic())
                if put is not None:
                    self._record("PutAnswer", who, {"all_put": put.all_put})
                    self._readable.notify_all()
                    return put.all_put
                if deadline.expired():
                    raise self._no_room(key, operation, deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)

    def put_answers(
        self, session: int, keys: list[Hashable], answers: list[bytes], timeout: float | None, operation: str
    ) -> bool:
        """Put several answers in their order, each as :meth:`put_answer` does; ``timeout`` is for all of them.

        One that is refused holds up none of the others. Returns True when the last one completed its round.

        Raises:
            StaleAnswerError: The first one that was refused; the others were put.
            CommTimeoutError: There was no room for one in time; those after it were not put.
        """
        deadline = Deadline(timeout, self._runtime.monotonic)
        all_put, stale = False, None
        for key, answer in zip(keys, answers, strict=True):
            try:
                all_put = self.put_answer(session, key, answer, deadline.remaining(), operation)
            except StaleAnswerError as error:
                stale = stale or error
        if stale is not None:
            raise stale
        return all_put

    def collect(
        self, session: int, timeout: float | None, round_limit: float | None, operation: str
    ) -> list[bytes] | None:
        """Collect: the answers of the oldest complete round, in rank order; None when there is none.

        Rounds that waited too long, or wait for a lost rank, end here, in their order: each raises once.

        Args:
            session: The caller's session.
            timeout: Seconds to wait for a complete round; 0 answers at once.
            round_limit: Seconds from its first answer until a round that lacks some is given up.
            operation: Name of the public call.

        Raises:
            PeerLostError: EndLost: a rank was lost before it answered.
            CommTimeoutError: EndTimeout after ``round_limit``; or no round became complete within ``timeout`` (then
                nothing was changed).
        """
        core = self._core
        self._runtime.point("Collect.enter")
        with self._readable:
            self._member(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                left = self._end_overdue(round_limit, operation)
                done = core.collect()
                if done is not None:
                    self._record("Collect", {}, {"key": done.key})
                    self._writable.notify_all()
                    return [done.answers[rank] for rank in range(core.ranks)]
                self._end_lost(operation)
                if timeout == 0:
                    return None
                if deadline.expired():
                    oldest = core.pending()
                    key, missing = (oldest.key, core.missing(oldest)) if oldest else (None, ())
                    raise refusals.collect_timeout(operation, key, missing, deadline.waited())
                limits = [seconds for seconds in (deadline.remaining(), left) if seconds is not None]
                self._readable.wait(min(limits) if limits else None)
                self._member(session, operation)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot of the gate: plain values only."""
        with self._readable:
            self._member(session, "view")
            core = self._core
            first = core.rounds[0] if core.rounds else None
            return {
                "rounds": [(r.key, sorted(r.answers)) for r in core.rounds],
                "answers": [list(r.answers.values()) for r in core.rounds],
                "can_put": first is None or len(first.answers) < core.ranks,
                "missing": core.missing(first) if first is not None else (),
                "late": [len(owed) for owed in core.late],
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": self._away(),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _end_overdue(self, round_limit: float | None, operation: str) -> float | None:
        """EndTimeout if the oldest round is overdue; else return the seconds that it has left, if it has a limit."""
        oldest = self._core.pending()
        if oldest is None or round_limit is None:
            return None
        age = self._runtime.monotonic() - oldest.opened_at
        ended = self._core.end_timeout() if age >= round_limit else None
        if ended is None:
            return round_limit - age
        self._record("EndTimeout", {}, {"key": ended.key, "missing": list(ended.missing)})
        self._writable.notify_all()
        raise refusals.round_overdue(operation, ended.key, ended.missing, age)

    def _end_lost(self, operation: str) -> None:
        ended = self._core.end_lost()
        if ended is not None:
            self._record("EndLost", {}, {"key": ended.key, "missing": list(ended.missing)})
            self._writable.notify_all()
            age = self._runtime.monotonic() - ended.opened_at
            raise refusals.round_lost(operation, ended.key, ended.missing, ended.lost, age)

    def _no_room(self, key: Hashable, operation: str, waited_s: float) -> Exception:
        core = self._core
        own = next((round_ for round_ in core.rounds if round_.key == key), None)
        oldest = own or next((r for r in core.rounds if len(r.answers) < core.ranks), None)
        missing = core.missing(oldest) if oldest is not None else ()
        return refusals.gate_full(operation, key, missing, own is not None, waited_s)

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "rounds": [[r.key, sorted(r.answers), sorted(r.without)] for r in core.rounds],
            "late": [len(owed) for owed in core.late],
        }


def _is_key(key: object) -> bool:
    """Keys are plain: equal for all ranks whatever Python they run, and fit for a trace."""
    if isinstance(key, tuple):
        return all(_is_key(part) for part in key)
    return key is None or type(key) in (str, int)
