"""One element of a signal, read and written as one word: ``signal.word(index)``."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, Final, cast

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, FdcommError, SignalMismatchError
from fdcomm.runtime import SYSTEM, Runtime, SystemRuntime, Words
from fdcomm.signals import exclusive
from fdcomm.signals.access import Access
from fdcomm.signals.kernel import SYSTEM_KERNEL, Kernel
from fdcomm.signals.layout import WAITERS
from fdcomm.signals.segment import Segment
from fdcomm.signals.waiting import wait_for

__all__ = ("Word",)

# dtype of the signal, in this machine's byte order -> format of the view. Nothing else is one word.
_ORDER: Final = "<" if sys.byteorder == "little" else ">"
_FORMATS: Final = {f"{_ORDER}i4": "i", f"{_ORDER}i8": "q", f"{_ORDER}u4": "I", f"{_ORDER}u8": "Q"}


class Word:
    """One aligned integer of 4 or 8 bytes in a signal.

    ``get`` is one load and ``set`` one store: nobody ever sees half a value. What this process stored before ``set``
    is seen by whoever sees the new value (on x86-64 always; elsewhere only with a sequenced signal). ``set`` wakes who
    waits, and costs no system call when nobody does. ``set`` knows nothing of ``add`` and ``compare_and_set``: a word
    that several processes change is changed by these two only.

    Made by :meth:`fdcomm.IPCSignal.word`. Safe for several threads. Valid until the signal is closed.
    """

    __slots__ = ("_access", "_cell", "_data", "_fenced", "_flag", "_index", "name")

    def __init__(
        self,
        segment: Segment,
        index: int = 0,
        *,
        dtype: str = "",
        runtime: Runtime = SYSTEM,
        kernel: Kernel = SYSTEM_KERNEL,
    ) -> None:
        self._data, self._index = _element(segment, index, dtype)
        self.name = f"{segment.name}[{self._index}]"
        self._cell = _alone(self._data, self._index)
        self._access = Access(segment, runtime, kernel)
        words = self._access.words
        # Where nobody can sleep nobody has to be woken: a flag that stays down.
        self._flag = _alone(words, WAITERS) if words is not None and self._access.sleeps else _alone(_down(), 0)
        self._fenced = words is not None and not kernel.joins_barriers()
        if type(self) is Word and (self._fenced or not _plain(runtime)):
            self.__class__ = _CarefulWord
        self._access.views.append(self._cell)

    def get(self) -> int:
        """Return the value.

        Raises:
            ClosedError: The signal was closed.
        """
        try:
            return self._cell[()]  # type: ignore[no-any-return]
        except ValueError as error:
            raise self._refused(error, "get") from None

    def set(self, value: int) -> None:
        """Store a value, and wake who waits.

        Raises:
            ClosedError: The signal was closed.
            ConfigError: The value is no integer, or does not fit. Nothing was stored.
        """
        try:
            self._cell[()] = value
        except (TypeError, ValueError) as error:
            raise self._refused(error, "set", value) from None
        if self._flag[()]:
            self._access.ring()

    def wait_for(self, predicate: Callable[[int], bool], timeout: Timeout = DEFAULT) -> int:
        """Wait until the value is one that the predicate accepts, and return it.

        It sleeps; a ``set`` wakes it. A value that is there only for a moment may be missed. After a ``set`` that was
        killed halfway, or a store of foreign code, it looks again within a quarter of a second.

        Raises:
            CommTimeoutError: There was no such value for ``timeout`` seconds.
            SignalReplacedError: The signal was replaced or removed.
            ClosedError: The signal was closed.
        """
        return wait_for(self._access, self.get, predicate, self._deadline("wait_for", timeout), "wait_for")

    def add(self, number: int = 1, timeout: Timeout = DEFAULT) -> int:
        """Add a number, and return the value before it. No other ``add`` or ``compare_and_set`` comes between.

        Raises:
            CommTimeoutError: A process that is stopped in such a call has held the lock for ``timeout`` seconds.
            ConfigError: The sum does not fit. Nothing was stored.
        """
        step = _integer(number, "add")
        return self._change(lambda old: old + step, timeout, "add")

    def compare_and_set(self, expected: int, new: int, timeout: Timeout = DEFAULT) -> bool:
        """Store ``new`` if the value is ``expected``, and return whether it was.

        Raises:
            CommTimeoutError: A process that is stopped in such a call has held the lock for ``timeout`` seconds.
            ConfigError: ``new`` does not fit. Nothing was stored.
        """
        wanted, then = _integer(expected, "compare_and_set"), _integer(new, "compare_and_set")
        return self._change(lambda old: then if old == wanted else None, timeout, "compare_and_set") == wanted

    def __reduce__(self) -> Any:
        raise TypeError(f"the word {self.name} cannot be pickled; attach to its signal in the other process")

    def __repr__(self) -> str:
        return f"<Word {self.name} of {self._data.format!r}>"

    def _change(self, new: Callable[[int], int | None], timeout: Timeout, operation: str) -> int:
        def store(value: int) -> None:
            try:
                self.set(value)
            except ConfigError:
                kind = f"an integer of {self._data.itemsize} bytes, {'un' if self._data.format in 'IQ' else ''}signed"
                raise ConfigError(
                    f"{operation}: {value} does not fit {self.name}, {kind}", operation=operation
                ) from None

        deadline = self._deadline(operation, timeout)
        return exclusive.change(self._access, self.get, store, new, deadline, operation)

    def _deadline(self, operation: str, timeout: Timeout) -> Deadline:
        return Deadline(timeout_seconds(timeout, operation), self._access.runtime.monotonic)

    def _refused(self, error: Exception, operation: str, value: object = None) -> FdcommError:
        if self._access.closed:
            return ClosedError(f"the signal {self._access.name!r} is closed", operation=operation)
        return ConfigError(f"{operation}: {value!r} is not a value of {self.name}: {error}", operation=operation)


class _CarefulWord(Word):
    """The same steps, each through the runtime (under test), or with a fence (where no barrier reaches us)."""

    __slots__ = ()

    def get(self) -> int:
        self._access.check()
        return self._access.runtime.load(self._data, self._index)

    def set(self, value: int) -> None:
        access = self._access
        access.check()
        try:
            access.runtime.store(self._data, self._index, value)
        except (TypeError, ValueError) as error:
            raise self._refused(error, "set", value) from None
        if self._fenced:
            access.kernel.fence()
        if access.sleeps and access.load(WAITERS):
            access.ring()


def _plain(runtime: Runtime) -> bool:
    kind = type(runtime)
    return (getattr(kind, "load", None), getattr(kind, "store", None)) == (SystemRuntime.load, SystemRuntime.store)


def _down() -> Words:
    return memoryview(bytearray(8)).cast("q")


def _alone(words: Words, index: int) -> Any:
    """Return a view of one element, without dimensions: ``view[()]`` looks up no index, which saves time."""
    one = words[index : index + 1]
    return one.cast("B").cast(cast("Any", words.format), shape=())


def _integer(value: object, operation: str) -> int:
    try:
        return operator.index(cast("Any", value))
    except TypeError:
        raise ConfigError(f"{operation}: {value!r} is not an integer", operation=operation) from None


def _element(segment: Segment, index: object, dtype: str) -> tuple[Words, int]:
    """Return a view of the whole array, flat, and the element's place in it."""
    if segment.trailer is not None:
        dtype = segment.trailer.layout.dtype
    kind = _FORMATS.get(dtype)
    if kind is None:
        holds = f"elements of {dtype}" if dtype else "raw bytes"
        raise SignalMismatchError(f"the signal {segment.name!r} holds {holds}; a word is an integer of 4 or 8 bytes")
    view = cast("Words", segment.data().cast(cast("Any", kind)))
    place = _integer(index, "word")
    if not -len(view) <= place < len(view):
        raise ConfigError(f"word: the signal {segment.name!r} has {len(view)} words, and no word {place}")
    return view, place % len(view)
