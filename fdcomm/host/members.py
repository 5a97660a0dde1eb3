"""What all channels of a host share: one critical section, members, ranks that are claimed, the recorder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from fdcomm.errors import DuplicateRankError, ProtocolViolationError, RankError
from fdcomm.host import refusals
from fdcomm.runtime import Runtime, Words
from fdcomm.trace import Recorder

__all__ = ("AnswerChannel", "Channel", "Member", "NoRanks", "Place", "Ranks")


class Ranks(Protocol):
    """The part of a protocol core that knows who is there."""

    ranks: int
    live: set[int]

    @property
    def lost(self) -> set[int]:
        """The ranks that were given up."""

    def join(self, rank: int) -> None:
        """Join."""

    def leave(self, rank: int) -> None:
        """Leave."""

    def fence(self, rank: int) -> None:
        """Fence."""


class AnsweringRanks(Ranks, Protocol):
    """The part of a core in which an answer of every rank is waited for."""

    def vanish(self, rank: int) -> None:
        """Vanish."""

    def reappear(self, rank: int) -> bool:
        """Reappear."""


class NoRanks:
    """Of a protocol whose members are no ranks: parts of components, or whoever puts and takes."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        self.ranks = 0
        self.live: set[int] = set()
        self.lost: set[int] = set()

    def join(self, rank: int) -> None:
        """Nobody joins as a rank."""
        raise ProtocolViolationError(f"{self._protocol} has no ranks")

    leave = fence = join


@dataclass(frozen=True, slots=True)
class Place:
    """Where a channel lives: its protocol, its replica, and what the host gives to each of its channels."""

    protocol: str
    dp: int
    runtime: Runtime
    recorder: Recorder | None = None
    is_connected: Callable[[int], bool] = lambda session: True
    refused: Callable[[], int] = lambda: 0
    words: Words | None = None
    """Shared words of the channel's own, where it has some."""


@dataclass(slots=True)
class Member:
    """A session as a channel sees it: producer number, and the rank that it acts for once it has claimed it."""

    session: int
    producer: int
    client_id: int
    role: str | None
    who: str
    rank: int | None = None
    acted: bool = False
    """It has ended, and had claimed its rank in some channel of the replica."""


class Channel(ABC):
    """One instance of a protocol, for one data-parallel replica.

    Every public method is one critical section. There are two conditions on one lock, so that what only concerns
    readers does not wake writers: ``_readable`` (there may be something to take) and ``_writable`` (there may be room).
    """

    def __init__(self, place: Place, core: Ranks, header: dict[str, Any]) -> None:
        self.place = place
        self._runtime = place.runtime
        self._readable = place.runtime.condition()
        self._writable = place.runtime.condition(self._readable)
        self._ranks = core
        self._members: dict[int, Member] = {}
        self._opened = 0
        self._seq = 0
        self._closed = False
        if place.recorder is not None:
            place.recorder.write({"action": "Open", "protocol": place.protocol, "dp": place.dp, **header})

    # -- sessions ------------------------------------------------------------------------------------------------

    def open(self, session: int, client_id: int, role: str | None, who: str) -> None:
        """Make a session a member; with ``role="reader"`` it claims its rank at once."""
        with self._readable:
            self._check_open("open")
            member = Member(session, self._opened, client_id, role, who)
            self._opened += 1
            self._members[session] = member
            self._enter(member)
            if role == "reader" and self.claims_at_open():
                try:
                    self._claim(member, "open")
                except (DuplicateRankError, RankError):
                    self._remove(member, lost=False)
                    raise

    def has_acted(self, session: int) -> bool:
        """Return True when a session has claimed its rank here. For sessions whose connection has closed."""
        member = self._members.get(session)  # no lock: a call that is still under way may be earlier or later
        return member is not None and member.rank is not None

    def close_session(self, session: int, *, lost: bool, acted: bool = False) -> None:
        """End a member, in peace or because its connection was lost. Idempotent."""
        with self._readable:
            member = self._members.get(session)
            if member is not None:
                member.acted = acted
                self._remove(member, lost=lost)

    def shut_down(self) -> None:
        """Wake everybody: the host ends."""
        with self._readable:
            self._closed = True
            self._wake_all()

    # -- what a protocol adds ------------------------------------------------------------------------------------

    def claims_at_open(self) -> bool:
        """Return True when ``role="reader"`` is about this channel."""
        return False

    def _enter(self, member: Member) -> None:  # noqa: B027 - most protocols have nothing to do
        """A member came."""

    def _exit(self, member: Member, *, lost: bool) -> None:  # noqa: B027
        """A member went; its rank has been given back already."""

    def _miss(self, member: Member) -> None:  # noqa: B027
        """A member is gone that had claimed its rank elsewhere, and not here."""

    def _publish(self) -> None:  # noqa: B027
        """Store what the shared words must say after a change."""

    @abstractmethod
    def _post(self) -> dict[str, Any]:
        """Return the state that an event records."""

    # -- inside the critical section -----------------------------------------------------------------------------

    def _claim(self, member: Member, operation: str) -> int:
        """Return the member's rank, claiming it the first time (Join)."""
        if member.rank is not None:
            return member.rank
        rank = member.client_id
        if member.role == "producer" or not 0 <= rank < self._ranks.ranks:
            raise refusals.no_rank(operation, producer=member.role == "producer")
        holder = self._holder(rank)
        if holder is not None:
            raise refusals.duplicate(operation, rank, holder.who)
        self._ranks.join(rank)
        member.rank = rank
        self._publish()
        self._record("Join", {"rank": rank})
        self._writable.notify_all()
        return rank

    def _holder(self, rank: int) -> Member | None:
        """Return who acts for the rank. One whose connection has closed is fenced, and no holder any more."""
        holder = next((m for m in self._members.values() if m.rank == rank), None)
        if holder is None or self.place.is_connected(holder.session):
            return holder
        self._remove(holder, lost=True)
        return None

    def _remove(self, member: Member, *, lost: bool) -> None:
        del self._members[member.session]
        if member.rank is not None:
            (self._ranks.fence if lost else self._ranks.leave)(member.rank)
            self._record("Fence" if lost else "Leave", {"rank": member.rank})
        elif lost and member.acted:
            self._miss(member)
        self._exit(member, lost=lost)
        self._wake_all()

    def _wake_all(self) -> None:
        self._readable.notify_all()
        self._writable.notify_all()

    def _member(self, session: int, operation: str) -> Member:
        self._check_open(operation)
        member = self._members.get(session)
        if member is None:
            raise refusals.fenced(operation)
        return member

    def _check_open(self, operation: str) -> None:
        if self._closed:
            raise refusals.shutting_down(operation)

    def _away(self) -> list[int]:
        core = self._ranks
        return [rank for rank in range(core.ranks) if rank not in core.live and rank not in core.lost]

    def _record(self, action: str, who: dict[str, Any], result: dict[str, Any] | None = None) -> None:
        self._runtime.point(f"{action}.done")
        if self.place.recorder is None:
            return
        self._seq += 1
        self.place.recorder.write(
            {
                "seq": self._seq,
                "protocol": self.place.protocol,
                "dp": self.place.dp,
                "action": action,
                "args": who,
                "result": result or {},
                "post": self._post(),
            }
        )


class AnswerChannel(Channel):
    """A channel in which an answer of every rank is waited for: a rank may be lost that has not answered here yet."""

    _core: AnsweringRanks

    def _enter(self, member: Member) -> None:
        if member.role == "producer" or not 0 <= member.client_id < self._core.ranks:
            return
        self._holder(member.client_id)  # a process that was restarted may be quicker than the news of its end
        if self._core.reappear(member.client_id):
            self._record("Reappear", {"rank": member.client_id})

    def _miss(self, member: Member) -> None:
        rank, core = member.client_id, self._core
        if rank not in core.live and rank not in core.lost and not self._stands_in(rank):
            core.vanish(rank)
            self._record("Vanish", {"rank": rank})

    def _stands_in(self, rank: int) -> bool:
        """Return True when a handle is open that may act for the rank."""
        return any(member.client_id == rank and member.role != "producer" for member in self._members.values())
