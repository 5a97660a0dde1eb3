"""``RingPath``: how a handle on the host's machine puts and gets: through shared memory, without the host.

The host stays the control plane: a rank is claimed there, and whether it lives is looked at now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fdcomm.deadline import Deadline, Timeout
from fdcomm.errors import ClosedError, CommTimeoutError, FdcommError, PeerLostError, SignalReplacedError
from fdcomm.host import refusals
from fdcomm.host.ring_refusals import put_ended
from fdcomm.ring.look import Look
from fdcomm.ring.memory import Memory
from fdcomm.ring.payload import item_of
from fdcomm.ring.producer import Producer
from fdcomm.ring.queue_end import QueueEnd
from fdcomm.runtime import Runtime

__all__ = ("RingPath",)

_OPEN_S: Final = 5.0
_CLOSE_S: Final = 5.0


class RingPath:
    """One handle's way into the ring of one channel. Methods and errors: as :class:`fdcomm.host_path.HostPath`.

    Args:
        name: The ring.
        most: Largest item in bytes.
        runtime: Time.
        look_at_host: Raises HostLostError when the host is gone, and ClosedError when the handle is closed. Returns the
            time.
        is_alive: Says at once whether the host lives.
        ask_to_claim: Asks the host for the rank.
        give_up: Ends the session, so that the host counts this handle as lost.

    Raises:
        SignalError, MemoryOrderError: The ring cannot be reached from here.
    """

    def __init__(
        self,
        name: str,
        most: int,
        runtime: Runtime,
        look_at_host: Callable[[str], float],
        is_alive: Callable[[], bool],
        ask_to_claim: Callable[[str], object],
        give_up: Callable[[], None],
    ) -> None:
        self._runtime = runtime
        self._look_at_host = look_at_host
        self._ask_to_claim = ask_to_claim
        self._give_up = give_up
        self.memory = Memory.open(name, None, Deadline(_OPEN_S, runtime.monotonic))
        replaced = self.memory.board.is_over
        self.memory.board.is_over = lambda: replaced() or not is_alive()
        self._producer = Producer(self.memory, most)
        self._look = Look(self.memory.board)
        self._end = QueueEnd(self.memory, self._producer, self._look)

    # -- items -------------------------------------------------------------------------------------------------------

    def put(self, item: Any, limit: Timeout, name: str, count: int) -> None:
        """Give an item, in which are ``count`` things, to every rank."""
        started = self._look_at_host(name)
        try:
            self._end.put(item, limit, name, count)
        except (PeerLostError, CommTimeoutError) as error:
            raise put_ended(error, name, self._end, self._runtime.monotonic() - started) from None
        except (ClosedError, SignalReplacedError) as error:
            raise self._ended(name) from error

    def claim(self, rank: int) -> None:
        """Become the reader of a rank, for which the host has been asked."""
        self._end.claim(rank, _OPEN_S)

    def take(self, rank: int, ticket: int, limit: float | None, name: str) -> tuple[int, Any, bool]:
        """Take the rank's next item: ``(number, item, all_read)``; number 0 is "nothing"."""
        started = self._look_at_host(name)
        port = self._end.port
        if port is None:
            self._ask_to_claim(name)
            port = self._end.claim(rank, _OPEN_S)
        before = port.position
        try:
            taken = port.take(item_of, ticket, limit, name)
        except CommTimeoutError:
            waited = self._runtime.monotonic() - started
            raise refusals.get_timeout(name, rank, self._end.epoch, waited) from None
        except (ClosedError, SignalReplacedError) as error:
            raise self._ended(name) from error
        except FdcommError:
            raise
        except BaseException:
            if port.position != before:  # interrupted, by Ctrl-C perhaps, with an item that nobody will have
                self._give_up()
            raise
        if taken is None:
            return 0, None, not ticket and not self._look.oldest()
        return taken

    def clear(self, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Drop what no rank has taken. Returns what was dropped, and who has taken the oldest item that stays."""
        self._look_at_host(name)
        return self._end.clear(name)

    # -- reads, all of them local ------------------------------------------------------------------------------------

    def has_claimed(self) -> bool:
        """Return True when this handle reads for its rank."""
        return self._end.port is not None

    def oldest(self, name: str) -> int:
        """Return the number of the oldest item that some rank has not taken, or 0."""
        self._look_at_host(name)
        return self._look.oldest()

    def ticket(self, rank: int, name: str) -> int:
        """Return the number of the oldest item that the rank has not taken, or 0."""
        self._look_at_host(name)
        return self._look.next_after(self._look.cursor(rank))

    def num_items(self, name: str) -> int:
        """Return how many items are retained."""
        self._look_at_host(name)
        return sum(1 for _ in self._look.numbers())

    def num_things(self, name: str) -> int:
        """Return how many things are in them."""
        self._look_at_host(name)
        return self._look.count()

    def items(self, name: str) -> list[Any]:
        """Return the retained items, oldest first."""
        self._look_at_host(name)
        return [item_of(memoryview(payload), parts, name) for payload, parts in self._end.peek()]

    # -- the end -----------------------------------------------------------------------------------------------------

    def close(self, *, leave: bool) -> None:
        """Let go of the ring: as a reader that leaves in order, or as one that has died. Idempotent."""
        if not self.memory.closed:
            try:
                self.memory.begin_close()
                self._end.close(leave=leave)
                self._producer.close()
            finally:
                self.memory.close(Deadline(_CLOSE_S, self._runtime.monotonic))

    def _ended(self, name: str) -> FdcommError:
        if self.memory.board.closing:
            return ClosedError(f"{name}: the handle is closed", operation=name)
        return refusals.host_gone(name)
