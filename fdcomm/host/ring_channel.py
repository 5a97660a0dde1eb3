"""A channel that hands each item to every rank through a ring in shared memory (``spec/ring.toml``).

The host is the control plane: it says who reads for a rank, gives up readers whose connection is lost, and keeps what a
producer has left. Handles on this machine put and get without it. For those that cannot reach the memory it does the
same on their behalf: to the ring their rank is a reader like any other.
"""

from __future__ import annotations

import contextlib
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, FencedError, PeerLostError, SignalReplacedError
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Member, Place
from fdcomm.host.ring_refusals import put_ended
from fdcomm.ring import members as readers
from fdcomm.ring.layout import LIVES
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.producer import Producer
from fdcomm.ring.queue_end import QueueEnd
from fdcomm.ring.waiting import ring_bells
from fdcomm.runtime import SYSTEM

__all__ = ("RingChannel",)

_CONTROL_S: Final = 5.0
_SLICE_S: Final = 0.25

Bridged = tuple[bytes, int]
"""A payload as it stands in the ring, and how many buffers are beside its stream."""


class _Readers:
    """Who reads for the ranks: the words of the ring say who is lost."""

    def __init__(self, memory: Memory, look: Look) -> None:
        self._memory = memory
        self._look = look
        self.ranks = memory.shape.ranks
        self.live: set[int] = set()

    @property
    def lost(self) -> set[int]:
        """The ranks whose reader was given up, and has no successor yet."""
        return set(self._look.lost()) - self.live

    def join(self, rank: int) -> None:
        """Join: the handle attaches by itself."""
        self.live.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle has left by itself."""
        self.live.discard(rank)

    def fence(self, rank: int) -> None:
        """Fence: and wake who waits for the rank."""
        self.live.discard(rank)
        board = self._memory.board
        if not board.words[LIVES + rank] & 1:
            readers.fence(board, rank, Deadline(_CONTROL_S, SYSTEM.monotonic))
            ring_bells(board)


class RingChannel(Channel):
    """One ring of one data-parallel replica.

    Args:
        place: Where the channel lives.
        memory: The ring; this process made it.
        most: Largest item in bytes.
        main: ``role="reader"`` claims a rank here.
    """

    def __init__(self, place: Place, memory: Memory, most: int, *, main: bool) -> None:
        self.memory = memory
        self._main = main
        self._look = Look(memory.board)
        self._producer = Producer(memory, most)
        self._ends: dict[int, QueueEnd] = {}
        super().__init__(place, _Readers(memory, self._look), {"ranks": memory.shape.ranks})

    def claims_at_open(self) -> bool:
        """See :class:`Channel`."""
        return self._main

    # -- handles that reach the ring -----------------------------------------------------------------------------

    def claim(self, session: int, operation: str) -> int:
        """Join: the handle will read for its rank, through the ring. Returns the rank."""
        with self._readable:
            return self._claim(self._member(session, operation), operation)

    def attach(self, session: int, operation: str) -> int:
        """Join, for a handle that does not reach the ring: the host reads for its rank from now on."""
        with self._readable:
            member = self._member(session, operation)
            rank = self._claim(member, operation)
            end = self._ends[session]
        end.claim(rank, _CONTROL_S)
        return rank

    # -- handles that do not -------------------------------------------------------------------------------------

    def put_tasks(
        self, session: int, payload: bytes, timeout: float | None, operation: str = "put_tasks", count: int = 1
    ) -> int:
        """Put for a handle. Returns the item's number."""
        deadline = Deadline(timeout, self._runtime.monotonic)
        while True:
            with self._readable:
                end = self._ends[self._member(session, operation).session]
            left = deadline.remaining()
            try:
                return end.put_stream(payload, _SLICE_S if left is None else min(_SLICE_S, left), operation, count)
            except (PeerLostError, CommTimeoutError) as error:
                if isinstance(error, PeerLostError) or deadline.remaining() == 0:
                    raise put_ended(error, operation, end, deadline.waited()) from None
            except FencedError:
                raise refusals.fenced(operation, end.epoch) from None
            except (ClosedError, SignalReplacedError) as error:
                raise refusals.shutting_down(operation) from error

    def get_tasks(
        self, session: int, ticket: int, timeout: float | None, operation: str = "get_tasks"
    ) -> tuple[int, Bridged | None, bool]:
        """Take for a handle, which becomes the reader of its rank. As :meth:`DispatchChannel.get_tasks`."""
        rank = self.attach(session, operation)
        with self._readable:
            end = self._ends[self._member(session, operation).session]
        deadline = Deadline(timeout, self._runtime.monotonic)
        while True:
            left = deadline.remaining()
            wait = timeout if timeout == 0 else _SLICE_S if left is None else min(_SLICE_S, left)
            try:
                taken = end.take(_as_bytes, ticket, wait, operation)
            except CommTimeoutError:
                if deadline.remaining() == 0:
                    raise refusals.get_timeout(operation, rank, end.epoch, deadline.waited()) from None
                with self._readable:
                    self._member(session, operation)
                continue
            except (ClosedError, SignalReplacedError) as error:
                raise refusals.shutting_down(operation) from error
            if taken is None:
                return 0, None, not ticket and not self._look.oldest()
            thing: Any = taken.thing
            return taken.number, thing, taken.all_read

    def clear_data(self, session: int, operation: str = "clear_data") -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Clear for a handle. As :meth:`DispatchChannel.clear_data`."""
        with self._readable:
            end = self._ends[self._member(session, operation).session]
        return end.clear(operation)

    # -- reads ---------------------------------------------------------------------------------------------------

    def set_exist_tasks(self, session: int, flag: bool) -> None:
        """Accept a flag that says what is so; refuse one that would lie."""
        with self._readable:
            self._member(session, "set_exist_tasks")
        numbers = list(self._look.numbers())
        if bool(flag) != bool(numbers):
            raise refusals.wrong_flag(bool(flag), len(numbers), self._look.clears()[0])

    def view(self, session: int) -> dict[str, Any]:
        """Return a snapshot of the channel: plain values only."""
        with self._readable:
            member = self._member(session, "statistics")
            look, rank = self._look, member.client_id
            numbers = list(look.numbers())
            return {
                "exist": bool(numbers),
                "num_tasks": len(numbers),
                "count": look.count(),
                "ticket": look.next_after(look.cursor(rank)) if rank >= 0 else 0,
                "calls": look.published(),
                "epoch": look.clears()[0],
                "waiting": [],
                "log": [(number, list(look.taken(number))) for number in numbers],
                "live": sorted(self._ranks.live),
                "lost": sorted(self._ranks.lost),
                "away": self._away(),
                "sessions": len(self._members),
                "refused_connections": self.place.refused(),
                "clients": sum(other.client_id >= 0 for other in self._members.values()),
            }

    def items(self, session: int) -> list[Bridged]:
        """Return the payloads of the retained items, oldest first."""
        with self._readable:
            end = self._ends[self._member(session, "view").session]
        return end.peek()

    # -- life ----------------------------------------------------------------------------------------------------

    def shut_down(self) -> None:
        """See :class:`Channel`: the ring has no name any more, and who waits in it is told."""
        super().shut_down()
        self.memory.begin_close()
        with contextlib.suppress(FdcommError, OSError):
            self._producer.close(remove=True)
            self.memory.close(Deadline(_CONTROL_S, SYSTEM.monotonic), remove=True)

    def _enter(self, member: Member) -> None:
        self._ends[member.session] = QueueEnd(self.memory, self._producer, self._look)

    def _exit(self, member: Member, *, lost: bool) -> None:
        end = self._ends.pop(member.session, None)
        with contextlib.suppress(FdcommError, OSError):
            if end is not None:
                end.close(leave=not lost)
            self._producer.adopt(Deadline(_CONTROL_S, SYSTEM.monotonic))

    def _post(self) -> dict[str, Any]:
        return {}


def _as_bytes(payload: memoryview | bytes, parts: int, _: str) -> Bridged:
    return bytes(payload), parts
