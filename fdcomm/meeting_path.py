"""``MeetingPath``: how a handle on the host's machine waits at a barrier: in shared memory, without the host.

The host stays the control plane: a rank is claimed there, and whether it lives is looked at now and then.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final

from fdcomm.deadline import Deadline, Timeout
from fdcomm.errors import ClosedError, FdcommError, FencedError, HostLostError, PeerLostError, ProtocolViolationError
from fdcomm.host import refusals
from fdcomm.meeting import members
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.hall import Hall
from fdcomm.meeting.layout import BROKEN, TURN
from fdcomm.meeting.refusals import shortened
from fdcomm.runtime import Runtime

__all__ = ("MeetingPath",)

_OPEN_S: Final = 5.0
_CLOSE_S: Final = 5.0


class MeetingPath:
    """One handle's rank in the meeting of a group of barriers. The host has been asked for the rank.

    Args:
        name: The meeting.
        barriers: Which meet in it in turn.
        rank: The handle's rank.
        runtime: Time.
        look_at_host: Raises HostLostError when the host is gone, and ClosedError when the handle is closed.
        is_alive: Says at once whether the host lives. Asked before each sleep.
        give_up: Ends the session, so that the host counts this handle as lost.
    """

    def __init__(
        self,
        name: str,
        barriers: tuple[str, ...],
        rank: int,
        runtime: Runtime,
        look_at_host: Callable[[str], object],
        is_alive: Callable[[], bool],
        give_up: Callable[[], None],
    ) -> None:
        self._rank = rank
        self._runtime = runtime
        self._look_at_host = look_at_host
        self._is_alive = is_alive
        self._give_up = give_up
        self._busy = threading.Lock()
        deadline = Deadline(_OPEN_S, runtime.monotonic)
        self._hall = Hall.open(name, None, deadline)
        self._room = self._hall.room
        self._room.names = barriers
        try:
            self._attendant = Attendant(self._room, rank, members.attach(self._room, rank, deadline))
        except BaseException:
            self._hall.close(deadline)
            raise
        self._attendant.stop = lambda: None if is_alive() else refusals.host_gone("wait")

    def told(self, place: int) -> int:
        """The last turn in which a wait saw that the barrier was aborted."""
        return self._attendant.told[place]

    def broken(self, place: int) -> bool:
        """It was aborted, and not reset."""
        return bool(self._room.words[TURN] & BROKEN << place)

    def wait(self, place: int, label: str, number: int | None, timeout: Timeout, operation: str) -> int:
        """Arrive, and wait until every rank has. Returns the rank. Errors: as ``RankBarrier.wait``."""
        self._look_at_host(operation)
        if not self._busy.acquire(False):
            raise ProtocolViolationError(
                f"{operation}: rank {self._rank} waits there already, in another thread", operation=operation
            )
        try:
            self._attendant.wait(label and shortened(label), timeout, operation, number, place)
        except PeerLostError as error:
            if self._rank in error.missing or not self._is_alive():  # ranks that wait through the host go with it
                raise refusals.host_gone(operation) from error
            raise
        except (FencedError, HostLostError, ClosedError) as error:
            raise self._ended(operation) from error
        except FdcommError:
            raise
        except BaseException:  # interrupted, by Ctrl-C perhaps: nobody must pass with an arrival that nobody stands for
            self._give_up()
            raise
        finally:
            self._busy.release()
        return self._rank

    def close(self, *, leave: bool) -> None:
        """End a wait in another thread, and let go: in order, or as one that has died. Idempotent."""
        if self._hall.closed:
            return
        self._room.closing = True
        self._room.kernel.wake(self._room.address())
        ended = self._busy.acquire(timeout=_CLOSE_S)
        deadline = Deadline(_CLOSE_S, self._runtime.monotonic)
        try:
            if leave and not self._hall.closed:
                with contextlib.suppress(FdcommError):  # what was not left in order is given up
                    members.leave(self._room, self._attendant.line, deadline)
            self._hall.close(deadline)
        finally:
            if ended:
                self._busy.release()

    def _ended(self, operation: str) -> FdcommError:
        if self._room.closing:
            return ClosedError(f"{operation}: the handle is closed", operation=operation)
        return refusals.host_gone(operation)
