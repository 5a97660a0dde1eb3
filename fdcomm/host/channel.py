"""One dispatch channel of a host: the pure core, a condition, the shared words, the recorder.

Every method is one critical section. A call that has to wait sleeps on the condition with a deadline, and looks
again at everything when it wakes: its guard, its session, the host's end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdcomm.core.dispatch import Dispatch
from fdcomm.deadline import Deadline
from fdcomm.errors import DuplicateRankError, RankError
from fdcomm.host import refusals
from fdcomm.runtime import Runtime, Words
from fdcomm.trace import Recorder

__all__ = ("DispatchChannel", "Member")


@dataclass(slots=True)
class Member:
    """A session as the channel sees it: producer number, and the rank that it reads for once it has claimed it."""

    session: int
    producer: int
    client_id: int
    role: str | None
    who: str
    rank: int | None = None


class DispatchChannel:
    """The dispatch protocol of one data-parallel replica.

    Shared words (``words``): ``[0]`` is non-zero while some rank has a batch to take; ``[1 + r]`` is the id of the
    oldest batch that rank r has not taken, or 0. They are stored inside the critical section that changes the log.
    """

    def __init__(
        self,
        dp: int,
        ranks: int,
        depth: int,
        runtime: Runtime,
        words: Words,
        recorder: Recorder | None = None,
        is_connected: Callable[[int], bool] = lambda session: True,
    ) -> None:
        self.dp = dp
        self._runtime = runtime
        self._words = words
        self._recorder = recorder
        self._is_connected = is_connected
        # Two conditions, one lock: readers wait for a batch, put calls for room. One condition for both would wake
        # every waiting reader each time that the last one has read.
        self._readable = runtime.condition()
        self._writable = runtime.condition(self._readable)
        self._core: Dispatch[bytes] = Dispatch(ranks, depth)
        self._members: dict[int, Member] = {}
        self._producers = 0
        self._seq = 0
        self._closed = False
        self._published = [0] * (ranks + 1)
        if recorder is not None:
            recorder.write({"action": "Open", "protocol": "dispatch", "dp": dp, "ranks": ranks, "depth": depth})

    # -- members -------------------------------------------------------------------------------------------------

    def open(self, session: int, client_id: int, role: str | None, who: str) -> None:
        """Connect; with ``role="reader"`` also Join."""
        with self._readable:
            self._check_open("open")
            member = Member(session, self._producers, client_id, role, who)
            self._producers += 1
            self._core.connect(member.producer)
            self._members[session] = member
            self._record("Connect", {"producer": member.producer})
            if role == "reader":
                try:
                    self._claim(member)
                except (DuplicateRankError, RankError):
                    self._remove(member, lost=False)
                    raise

    def close_session(self, session: int, *, lost: bool) -> None:
        """Leave and Disconnect, or after the loss of its connection Fence and FenceProducer. Idempotent."""
        with self._readable:
            member = self._members.get(session)
            if member is not None:
                self._remove(member, lost=lost)

    def shut_down(self) -> None:
        """Wake everybody: the host ends."""
        with self._readable:
            self._closed = True
            self._wake_all()

    # -- put, get, clear -----------------------------------------------------------------------------------------

    def put_tasks(self, session: int, payload: bytes, timeout: float | None) -> int:
        """CallPut, then PutTasks, PutLost or PutTimeout. Returns the batch's id."""
        core = self._core
        self._runtime.point("PutTasks.enter")
        with self._readable:
            member = self._member(session, "put_tasks")
            deadline = Deadline(timeout, self._runtime.monotonic)
            call = core.call_put(member.producer, payload)
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
                    raise refusals.put_lost(lost, core.epoch, deadline.waited())
                if deadline.expired() and core.put_timeout(call):
                    self._record("PutTimeout", who)
                    self._writable.notify_all()
                    raise refusals.put_timeout(core.missing(), core.live, core.epoch, deadline.waited())
                self._writable.wait(deadline.remaining())
                self._member(session, "put_tasks")

    def get_tasks(self, session: int, ticket: int, timeout: float | None) -> tuple[int, bytes | None, bool]:
        """GetTasks (after Join, on the first read). Returns ``(id, payload, all_read)``; id 0 is "nothing".

        With a ticket the call never waits: that batch is there for this rank, or it never will be.
        """
        core = self._core
        self._runtime.point("GetTasks.enter")
        with self._readable:
            member = self._member(session, "get_tasks")
            rank = self._claim(member)
            deadline = Deadline(timeout, self._runtime.monotonic)
            while True:
                taken = core.get_tasks(rank, ticket)
                if taken is not None:
                    self._publish()
                    self._record("GetTasks", {"rank": rank}, {"id": taken.id, "all_read": taken.all_read})
                    if taken.all_read:
                        self._writable.notify_all()
                    return taken.id, taken.batch, taken.all_read
                if ticket or timeout == 0:
                    return 0, None, False
                if deadline.expired():
                    raise refusals.get_timeout(rank, core.epoch, deadline.waited())
                self._readable.wait(deadline.remaining())
                self._member(session, "get_tasks")

    def clear_data(self, session: int) -> None:
        """ClearRank for a reading handle, ClearProducer for any other."""
        self._runtime.point("Clear.enter")
        with self._readable:
            member = self._member(session, "clear_data")
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
            away = [r for r in range(core.ranks) if r not in core.live and r not in core.lost]
            return {
                "exist": core.exist_tasks(),
                "num_tasks": core.num_tasks(),
                "ticket": core.task_ticket(rank) if rank >= 0 else 0,
                "calls": core.calls,
                "epoch": core.epoch,
                "waiting": [call.id for call in core.waiting],
                "log": [(entry.id, sorted(entry.taken)) for entry in core.log],
                "live": sorted(core.live),
                "lost": sorted(core.lost),
                "away": away,
                "sessions": len(self._members),
            }

    # -- inside the critical section -----------------------------------------------------------------------------

    def _claim(self, member: Member) -> int:
        """Return the member's rank, claiming it on the first read (Join)."""
        if member.rank is not None:
            return member.rank
        rank = member.client_id
        if member.role == "producer" or not 0 <= rank < self._core.ranks:
            raise refusals.no_rank(producer=member.role == "producer")
        holder = next((m for m in self._members.values() if m.rank == rank), None)
        if holder is not None and self._is_connected(holder.session):
            raise refusals.duplicate(rank, holder.who)
        if holder is not None:
            self._remove(holder, lost=True)
        self._core.join(rank)
        member.rank = rank
        self._publish()
        self._record("Join", {"rank": rank})
        self._writable.notify_all()
        return rank

    def _remove(self, member: Member, *, lost: bool) -> None:
        core = self._core
        del self._members[member.session]
        if member.rank is not None:
            (core.fence if lost else core.leave)(member.rank)
            self._record("Fence" if lost else "Leave", {"rank": member.rank})
        if lost or any(call.producer == member.producer for call in core.waiting):
            core.fence_producer(member.producer)
            self._record("FenceProducer", {"producer": member.producer})
        else:
            core.disconnect(member.producer)
            self._record("Disconnect", {"producer": member.producer})
        self._wake_all()

    def _wake_all(self) -> None:
        self._readable.notify_all()
        self._writable.notify_all()

    def _member(self, session: int, operation: str) -> Member:
        self._check_open(operation)
        member = self._members.get(session)
        if member is None:
            raise refusals.fenced(operation, self._core.epoch)
        return member

    def _check_open(self, operation: str) -> None:
        if self._closed:
            raise refusals.shutting_down(operation)

    def _publish(self) -> None:
        core, published = self._core, self._published
        for rank in range(core.ranks):
            ticket = core.task_ticket(rank)
            if ticket != published[1 + rank]:
                published[1 + rank] = ticket
                self._runtime.store(self._words, 1 + rank, ticket)
        exist = int(core.exist_tasks())
        if exist != published[0]:
            published[0] = exist
            self._runtime.store(self._words, 0, exist)

    def _record(self, action: str, who: dict[str, int], result: dict[str, Any] | None = None) -> None:
        self._runtime.point(f"{action}.done")
        if self._recorder is None:
            return
        core = self._core
        self._seq += 1
        self._recorder.write(
            {
                "seq": self._seq,
                "protocol": "dispatch",
                "dp": self.dp,
                "action": action,
                "args": who,
                "result": result or {},
                "post": {
                    "calls": core.calls,
                    "epoch": core.epoch,
                    "exist": bool(self._published[0]),
                    "log": [entry.id for entry in core.log],
                    "waiting": [call.id for call in core.waiting],
                },
            }
        )
