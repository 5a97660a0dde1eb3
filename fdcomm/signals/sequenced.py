"""Several words of a signal that are written and read as one: ``SequencedSignal``.

A writer makes a sequence number odd, writes, and makes it even. A reader that finds the same even number before and
after its copy has what one write wrote. The array stays a plain array: who does not know the number reads it as before,
with the risk that it had before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    CommTimeoutError,
    ConfigError,
    FdcommError,
    SignalMismatchError,
    SignalTornError,
    UnsafeConfigError,
)
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import futex
from fdcomm.signals.access import FIRST_PAUSE_S, LONGEST_PAUSE_S, WRITERS, Access
from fdcomm.signals.kernel import ORDERED, SYSTEM_KERNEL, Kernel
from fdcomm.signals.layout import SEQUENCE, WAITERS
from fdcomm.signals.segment import Segment
from fdcomm.signals.waiting import wait_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fdcomm.signals.ipc_signal import IPCSignal

__all__ = ("Sequence", "SequencedSignal")


class Sequence:
    """The bytes of a segment, written and read as one.

    ``put`` writes all of them into a view, and ``copy`` returns a copy of them; tests do both word by word.
    """

    def __init__(
        self,
        segment: Segment,
        put: Callable[[Any], None],
        copy: Callable[[], Any],
        runtime: Runtime = SYSTEM,
        kernel: Kernel = SYSTEM_KERNEL,
    ) -> None:
        if not ORDERED and not futex.AVAILABLE:
            raise UnsafeConfigError("this machine does not keep stores in order, and fdcomm knows no fence for it")
        if segment.trailer is None:
            raise SignalMismatchError(
                f"the signal {segment.name!r} was made by other software: it has no sequence number"
            )
        self.access = Access(segment, runtime, kernel)
        self._put = put
        self._copy = copy
        self._fenced = not kernel.joins_barriers()

    def write(self, content: Any, deadline: Deadline) -> None:
        """Write everything. One writer at a time; what a killed writer left is overwritten."""
        access, order = self.access, self.access.kernel.order
        with access.exclusive(WRITERS, deadline, "write"):
            # Odd already: a writer was killed in the middle. It stays odd, so that no read accepts what lies there.
            odd = access.load(SEQUENCE) | 1
            access.store(SEQUENCE, odd)
            order()
            access.runtime.point("word.write.odd")
            self._put(content)
            access.runtime.point("word.write.filled")
            order()
            access.store(SEQUENCE, odd + 1)
        if self._fenced:
            access.kernel.fence()
        if access.sleeps and access.load(WAITERS):
            access.ring()

    def read(self, deadline: Deadline) -> Any:
        """Return what one write wrote."""
        access, order = self.access, self.access.kernel.order
        pause = FIRST_PAUSE_S
        while True:
            access.check()
            number = access.load(SEQUENCE)
            if number & 1:
                if self._writer_is_dead():
                    raise self._torn()
            else:
                order()
                found = self._copy()
                order()
                if access.load(SEQUENCE) == number:
                    return found
            left = deadline.remaining()
            if left == 0:
                raise self._late(deadline)
            if number & 1:
                access.runtime.sleep(pause if left is None else min(pause, left))
                pause = min(2 * pause, LONGEST_PAUSE_S)

    def _writer_is_dead(self) -> bool:
        """The writers' lock is free, and the number still odd. Nobody can have begun meanwhile: the lock is ours."""
        access = self.access
        fd = access.descriptor()
        try:
            if not access.try_take(fd, WRITERS):
                return False
            try:
                return bool(access.load(SEQUENCE) & 1)
            finally:
                access.give(fd, WRITERS)
        finally:
            access.put_back(fd)

    def _torn(self) -> FdcommError:
        return SignalTornError(
            f"read: process {self.access.holder(WRITERS)} was killed in the middle of a write to the signal "
            f"{self.access.name!r}; the next write makes it whole",
            operation="read",
        )

    def _late(self, deadline: Deadline) -> FdcommError:
        return CommTimeoutError(
            f"read: process {self.access.holder(WRITERS)} has been writing the signal {self.access.name!r}, again or "
            f"still, for {deadline.waited():.3g} s; if it is stopped, continue or kill it",
            operation="read",
            waited_s=deadline.waited(),
        )


class SequencedSignal:
    """Reads and writes a whole signal as one: step and layer, statistics, addresses.

    Every writer has to write through this class. A reader never sees parts of two writes; it is not held up by other
    readers, and a writer is not held up by readers.

    Args:
        signal: An open signal that fdcomm has made. Closing it ends this too.

    Raises:
        SignalMismatchError: The signal was made by other software.
        UnsafeConfigError: The machine's memory is weaker than what fdcomm knows how to order.
    """

    def __init__(self, signal: IPCSignal, *, runtime: Runtime = SYSTEM, kernel: Kernel = SYSTEM_KERNEL) -> None:
        segment = signal.segment
        value = signal.value
        self._shape = None if value is None else value.shape
        self._dtype: Any = None if value is None else value.dtype
        self._data = segment.data()
        self._sequence = Sequence(segment, self._put, self._copy, runtime, kernel)
        self._sequence.access.views.append(self._data)

    def write(self, values: Any, timeout: Timeout = DEFAULT) -> None:
        """Write all elements as one, and wake who waits.

        Args:
            values: As many as the signal has, in its shape; for a signal of raw bytes, bytes of its size.
            timeout: Seconds to wait for another writer.

        Raises:
            ConfigError: These are no values of the signal. Nothing was written.
            CommTimeoutError: A stopped writer has held the lock for ``timeout`` seconds. Nothing was written.
            ClosedError: The signal was closed.
        """
        self._sequence.access.check()
        content = self._bytes(values)
        self._sequence.write(content, self._deadline("write", timeout))

    def read(self, timeout: Timeout = DEFAULT) -> Any:
        """Return all elements of one write: a new array, or bytes.

        Raises:
            SignalTornError: A writer was killed in the middle, and nobody has written since.
            CommTimeoutError: A writer is stopped in the middle, or never pauses; the message has its process id.
            ClosedError: The signal was closed.
        """
        return self._shaped(self._sequence.read(self._deadline("read", timeout)))

    def wait_for(self, predicate: Callable[[Any], bool], timeout: Timeout = DEFAULT) -> Any:
        """Wait until the elements are some that the predicate accepts, and return them. As :meth:`Word.wait_for`."""
        deadline = self._deadline("wait_for", timeout)
        return wait_for(
            self._sequence.access,
            lambda: self._shaped(self._sequence.read(deadline)),
            predicate,
            deadline,
            "wait_for",
        )

    def __reduce__(self) -> Any:
        raise TypeError("a sequenced signal cannot be pickled; attach to its signal in the other process")

    def _bytes(self, values: Any) -> Any:
        if self._shape is None:
            content = memoryview(values).cast("B")
            if len(content) != len(self._data):
                raise ConfigError(
                    f"write: {len(content)} bytes, and the signal has {len(self._data)}", operation="write"
                )
            return content
        import numpy

        try:
            array: NDArray[Any] = numpy.asarray(values)
            if array.shape == self._shape and numpy.can_cast(array.dtype, self._dtype, "same_kind"):
                exact = array.astype(self._dtype, order="C")
                if bool((exact == array).all()):
                    return memoryview(cast("Any", exact.reshape(-1).view(numpy.uint8)))
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"write: these are no values of the signal: {error}", operation="write") from None
        raise ConfigError(
            f"write: values of shape {array.shape} and dtype {array.dtype}, some of which do not fit the signal's "
            f"{self._dtype}{list(self._shape)}",
            operation="write",
        )

    def _put(self, content: Any) -> None:
        self._data[:] = content

    def _copy(self) -> bytes:
        return bytes(self._data)

    def _shaped(self, content: bytes) -> Any:
        if self._shape is None:
            return content
        import numpy

        return numpy.frombuffer(bytearray(content), self._dtype).reshape(self._shape)

    def _deadline(self, operation: str, timeout: Timeout) -> Deadline:
        return Deadline(timeout_seconds(timeout, operation), self._sequence.access.runtime.monotonic)
