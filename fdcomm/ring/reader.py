"""``RingReader``: gets what a ring's writer puts, for one rank."""

from __future__ import annotations

import pickle
import threading
from types import TracebackType
from typing import Any, Final

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import PayloadError
from fdcomm.ring import clearing, members
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.contents import Contents
from fdcomm.ring.layout import Shape
from fdcomm.ring.memory import Memory
from fdcomm.ring.payload import decode
from fdcomm.ring.spin import default_spin_s, spin_seconds
from fdcomm.ring.turns import last_turn, wait_turn
from fdcomm.runtime import SYSTEM

__all__ = ("Lease", "RingReader")

_LOADS: Final = pickle.loads


class RingReader:
    """Gets every object of a ring once, in order. Made by :meth:`attach`. Safe for several threads.

    The rank is this process's for as long as it lives, and nobody else's. When it dies the writer goes on without it.
    """

    def __init__(self, memory: Memory, place: members.Place, spin_s: float = 0.0) -> None:
        self._memory = memory
        self._place = place
        self._mutex = threading.Lock()
        self._consumer = Consumer(memory.board, place, spin_s=spin_s)
        self._payloads = memory.payloads
        self._contents = Contents(memory)

    @classmethod
    def attach(
        cls,
        name: str,
        rank: int,
        *,
        directory: str | None = None,
        timeout: Timeout = DEFAULT,
        spin_s: float | None = None,
    ) -> RingReader:
        """Become the reader of a rank.

        After a reader that has left it goes on where that one was. After one that died or was given up it begins with
        the first message that no rank has begun.

        Args:
            name: Name of the ring on this machine.
            rank: The rank to read for.
            directory: Where the memory is; by default the system's place for shared memory.
            timeout: Seconds to wait for others who come or go.
            spin_s: How many seconds a get goes on looking, before it sleeps: no wake-up is needed for what comes
                meanwhile, and a processor is taken, unless others want it. At most 1. None: ``FDCOMM_SPIN_S`` from the
                environment, else 0: then it looks for some microseconds.

        Raises:
            ConfigError: ``spin_s`` is no such number.
            SignalNotFoundError: There is no such ring.
            DuplicateRankError: The rank has a live reader.
            MemoryOrderError: This processor, or system, is none that the ring is proved for.
        """
        deadline = _deadline(timeout, "attach")
        spin = default_spin_s() if spin_s is None else spin_seconds(spin_s)
        memory = Memory.open(name, directory, deadline)
        try:
            return cls(memory, members.attach(memory.board, rank, deadline), spin)
        except BaseException:
            memory.close(deadline)
            raise

    # -- getting -----------------------------------------------------------------------------------------------------

    def get(self, timeout: Timeout = DEFAULT) -> Any:
        """Return the next object: everything in it is this process's own.

        Raises:
            CommTimeoutError: Nothing was put for ``timeout`` seconds.
            FencedError: The rank's reader was given up.
            SignalReplacedError: The ring was removed, or made anew.
            PayloadError: The object cannot be made here. It counts as taken.
        """
        mutex = self._mutex
        if not mutex.acquire(False):
            wait_turn(mutex, timeout_seconds(timeout, "get"), "get", "getting")
        try:
            consumer = self._consumer
            size = consumer.begin(timeout, "get")
            if size < 0:
                return self._get_complex(timeout)
            copied = self._payloads[consumer.slot][:size].tobytes()
            consumer.end()
            try:
                return _LOADS(copied)
            except Exception as error:
                raise _unreadable(error) from error
            finally:
                consumer.tell()
        finally:
            mutex.release()

    def lease(self, timeout: Timeout = DEFAULT) -> Lease:
        """Return the next object as a context manager: its large buffers are read-only views of the shared memory.

        The slot is given back at the end of the block; what was taken out of the object must not be used after it.
        """
        if not self._mutex.acquire(False):
            wait_turn(self._mutex, timeout_seconds(timeout, "get"), "get", "getting")
        try:
            self._consumer.begin(timeout, "lease")
            payload, parts, _ = self._contents.begun(self._consumer, lambda: _deadline(timeout, "get"), "get")
            self._consumer.check()
            return Lease(self, self._decode(payload, parts, views=True))
        except BaseException:
            self._mutex.release()
            raise

    def _get_complex(self, timeout: Timeout) -> Any:
        payload, parts, shared = self._contents.begun(self._consumer, lambda: _deadline(timeout, "get"), "get")
        if shared:
            try:
                return self._decode(payload, parts, views=False)
            finally:
                self._consumer.end()
                self._consumer.tell()
        self._consumer.end()
        try:
            return self._decode(payload, parts, views=False)
        finally:
            self._consumer.tell()

    def _decode(self, payload: memoryview, parts: int, *, views: bool) -> Any:
        try:
            return decode(payload, parts, views=views)
        except Exception as error:
            raise _unreadable(error) from error

    def available(self) -> int:
        """Return how many objects are there to get at once: a look at memory, no call."""
        return self._consumer.waiting()

    # -- control -----------------------------------------------------------------------------------------------------

    def clear(self, epoch: int | None = None, timeout: Timeout = DEFAULT) -> bool:
        """Take back every message that no rank has begun. See :func:`fdcomm.ring.clearing.clear`."""
        return clearing.clear(self._memory.board, epoch, _deadline(timeout, "clear"))

    @property
    def epoch(self) -> int:
        """Clears so far."""
        return clearing.epoch_of(self._memory.board)

    @property
    def shape(self) -> Shape:
        """Ranks, slots and bytes of a slot."""
        return self._memory.shape

    @property
    def rank(self) -> int:
        """The rank."""
        return self._place.rank

    def close(self, timeout: Timeout = DEFAULT) -> None:
        """Leave: the next reader of the rank goes on where this one was. Idempotent."""
        self._memory.begin_close()
        with last_turn(self._mutex):
            if not self._memory.closed:
                deadline = _deadline(timeout, "close")
                try:
                    members.leave(self._memory.board, self._place, deadline)
                finally:
                    self._contents.close()
                    self._memory.close(deadline)

    def __enter__(self) -> RingReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a RingReader cannot be pickled")

    def __repr__(self) -> str:
        state = "closed" if self._memory.closed else f"{self._consumer.position} taken"
        return f"<RingReader {self._memory.segment.name!r}, rank {self._place.rank} ({state})>"


class Lease:
    """An object of a ring, for the length of a ``with`` block."""

    def __init__(self, reader: RingReader, thing: Any) -> None:
        self._reader: RingReader | None = reader
        self._thing = thing

    def __enter__(self) -> Any:
        return self._thing

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Give the slot back. Idempotent.

        Raises:
            FencedError: The rank's reader was given up meanwhile.
        """
        reader, self._reader, self._thing = self._reader, None, None
        if reader is not None:
            try:
                reader._consumer.end()
                reader._consumer.tell()
            finally:
                reader._mutex.release()


def _deadline(timeout: Timeout, operation: str) -> Deadline:
    return Deadline(timeout_seconds(timeout, operation), SYSTEM.monotonic)


def _unreadable(error: Exception) -> PayloadError:
    return PayloadError(
        f"get: the object cannot be made in this process: {type(error).__name__}: {error}", operation="get"
    )
