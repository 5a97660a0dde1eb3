"""A channel that hands each item to every rank: dispatch, cache_info, connect and bitmask run on it.

A call that has to wait sleeps on a condition with a deadline, and looks again at everything when it wakes: its guard,
its session, the host's end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fdcomm.core.dispatch import Dispatch
from fdcomm.deadline import Deadline
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Member, Place
from fdcomm.runtime import Words

__all__ = ("DispatchChannel",)


class _Item(NamedTuple):
    """What a put brings: a pickled object, and how many things are in it."""

    payload: bytes
    things: int


class DispatchChannel(Channel):
    """The dispatch protocol of one data-parallel replica.

    Shared words (``words``): ``[0]`` is the id of the oldest batch that some rank has not taken, or 0; ``[1 + r]`` is
    that of the oldest batch that rank r has not taken. They are stored inside the critical section that changes the
    log.
    """

    def __init__(self, place: Place, ranks: int, depth: int, words: Words) -> None:
        self._core: Dispatch[_Item] = Dispatch(ranks, depth)
        self._words = words
        self._published = [0] * (ranks + 1)
        super().__init__(place, self._core, {"ranks": ranks, "depth": depth})

    def claims_at_open(self) -> bool:
        """See :class:`Channel`."""
        return self.place.protocol in ("dispatch", "bitmask")

    # -- put, get, clear -----------------------------------------------------------------------------------------

    def put_tasks(
        self, session: int, payload: bytes, timeout: float | None, operation: str = "put_tasks", count: int = 1
    ) -> int:
        """CallPut, then PutTasks, PutLost or PutTimeout. Returns the item's id. ``count`` things are in it."""
        core = self._core
        self._runtime.point("PutTasks.enter")
        with self._readable:
            member = self._member(session, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            call = core.call_put(member.producer, _Item(payload, count))
            who = {"producer": member.producer, "id": call}
            self._record("CallPut", who)
            while True:
                if core.put_tasks(call) is not None:
                    self._publish()
                    self._record("PutTasks", who)
                    self._readable.notify_all()
                    self._writable.notify_all()
                    return call
                if lost := core.put_lost(call):
                    self._record("PutLost", who)
                    self._writable.notify_all()
                    raise refusals.put_lost(operation, lost, core.epoch, deadline.waited())
                if deadline.expired() and core.put_timeout(call):
                    self._record("PutTimeout", who)
                    self._writable.notify_all()
                    raise refusals.put_timeout(operation, core.missing(), core.live, core.epoch, deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, operation)

    def get_tasks(
        self, session: int, ticket: int, timeout: float | None, operation: str = "get_tasks"
    ) -> tuple[int, bytes | None, bool]:
        """GetTasks (after Join, on the first read). Returns ``(id, payload, all_read)``; id 0 is "nothing".

        Without a ticket "nothing" says ``all_read`` when there is nothing for any rank.
        With a ticket the call never waits: that batch is there for this rank, or it never will be.
        """
        core = self._core
        self._runtime.point("GetTasks.enter")
        with self._readable:
            member = self._member(session, operation)
            rank = self._claim(member, operation)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                taken = core.get_tasks(rank, ticket)
                if taken is not None:
                    self._publish()
                    self._record("GetTasks", {"rank": rank}, {"id": taken.id, "all_read": taken.all_read})
                    if taken.all_read:
                        self._writable.notify_all()
                    return taken.id, taken.batch.payload, taken.all_read
                if ticket or timeout == 0:
                    return 0, None, not ticket and not core.exist_tasks()
                if deadline.expired():
                    raise refusals.get_timeout(operation, rank, core.epoch, deadline.waited())
                self._readable.wait(deadline.remaining())
                self._member(session, operation)

    def clear_data(self, session: int, operation: str = "clear_data") -> tuple[tuple[int, ...], tuple[int, ...]]:
        """ClearRank for a reading handle, ClearProducer for any other.

        Returns the ids that were dropped, and the ranks that have taken the oldest retained item (it stays for the
        others).
        """
        self._runtime.point("Clear.enter")
        with self._readable:
            member = self._member(session, operation)
            if member.rank is not None:
                dropped = self._core.clear_rank(member.rank)
                action, who = "ClearRank", {"rank": member.rank}
            else:
                dropped = self._core.clear_producer(member.producer)
                action, who = "ClearProducer", {"producer": member.producer}
            self._publish()
            self._record(action, who, {"dropped": list(dropped)})
            if dropped:
                self._writable.notify_all()
            return dropped, tuple(sorted(self._core.log[0].taken)) if self._core.log else ()

    # -- reads ---------------------------------------------------------------------------------------------------

    def set_exist_tasks(self, session: int, flag: bool) -> None:
        """Accept a flag that says what is so; refuse one that would make the word lie."""
        with self._readable:
            self._member(session, "set_exist_tasks")
            if bool(flag) != self._core.exist_tasks():
                raise refusals.wrong_flag(bool(flag), self._core.num_tasks(), self._core.epoch)

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot of the channel: plain values only."""
        with self._readable:
            member = self._member(session, "statistics")
            core = self._core
            rank = member.client_id
            return {
                "exist": core.exist_tasks(),
                "num_tasks": core.num_tasks(),
                "count": sum(entry.batch.things for entry in core.log),
                "ticket": core.task_ticket(rank) if rank >= 0 else 0,
                "calls": core.calls,
                "epoch": core.epoch,
                "waiting": [call.id for call in core.waiting],
                "log": [(entry.id, sorted(entry.taken)) for entry in core.log],
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": self._away(),
                "sessions": len(self._members),
                "refused_connections": self.place.refused(),
                "clients": sum(other.client_id >= 0 for other in self._members.values()),
            }

    def items(self, session: int) -> list[bytes]:
        """Return the payloads of the retained items, oldest first."""
        with self._readable:
            self._member(session, "view")
            return [entry.batch.payload for entry in self._core.log]

    # -- inside the critical section -----------------------------------------------------------------------------

    def _enter(self, member: Member) -> None:
        self._core.connect(member.producer)
        self._record("Connect", {"producer": member.producer})

    def _exit(self, member: Member, *, lost: bool) -> None:
        if lost or any(call.producer == member.producer for call in self._core.waiting):
            self._core.fence_producer(member.producer)
            self._record("FenceProducer", {"producer": member.producer})
        else:
            self._core.disconnect(member.producer)
            self._record("Disconnect", {"producer": member.producer})

    def _publish(self) -> None:
        core, published = self._core, self._published
        for rank in range(core.ranks):
            ticket = core.task_ticket(rank)
            if ticket != published[1 + rank]:
                published[1 + rank] = ticket
                self._runtime.store(self._words, 1 + rank, ticket)
        oldest = core.oldest_ticket()
        if oldest != published[0]:
            published[0] = oldest
            self._runtime.store(self._words, 0, oldest)

    def _post(self) -> dict[str, Any]:
        core = self._core
        return {
            "calls": core.calls,
            "epoch": core.epoch,
            "exist": bool(self._published[0]),
            "log": [entry.id for entry in core.log],
            "waiting": [call.id for call in core.waiting],
        }
