"""``IPCSignal``: an array in shared memory, under a name."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, FdcommError, SignalError
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import ownership
from fdcomm.signals.arguments import folder, full_name, layout_of, view
from fdcomm.signals.files import Files, default_directory
from fdcomm.signals.layout import Layout, OwnerInfo, this_process
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import Plan, Steps, attach, clear, create, drive, owner_alive
from fdcomm.signals.word import Word

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ("IPCSignal", "SharedBlock", "shared_memory_exists")

T = TypeVar("T")


class IPCSignal:
    """An array in shared memory that processes find by name.

    Made by one process (``create=True``), its owner, and attached by others. Others see nothing of it before it is
    complete. A segment whose owner is gone is replaced; one of a live process is not, unless ``replace`` is written;
    one of this very process is replaced with a warning, as FastDeploy's callers expect.

    The array is at byte 0 of the file ``/dev/shm/<name>[.<suffix>]``. What fdcomm adds stands behind it.

    Reading or writing one aligned element of at most 8 bytes is atomic. Anything wider may be seen half-written.

    Args:
        name: Name of the signal.
        array: First content. An attaching process gives an array of the same dtype and shape; its content is not used.
        dtype: The array's dtype. Without array and dtype, the signal is raw bytes (``shm.buf``).
        suffix: Tells instances apart: the name of the file is ``<name>.<suffix>``.
        create: Make the signal and own it, or attach to one that is there.
        shm_size: Size of a signal of raw bytes. An attaching process may leave it out.
        validate: When attaching: require the dtype, shape and size of the template. False maps any file that is large
            enough, also one that other software has made.
        replace: When creating: replace what a live process owns too. Its handles become ``superseded``.
        timeout: Seconds to wait for another process that is changing a signal's name.
        directory: Where the file is; by default the system's place for shared memory.
        runtime: For tests.

    Raises:
        SignalNotFoundError: There is none to attach to.
        SignalInUseError: A live process owns the signal, or other software has made the file.
        SignalMismatchError: The signal is there, with another dtype, shape or size.
        SignalNameError: No signal can have the name.
        SignalSpaceError: The memory file system is full. Nothing was made.
        ConfigError: Arguments that can never work.
        CommTimeoutError: Another process has been changing a name for ``timeout`` seconds.
    """

    def __init__(
        self,
        name: str,
        array: NDArray[Any] | None = None,
        dtype: Any = None,
        suffix: int | str | None = None,
        create: bool = True,
        shm_size: int | None = None,
        *,
        validate: bool = True,
        replace: bool = False,
        timeout: Timeout = DEFAULT,
        directory: str | None = None,
        runtime: Runtime = SYSTEM,
    ) -> None:
        # One entry while the handle is open. Taking it out is atomic: of several threads that close, one does it.
        self._open: list[Segment] = []
        self._value: NDArray[Any] | None = None
        self._runtime = runtime
        self._timeout: Timeout = timeout
        self._name = full_name(name, suffix)
        for option, given in (("create", create), ("validate", validate), ("replace", replace)):
            if not isinstance(given, bool):
                raise ConfigError(f"{option}={given!r} must be True or False")
        layout = layout_of(array, dtype, shm_size, create=create)
        deadline = self._deadline("create" if create else "attach")
        files = Files(folder(directory))
        plan = Plan(
            self._name,
            layout,
            fill=_filler(array, layout),
            owner=this_process(),
            replace=replace,
            on_own=lambda: _warn_own(self._name),
            validate=validate,
        )
        try:
            if create:
                segment = self._run("create", _create(files, plan, runtime), deadline)
            else:
                segment = self._run("attach", attach(files, plan), deadline)
        except BaseException:
            files.abandon()
            raise
        self._open.append(segment)
        if create:
            ownership.hold(segment, self, runtime)
        if array is not None:
            self._value = view(segment.memory, layout, array.dtype)

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The whole name, suffix included."""
        return self._name

    @property
    def shm(self) -> SharedBlock:
        """The bytes, as FastDeploy's callers use them."""
        return SharedBlock(self)

    @property
    def value(self) -> NDArray[Any] | None:
        """The array; None for a signal of raw bytes.

        An array that was taken before :meth:`close` stays valid memory, but nobody else may be using it any more.

        Raises:
            ClosedError: The handle was closed.
        """
        value = self._value  # first: another thread may be closing
        if not self._open:
            raise self._closed()
        return value

    @property
    def segment(self) -> Segment:
        """The mapped segment, for typed access."""
        try:
            return self._open[0]
        except IndexError:
            raise self._closed() from None

    def word(self, index: int = 0) -> Word:
        """Return typed access to one element, which must be an integer of 4 or 8 bytes (or SignalMismatchError)."""
        dtype = "" if self._value is None else self._value.dtype.str
        return Word(self.segment, index, dtype=dtype, runtime=self._runtime)

    @property
    def generation(self) -> int:
        """1 for the first segment of the name, one more for each that replaced one; 0 when other software made it."""
        trailer = self.segment.trailer
        return 0 if trailer is None else trailer.generation

    @property
    def owner(self) -> OwnerInfo | None:
        """The process that made it. None: other software."""
        trailer = self.segment.trailer
        return None if trailer is None else trailer.owner

    @property
    def owned(self) -> bool:
        """True if this handle made the segment, in this process, and is not closed."""
        return bool(self._open) and self._open[0].owned

    @property
    def superseded(self) -> bool:
        """True once another segment has the name, or none: nobody who attaches now sees what is written here."""
        return self.segment.superseded()

    def owner_alive(self, timeout: Timeout = DEFAULT) -> bool:
        """Return True while the process that made the segment lives and has not closed it.

        Of a segment that other software made nobody is known to be the owner: False.
        """
        segment = self.segment
        if segment.owned:
            return True
        if segment.trailer is None:
            return False
        deadline = self._deadline("owner_alive", timeout)
        return self._run("owner_alive", owner_alive(segment.files, segment), deadline)

    # -- its end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the segment. Its file stays; if this was the owner, the next creator may replace it. Idempotent."""
        with contextlib.suppress(IndexError):
            segment = self._open.pop()
            self._value = None
            ownership.forget(segment)
            segment.close()

    def clear(self, timeout: Timeout = DEFAULT) -> None:
        """Remove the segment if this handle made it, and close. Idempotent.

        A handle that only attached, one that a forked child inherited, and one whose segment was replaced remove
        nothing: they only close.

        Raises:
            CommTimeoutError: Another process has been changing a name for ``timeout`` seconds. Nothing was changed.
        """
        deadline = self._deadline("clear", timeout)
        try:
            segment = self._open.pop()
        except IndexError:
            return
        try:
            if segment.owned:
                self._run("clear", clear(segment.files, segment, self._runtime), deadline)
            segment.close()
        except BaseException:
            if segment.owned:
                self._open.append(segment)
            raise
        self._value = None
        ownership.forget(segment)

    def __enter__(self) -> IPCSignal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def __reduce__(self) -> Any:
        raise TypeError(f"the signal {self._name!r} cannot be pickled; attach to it by name in the other process")

    def __repr__(self) -> str:
        state = "closed" if not self._open else "owner" if self.owned else "attached"
        return f"<IPCSignal {self._name!r} ({state})>"

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _deadline(self, operation: str, timeout: Timeout | None = DEFAULT) -> Deadline:
        limit = self._timeout if timeout is DEFAULT else timeout
        return Deadline(timeout_seconds(limit, operation), self._runtime.monotonic)

    def _run(self, program: str, steps: Steps[T], deadline: Deadline) -> T:
        try:
            return drive(program, steps, self._runtime, deadline)
        except FdcommError:
            raise
        except OSError as error:
            raise SignalError(f"{program} of the signal {self._name!r}: {error}", operation=program) from error

    def _closed(self) -> ClosedError:
        return ClosedError(f"the signal {self._name!r} is closed")


_create = create  # the class has an argument of that name


def _filler(array: Any, layout: Layout) -> Callable[[memoryview], None]:
    def fill(data: memoryview) -> None:
        if array is not None:
            view(data, layout, array.dtype)[...] = array

    return fill


def _warn_own(name: str) -> None:
    level, frame = 1, inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "fdcomm":
        level, frame = level + 1, frame.f_back
    # The line of the user's program, whatever of ours is in between.
    warnings.warn(
        f"this process has a signal {name!r} already; its handles keep the old memory, and see nothing of the new one",
        RuntimeWarning,
        stacklevel=level,
    )


class SharedBlock:
    """The bytes of a signal, as ``multiprocessing.shared_memory.SharedMemory`` offers them."""

    def __init__(self, signal: IPCSignal) -> None:
        self._signal = signal

    @property
    def name(self) -> str:
        """Name of the file."""
        return self._signal.name

    @property
    def size(self) -> int:
        """Number of bytes, without what fdcomm adds behind them."""
        return self._signal.segment.nbytes

    @property
    def buf(self) -> memoryview:
        """A view of the bytes. It stays valid memory after :meth:`close`."""
        return self._signal.segment.data()

    def close(self) -> None:
        """Close the signal."""
        self._signal.close()

    def unlink(self) -> None:
        """Clear the signal, see :meth:`IPCSignal.clear`."""
        self._signal.clear()


def shared_memory_exists(name: str) -> bool:
    """Return True if a signal, or a file that other software made, has the whole name. Changes nothing.

    Names that no signal can have do not exist.
    """
    try:
        found = Files(default_directory()).find(full_name(name, None))
    except FdcommError:
        return False
    return found is not None and found.regular
