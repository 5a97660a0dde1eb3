"""The parties of a rearrangement: who is what, and what every call about one does first."""

from __future__ import annotations

from typing import Any, cast

from fdcomm.core.rearrange import Rearrange
from fdcomm.deadline import Deadline
from fdcomm.errors import FdcommError
from fdcomm.host import rearrange_refusals as refusals
from fdcomm.host.members import Channel, Member, Place

__all__ = ("PartyChannel",)


class PartyChannel(Channel):
    """A session becomes a party by the first call that only this party may make, and may be several.

    The time limit of a request is looked at by every call, before it does anything else, and by every call that waits.
    """

    def __init__(self, place: Place, ranks: int) -> None:
        self._core = Rearrange(ranks)
        self._holders: dict[int, int] = {}  # party -> session
        self._ends_at: float | None = None
        self._version = 0  # counts the changes
        self._stats: list[bytes] = [b""] * ranks
        # What the base class does with ranks is done here with parties.
        super().__init__(place, cast("Any", self._core), {"ranks": ranks})

    def _begin(self, session: int, operation: str) -> Member:
        member = self._member(session, operation)
        self._expire()
        return member

    def _sleep(self, session: int, deadline: Deadline, operation: str) -> None:
        """Wait for a change, for the caller's limit or for the running request's."""
        limits = [seconds for seconds in (deadline.remaining(), self._left()) if seconds is not None]
        self._readable.wait(min(limits) if limits else None)
        self._begin(session, operation)

    def _left(self) -> float | None:
        if self._ends_at is None or self._core.exchanging():
            return None
        return max(0.0, self._ends_at - self._runtime.monotonic())

    def _expire(self) -> None:
        if self._left() == 0.0 and self._core.end_timeout():
            self._changed("EndTimeout")

    def _coordinate(self, session: int, operation: str) -> None:
        self._act_as(self._begin(session, operation), self._core.coordinator, operation)

    def _act_for_rank(self, session: int, base: int, operation: str) -> int:
        member = self._begin(session, operation)
        rank = self._rank_of(member, operation)
        self._act_as(member, base + rank, operation)
        return rank

    def _rank_of(self, member: Member, operation: str) -> int:
        if not 0 <= member.client_id < self._core.ranks:
            raise refusals.no_rank(operation)
        return member.client_id

    def _act_as(self, member: Member, party: int, operation: str) -> None:
        """Join, unless the member is this party already."""
        holder = self._holders.get(party)
        if holder == member.session:
            return
        if holder is not None:
            if self.place.is_connected(holder):
                name, who = self._core.name_of(party), self._members[holder].who
                rank = None if party == self._core.coordinator else party % self._core.ranks
                raise refusals.duplicate(operation, name, who, rank)
            self._remove(self._members[holder], lost=True)
        self._core.join(party)
        self._holders[party] = member.session
        self._changed("Join", {"party": party})

    def _exit(self, member: Member, *, lost: bool) -> None:
        for party in sorted(party for party, holder in self._holders.items() if holder == member.session):
            del self._holders[party]
            (self._core.fence if lost else self._core.leave)(party)
            self._changed("Fence" if lost else "Leave", {"party": party})

    def _free(self) -> bool:
        freed = self._core.free()
        if freed:
            self._changed("Free")
        return freed

    def _changed(self, action: str, who: dict[str, Any] | None = None, result: dict[str, Any] | None = None) -> None:
        if self._core.phase in ("FREE", "DONE"):
            self._ends_at = None
        self._version += 1
        self._record(action, who or {}, result)
        self._readable.notify_all()

    def _known(self, operation: str, request: object) -> None:
        if type(request) is not int or not 1 <= request <= self._core.request_number:
            raise refusals.no_request(operation, request, self._core.request_number)

    def _unfit(self, operation: str, request: int, what: str) -> FdcommError:
        """Why a call about a request could not be carried out."""
        core = self._core
        self._known(operation, request)
        if request == core.request_number and request not in core.outcomes:
            return refusals.not_now(operation, request, core.phase, what)
        return refusals.ended(operation, request, core.outcomes.get(request))

    def _post(self) -> dict[str, Any]:
        core = self._core
        last = core.outcomes.get(core.request_number)
        running = core.running.addresses
        return {
            "phase": core.phase,
            "request": core.request_number,
            "outcome": last.what if last is not None else "open" if core.request_number else "",
            "unreached": [running.index(address) + 1 for address in core.lacking()[1]],
            "load": list(core.load),
            "worker": list(core.worker),
        }
