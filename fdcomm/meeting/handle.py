"""``Meeting``: the ranks of one machine meet in shared memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ProtocolViolationError, RankError
from fdcomm.meeting import members, refusals
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import BROKEN, LIVES, PID, TURN, Shape, endings_of, round_of
from fdcomm.runtime import SYSTEM

__all__ = ("Meeting", "MeetingStatistics")


@dataclass(frozen=True)
class MeetingStatistics:
    """State of a meeting at one moment.

    Attributes:
        round: The round that is under way: how many were passed.
        endings: Times that the waits of this round have ended without a pass.
        missing: Ranks that have not arrived in it.
        lost: Ranks whose process was given up.
        away: Ranks that have no process just now.
        broken: It was aborted.
        sleeps: How often this side has slept.
        barrier: Sleepers' barriers reach this process; else it runs a fence after each store.
        memory_order: What the meeting relies on.
    """

    round: int
    endings: int
    missing: tuple[int, ...]
    lost: tuple[int, ...]
    away: tuple[int, ...]
    broken: bool
    sleeps: int
    barrier: bool
    memory_order: str = "x86-64: loads in order, stores in order"


class Meeting:
    """A reusable barrier of all ranks of one machine. Made by :meth:`create` and :meth:`attach`.

    A rank is this process's for as long as it lives. When it dies, the waits of the others end with PeerLostError; a
    process that attaches for the rank makes the meeting usable again. A killed process leaves nothing to repair.
    """

    def __init__(self, hall: Hall, rank: int | None, deadline: Deadline) -> None:
        self._hall = hall
        self._rank = rank
        self._busy = threading.Lock()
        self._attendant: Attendant | None = None
        if rank is not None:
            self._attendant = Attendant(hall.room, rank, members.attach(hall.room, rank, deadline))

    @classmethod
    def create(
        cls,
        name: str,
        ranks: int,
        *,
        rank: int | None = None,
        directory: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Meeting:
        """Make a meeting, in the place of one whose owner is gone.

        Args:
            name: Name of the meeting on this machine.
            ranks: How many meet. All of them are waited for, whether they have come or not.
            rank: The rank of this process, if it is one.
            directory: Where the memory is; by default the system's place for shared memory.
            timeout: Seconds to wait for another process that changes the name.

        Raises:
            SignalInUseError: A live process owns the meeting.
            MemoryOrderError: This processor, or system, is none that the meeting is proved for.
        """
        deadline = _deadline(timeout, "create")
        return cls._of(Hall.make(name, Shape(ranks), directory, deadline), rank, deadline)

    @classmethod
    def attach(
        cls, name: str, rank: int | None = None, *, directory: str | None = None, timeout: Timeout = DEFAULT
    ) -> Meeting:
        """Become the process of a rank; without one, who may abort, fence and look.

        Raises:
            SignalNotFoundError: There is no such meeting.
            DuplicateRankError: The rank has a live process.
            MemoryOrderError: This processor, or system, is none that the meeting is proved for.
        """
        deadline = _deadline(timeout, "attach")
        return cls._of(Hall.open(name, directory, deadline), rank, deadline)

    @classmethod
    def _of(cls, hall: Hall, rank: int | None, deadline: Deadline) -> Meeting:
        try:
            return cls(hall, rank, deadline)
        except BaseException:
            hall.close(deadline)
            raise

    # -- meeting -----------------------------------------------------------------------------------------------------

    def wait(self, label: str = "", timeout: Timeout = DEFAULT) -> int:
        """Arrive, and wait until every rank has.

        Args:
            label: What this round is for. All ranks of a round must say the same.
            timeout: Seconds; None waits for ever; the default is FDCOMM_TIMEOUT, else 600.

        Returns:
            The number of the round that was passed, from 0. All ranks get the same.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that did not arrive. The arrival was taken back. Or a process
                of the meeting is stopped while it decides: then the arrival stands, and the next wait goes on with it.
            PeerLostError: ``missing`` names ranks whose process is gone.
            BarrierMismatchError: The ranks have different labels.
            BarrierBrokenError: The meeting was aborted.
            FencedError: This process was given up.
            ProtocolViolationError: Another thread of the rank waits.
            RankError: The handle has no rank.
        """
        attendant = self._attendant
        if attendant is None:
            raise RankError("wait: this handle has no rank")
        if not self._busy.acquire(False):
            raise ProtocolViolationError(f"wait: rank {self._rank} waits already, in another thread")
        try:
            return attendant.wait(label, timeout)
        finally:
            self._busy.release()

    def abort(self, timeout: Timeout = DEFAULT) -> bool:
        """End the waits with BarrierBrokenError, and refuse new ones until a reset. False when that was done before."""
        return members.abort(self._hall.room, _deadline(timeout, "abort"))

    def reset(self, timeout: Timeout = DEFAULT) -> bool:
        """Make an aborted meeting usable again. Returns False when it was not aborted.

        Raises:
            RankError: The handle has a rank. FastDeploy's ranks reset after each wait, maybe late; such a reset must
                not undo an abort that its rank was never told of. So this is left to who is no rank.
        """
        if self._rank is not None:
            raise RankError(f"reset: this handle waits for rank {self._rank}; only one without a rank may reset")
        return members.reset(self._hall.room, _deadline(timeout, "reset"))

    def fence(self, rank: int, timeout: Timeout = DEFAULT) -> bool:
        """Give up the process of a rank, which may be stopped: waits end with PeerLostError until another one comes.

        A dead one is given up by itself by who waits. Returns False when there was none to give up.
        """
        return members.fence(self._hall.room, rank, _deadline(timeout, "fence"))

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def round(self) -> int:
        """How many rounds were passed: the number of the one that is under way."""
        return round_of(self._hall.room.words[TURN])

    @property
    def broken(self) -> bool:
        """True after an abort, until a reset."""
        return bool(self._hall.room.words[TURN] & BROKEN)

    def statistics(self) -> MeetingStatistics:
        """Return the state of the meeting."""
        room = self._hall.room
        words, shape = room.words, room.shape
        turn = words[TURN]
        lines = [shape.line(rank, words[LIVES + rank]) for rank in range(shape.ranks)]
        return MeetingStatistics(
            round=round_of(turn),
            endings=endings_of(turn),
            missing=refusals.missing(room, turn),
            lost=refusals.lost(room),
            away=tuple(rank for rank, line in enumerate(lines) if not words[shape.of_line(line, PID)]),
            broken=bool(turn & BROKEN),
            sleeps=0 if self._attendant is None else self._attendant.sleeps,
            barrier=not room.fenced,
        )

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self, timeout: Timeout = DEFAULT) -> None:
        """Leave, and remove the meeting if this process owns it. A wait in another thread ends. Idempotent."""
        hall, room = self._hall, self._hall.room
        deadline = _deadline(timeout, "close")
        if not hall.closed:
            room.closing = True
            room.kernel.wake(room.address())
        with self._busy:
            if hall.closed:
                return
            if self._attendant is not None:
                members.leave(room, self._attendant.line, deadline)
            hall.close(deadline)

    def __enter__(self) -> Meeting:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a Meeting cannot be pickled")

    def __repr__(self) -> str:
        state = "closed" if self._hall.closed else f"round {self.round}"
        who = "no rank" if self._rank is None else f"rank {self._rank}"
        return f"<Meeting {self._hall.segment.name!r}, {who} ({state})>"


def _deadline(timeout: Timeout, operation: str) -> Deadline:
    return Deadline(timeout_seconds(timeout, operation), SYSTEM.monotonic)
