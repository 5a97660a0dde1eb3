"""The parts' side of readiness in the host: what they say, and the words in which their loops leave stamps."""

from __future__ import annotations

from typing import Any

from fdcomm.core.readiness import Party, Readiness
from fdcomm.deadline import Deadline
from fdcomm.errors import ConfigError, DuplicateRankError, ProtocolViolationError
from fdcomm.host import beats
from fdcomm.host.members import Channel, Member, NoRanks, Place
from fdcomm.host.readiness_shape import shown

__all__ = ("LoopsChannel",)

_SLACK_S = 0.002
_SHORTEST_S, _LONGEST_S = 0.01, 0.5


class LoopsChannel(Channel):
    """What parts call, and what the host sees of them."""

    def __init__(self, place: Place, ranks: int) -> None:
        self._size = ranks
        self._core: Readiness | None = None
        self._declared_as: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
        self._parties: dict[Party, int] = {}
        self._stages: dict[Party, tuple[str, float | None]] = {}
        self._limits: dict[Party, float | None] = {}
        self._words = place.words
        self._changes = 0
        super().__init__(place, NoRanks("readiness"), {"ranks": ranks})

    def begin(
        self, session: int, component: str, rank: int, clock: float | None, stage: str, fraction: float | None
    ) -> tuple[int, int]:
        """The part comes up, or goes on coming up: Join the first time, Withdraw if it was ready or had failed.

        Returns:
            The part's incarnation, and its word; -1: it cannot reach the words, and calls :meth:`beat`.
        """
        operation = "readiness.starting"
        self._runtime.point("Begin.enter")
        with self._readable:
            core, party = self._claim_party(session, component, rank, operation)
            self._stages[party] = (str(stage), None if fraction is None else float(fraction))
            if core.part(*party).said != "starting":
                core.withdraw(*party, str(stage))
                self._record("Withdraw", _of(party))
            self._after(core)
            return self._slot(core, party, clock)

    def ready(
        self, session: int, component: str, rank: int, clock: float | None, limit: float | None
    ) -> tuple[int, int]:
        """Ready (after Join, the first time). Its loop goes round within ``limit`` seconds; None: it has none.

        Raises:
            ProtocolViolationError: The part has failed.
        """
        operation = "readiness.ready"
        self._runtime.point("Ready.enter")
        with self._readable:
            core, party = self._claim_party(session, component, rank, operation)
            self._stages.pop(party, None)
            self._limits[party] = limit
            if core.part(*party).said != "ready":
                core.ready(*party)
                self._stamp(core, party)
                self._record("Ready", _of(party))
            else:
                self._stamp(core, party)
            self._after(core)
            return self._slot(core, party, clock)

    def fail(self, session: int, component: str, rank: int, reason: str) -> None:
        """Fail (after Join, the first time): whoever waits for the part is told the reason. Again: the new reason."""
        operation = "readiness.failed"
        self._runtime.point("Fail.enter")
        with self._readable:
            core, party = self._claim_party(session, component, rank, operation)
            part = core.part(*party)
            if part.said == "failed":
                part.reason = str(reason)
                return
            core.fail(*party, str(reason))
            self._record("Fail", _of(party))
            self._after(core)

    def beat(self, session: int, component: str, rank: int) -> None:
        """Stamp the part's word for it."""
        with self._readable:
            core = self._mine(session, component, rank, "readiness.beat")
            self._stamp(core, (component, rank))

    def leave(self, session: int, component: str, rank: int) -> None:
        """Leave: the part ends in peace, and the session may go on."""
        self._runtime.point("Leave.enter")
        with self._readable:
            core = self._mine(session, component, rank, "readiness.leave")
            self._drop(core, (component, rank), lost=False)

    # -- inside the critical section -----------------------------------------------------------------------------

    def _after(self, core: Readiness) -> None:
        """Do what follows from a change, and tell."""
        raise NotImplementedError

    def _declared(self, operation: str) -> Readiness:
        if self._core is None:
            raise ConfigError(f"{operation}: no components yet; call Readiness.declare first")
        return self._core

    def _mine(self, session: int, component: str, rank: int, operation: str) -> Readiness:
        self._member(session, operation)
        core = self._declared(operation)
        if self._parties.get((component, rank)) != session:
            raise ProtocolViolationError(f"{operation}: this session is not part {rank} of {component}")
        return core

    def _claim_party(self, session: int, component: str, rank: int, operation: str) -> tuple[Readiness, Party]:
        member = self._member(session, operation)
        core = self._declared(operation)
        core.part(component, rank)
        party = (component, rank)
        holder = self._parties.get(party)
        if holder == session:
            return core, party
        if holder is not None and holder in self._members:
            if self.place.is_connected(holder):
                who = self._members[holder].who
                raise DuplicateRankError(
                    f"{operation}: {who} is part {rank} of {component} already", operation=operation
                )
            self._remove(self._members[holder], lost=True)
        self._parties[party] = member.session
        inc = core.join(*party)
        self._store(core, party, 0)
        self._record("Join", _of(party), {"inc": inc})
        return core, party

    def _drop(self, core: Readiness, party: Party, *, lost: bool) -> None:
        del self._parties[party]
        self._stages.pop(party, None)
        (core.fence if lost else core.leave)(*party)
        self._record("Fence" if lost else "Leave", _of(party))
        self._after(core)

    # -- words ---------------------------------------------------------------------------------------------------

    def _numbers(self, core: Readiness) -> dict[Party, int]:
        parties = ((name, rank) for name, there in core.components.items() for rank in range(len(there.parts)))
        return {party: number for number, party in enumerate(parties)}

    def _place(self, core: Readiness, party: Party) -> int:
        return beats.slot_of(self._numbers(core)[party], core.part(*party).inc)

    def _slot(self, core: Readiness, party: Party, clock: float | None) -> tuple[int, int]:
        alike = beats.same_clock(clock, self._runtime.monotonic())
        return core.part(*party).inc, self._place(core, party) if alike else -1

    def _store(self, core: Readiness, party: Party, value: int) -> None:
        if self._words is not None:
            self._runtime.store(self._words, self._place(core, party), value)

    def _stamp(self, core: Readiness, party: Party) -> None:
        self._store(core, party, beats.stamp(core.part(*party).inc, self._runtime.monotonic()))

    def _age(self, core: Readiness, party: Party) -> float | None:
        if self._words is None:
            return None
        word = self._runtime.load(self._words, self._place(core, party))
        return beats.age_of(word, core.part(*party).inc, self._runtime.monotonic())

    def _look(self, core: Readiness) -> bool:
        """Stall and Recover, of every part whose stamp says so. True when something has changed."""
        changed = False
        for party in self._numbers(core):
            part, limit = core.part(*party), self._limits.get(party)
            if part.said != "ready" or limit is None:
                continue
            age = self._age(core, party)
            old = age is None or age > limit
            if old and core.stall(*party):
                self._record("Stall", _of(party))
                changed = True
            elif not old and core.recover(*party):
                self._record("Recover", _of(party))
                changed = True
        return changed

    def _pause(self, core: Readiness, deadline: Deadline) -> float | None:
        """Return how long a call may sleep: until its limit, or until a loop may have stalled, or gone on."""
        pauses = [] if (left := deadline.remaining()) is None else [left]
        for party in self._numbers(core):
            part, limit = core.part(*party), self._limits.get(party)
            if part.said != "ready" or limit is None:
                continue
            age = self._age(core, party)
            if part.stuck or age is None:
                pauses.append(min(max(limit / 4, _SHORTEST_S), _LONGEST_S))
            else:
                pauses.append(max(limit - age + _SLACK_S, _SHORTEST_S))
        return min(pauses) if pauses else None

    def _shown(self, component: str, rank: int) -> dict[str, Any]:
        party = (component, rank)
        core = self._declared("readiness.view")
        part = core.part(*party)
        age = self._age(core, party) if part.said == "ready" and self._limits.get(party) is not None else None
        return shown(component, rank, part, self._stages.get(party, ("", None)), age)

    def _post(self) -> dict[str, Any]:
        core = self._core
        if core is None:
            return {}
        rows = [there.parts for there in core.components.values()]
        return {
            "status": [["live" if p.here else "lost" if p.lost else "away" for p in parts] for parts in rows],
            "inc": [[p.inc for p in parts] for parts in rows],
            "said": [[p.said for p in parts] for parts in rows],
            "stuck": [[p.stuck for p in parts] for parts in rows],
            "open": sorted(core.open),
        }

    def _exit(self, member: Member, *, lost: bool) -> None:
        raise NotImplementedError


def _of(party: Party) -> dict[str, Any]:
    return {"component": party[0], "rank": party[1]}
