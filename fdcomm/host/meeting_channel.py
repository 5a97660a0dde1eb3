"""Barriers that are used in turn, or one, whose ranks meet in shared memory (``spec/meeting.toml``).

The host is the control plane: it says who waits for a rank, gives up ranks whose connection is lost, aborts and resets.
Handles on this machine arrive and pass without it. For those that cannot reach the memory it waits on their behalf: to
the meeting their rank is one like any other.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import BarrierBrokenError, ClosedError, FdcommError, FencedError, ProtocolViolationError
from fdcomm.host import refusals
from fdcomm.host.members import Channel, Member, Place
from fdcomm.meeting import members as seats
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import BROKEN, LIVES, TURN
from fdcomm.meeting.refusals import lost, missing, shortened
from fdcomm.runtime import SYSTEM

__all__ = ("MeetingChannel",)

_CONTROL_S: Final = 5.0
_NEVER: Final = -1
_LOOKS: Final = 1000


def _soon() -> Deadline:
    return Deadline(_CONTROL_S, SYSTEM.monotonic)


class _Ranks:
    """Who waits for the ranks: the words of the meeting say who is lost."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.live: set[int] = set()
        self.hall: Hall | None = None

    @property
    def lost(self) -> set[int]:
        """The ranks whose process was given up, and has no successor yet."""
        return set() if self.hall is None else set(lost(self.hall.room)) - self.live

    def join(self, rank: int) -> None:
        """Join: the handle attaches by itself."""
        self.live.add(rank)

    def leave(self, rank: int) -> None:
        """Leave: the handle has left by itself."""
        self.live.discard(rank)

    def fence(self, rank: int) -> None:
        """Fence: and tell who waits.

        It fails when a process is stopped that decides just then. Who waits gives a dead rank up by itself.
        """
        self.live.discard(rank)
        if self.hall is not None and not self.hall.room.words[LIVES + rank] & 1:
            with contextlib.suppress(FdcommError):
                seats.fence(self.hall.room, rank, _soon())


class _Seat:
    """A rank for which the host waits, on behalf of a handle that cannot reach the memory."""

    def __init__(self, hall: Hall, rank: int) -> None:
        self._room = hall.room
        self._rank = rank
        self._attendant: Attendant | None = None
        self._busy = threading.Lock()
        self.over = False

    def wait(self, place: int, label: str, number: int | None, timeout: float | None, operation: str) -> None:
        """Attach the first time, and wait."""
        if not self._busy.acquire(False):
            raise ProtocolViolationError(
                f"{operation}: rank {self._rank} waits there already, in another thread", operation=operation
            )
        try:
            if self.over:
                raise refusals.fenced(operation)
            if self._attendant is None:
                life = seats.attach(self._room, self._rank, _soon())
                self._attendant = Attendant(self._room, self._rank, life)
                self._attendant.stop = lambda: refusals.fenced(operation) if self.over else None
            self._attendant.wait(shortened(label), timeout, operation, number, place)
        finally:
            try:
                if self.over:
                    self._leave()
            finally:
                self._busy.release()

    def told(self, place: int) -> int:
        """The last turn in which it saw that the barrier was aborted."""
        return _NEVER if self._attendant is None else self._attendant.told[place]

    def end(self) -> None:
        """End it, and the wait that is under way in another thread."""
        self.over = True
        self._room.kernel.wake(self._room.address())
        if self._busy.acquire(timeout=_CONTROL_S):
            try:
                self._leave()
            finally:
                self._busy.release()

    def _leave(self) -> None:
        """Give the rank's line back. The host has given the rank up before if it was lost."""
        attendant, self._attendant = self._attendant, None
        if attendant is not None:
            with contextlib.suppress(FdcommError):
                seats.leave(self._room, attendant.line, _soon())


class MeetingChannel(Channel):
    """A group of barriers of one data-parallel replica, that one thread of each rank uses in turn.

    Args:
        place: Where the channel lives.
        barriers: Their names.
        ranks: How many meet.
        name: Of the memory.
        make: Makes the memory, when the first rank comes or somebody aborts.
    """

    def __init__(
        self, place: Place, barriers: tuple[str, ...], ranks: int, name: str, make: Callable[[], Hall]
    ) -> None:
        self.name = name
        self._barriers = barriers
        self._make = make
        self._seats: dict[int, _Seat] = {}
        self._aborts = [0] * len(barriers)
        self._before_abort = [0] * len(barriers)
        """The turn that the newest abort has ended, or an older one without an abort between them."""
        self._told: dict[tuple[int, int], int] = {}
        self._places = _Ranks(ranks)
        super().__init__(place, self._places, {"ranks": ranks, "barriers": list(barriers)})

    # -- handles that reach the meeting --------------------------------------------------------------------------

    def claim(self, session: int, operation: str) -> int:
        """Join: the handle will wait for its rank, in shared memory. Returns the rank."""
        with self._readable:
            member = self._member(session, operation)
            self._hall()
            return self._claim(member, operation)

    # -- handles that do not -------------------------------------------------------------------------------------

    def wait(self, session: int, barrier: str, label: str, round: int | None, timeout: float | None) -> int:
        """Wait for a handle. Returns its rank."""
        operation = f"{barrier}.wait"
        with self._readable:
            member = self._member(session, operation)
            place = self._place(barrier)
            hall = self._hall()
            rank = self._claim(member, operation)
            seat = self._seats.setdefault(session, _Seat(hall, rank))
        try:
            seat.wait(place, label, round, timeout, operation)
        except BarrierBrokenError:
            with self._readable:
                if seat.told(place) > self._before_abort[place]:
                    self._told[session, place] = self._aborts[place]
            raise
        except FencedError:
            if self._closed:
                raise refusals.shutting_down(operation) from None
            raise refusals.fenced(operation) from None
        except ClosedError as error:
            raise refusals.shutting_down(operation) from error
        return rank

    # -- everybody -----------------------------------------------------------------------------------------------

    def abort(self, session: int, barrier: str) -> None:
        """Abort: end the waits of the current round, and refuse new ones until a reset."""
        with self._readable:
            self._member(session, f"{barrier}.abort")
            place = self._place(barrier)
            room = self._hall().room
            before = room.words[TURN]
            if seats.abort(room, _soon(), place):
                self._aborts[place] += 1
                self._before_abort[place] = before
            self._told[session, place] = self._aborts[place]

    def reset(self, session: int, barrier: str, told: int = _NEVER) -> None:
        """Reset: undo an abort, if the caller is no rank or was told of it; otherwise nothing.

        Args:
            session: Who asks.
            barrier: The barrier.
            told: The last turn in which the caller saw that the meeting was aborted.
        """
        with self._readable:
            member = self._member(session, f"{barrier}.reset")
            place, hall = self._place(barrier), self._places.hall
            if hall is None:
                return
            knows = self._told.get((session, place), 0) == self._aborts[place] or told > self._before_abort[place]
            if member.rank is None or knows:
                seats.reset(hall.room, _soon(), place)

    def view(self, session: int, barrier: str) -> dict[str, Any]:
        """Return a snapshot of the barrier. Who looks is told of an abort."""
        with self._readable:
            self._member(session, f"{barrier}.view")
            place = self._place(barrier)
            turn, generation, absent = self._look(place)
            ranks = self._places.ranks
            self._told[session, place] = self._aborts[place]
            return {
                "parties": ranks,
                "n_waiting": ranks - len(absent),
                "broken": bool(turn & BROKEN << place),
                "generation": generation,
                "missing": absent,
                "lost": sorted(self._places.lost),
                "away": self._away(),
            }

    # -- life ----------------------------------------------------------------------------------------------------

    def shut_down(self) -> None:
        """See :class:`Channel`: the meeting has no name any more. Who waits in it sees that the host is gone."""
        super().shut_down()
        with self._readable:
            hall, self._places.hall = self._places.hall, None  # who goes because the host ends is not lost
            ending = list(self._seats.values())
        if hall is None:
            return
        for seat in ending:
            seat.end()
        hall.room.kernel.wake(hall.room.address())
        with contextlib.suppress(FdcommError, OSError):
            hall.close(_soon())

    def _exit(self, member: Member, *, lost: bool) -> None:
        for place in range(len(self._barriers)):
            self._told.pop((member.session, place), None)
        seat = self._seats.pop(member.session, None)
        if seat is not None:
            seat.end()

    def _hall(self) -> Hall:
        hall = self._places.hall
        if hall is None:
            hall = self._places.hall = self._make()
            hall.room.names = self._barriers
        return hall

    def _look(self, place: int) -> tuple[int, int, tuple[int, ...]]:
        """The turn, the number of the barrier's round in it, and who does not wait there."""
        hall = self._places.hall
        if hall is None:
            return 0, 0, tuple(range(self._places.ranks))
        room = hall.room
        for _ in range(_LOOKS):  # ranks do not wait for who looks
            turn = room.words[TURN]
            found = turn, room.round(turn, place), missing(room, turn, place)
            if room.words[TURN] == turn:
                break
        return found

    def _place(self, barrier: str) -> int:
        try:
            return self._barriers.index(barrier)
        except ValueError:
            raise ProtocolViolationError(
                f"there is no barrier {barrier!r} here, only {', '.join(self._barriers)}"
            ) from None

    def _post(self) -> dict[str, Any]:
        return {}
