"""``IPCLock``: a lock between processes, which is a file that the kernel locks and unlocks at its holder's death."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, NamedTuple

from fdcomm.deadline import DEFAULT, Deadline, Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    FdcommError,
    ForkedHandleError,
    ProtocolViolationError,
    SignalError,
    SignalNotFoundError,
)
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals.arguments import folder, full_name
from fdcomm.signals.files import Files

__all__ = ("IPCLock",)

_PREFIX: Final = "fd_lock_"
_FIRST_PAUSE_S: Final = 0.0002
_LONGEST_PAUSE_S: Final = 0.01


class _Hold(NamedTuple):
    """A lock that a thread has taken: with which descriptor, how, and in which process.

    In a forked child the descriptor's number may be another one's by now.
    """

    fd: int
    shared: bool
    pid: int


class IPCLock:
    """A lock that processes find by name, exclusive or shared.

    Its file is ``/dev/shm/fd_lock_<name>[.<suffix>]``, as FastDeploy's. Each thread that acquires the lock holds it by
    itself: threads of a process exclude each other as processes do. When a holder dies, the kernel frees the lock.

    Args:
        name: Name of the lock.
        suffix: Tells instances apart.
        create: Make the file where there is none; without it, a missing file is an error.
        directory: Where the file is; by default the system's place for shared memory.
        runtime: For tests.
        files: For tests.

    Raises:
        SignalNotFoundError: There is no such lock, and ``create`` is False.
        SignalNameError: No file can have the name.
        ConfigError: Arguments that can never work.
    """

    def __init__(
        self,
        name: str,
        suffix: int | str | None = None,
        create: bool = True,
        *,
        directory: str | None = None,
        runtime: Runtime = SYSTEM,
        files: Files | None = None,
    ) -> None:
        self._name = _PREFIX + full_name(name, suffix)
        full_name(self._name, None)
        if not isinstance(create, bool):
            raise ConfigError(f"create={create!r} must be True or False")
        self._create = create
        self._runtime = runtime
        self._files = files or Files(folder(directory))
        self._held: dict[int, _Hold] = {}  # by thread
        try:
            self._files.close(self._open("IPCLock"))
        except BaseException:
            self._files.abandon()
            raise

    @property
    def name(self) -> str:
        """Name of the file."""
        return self._name

    @property
    def held(self) -> bool:
        """True while the calling thread holds the lock."""
        return self._mine() is not None

    def acquire(self, shared: bool = False, timeout: Timeout = DEFAULT) -> None:
        """Take the lock.

        Args:
            shared: Together with others that take it shared.
            timeout: Seconds to wait for its holders.

        Raises:
            CommTimeoutError: Others have held it for ``timeout`` seconds.
            ClosedError: The handle was closed.
            ConfigError: ``shared`` is neither True nor False (a time limit is written ``timeout=...``).
            ProtocolViolationError: The calling thread holds it already.
            SignalNotFoundError: The file was removed, and this handle does not make one.
        """
        if not isinstance(shared, bool):
            raise ConfigError(f"acquire: shared={shared!r} must be True or False; a time limit is timeout=...")
        if self._mine() is not None:
            raise ProtocolViolationError(f"this thread holds the lock {self._name} already", operation="acquire")
        deadline = Deadline(timeout_seconds(timeout, "acquire"), self._runtime.monotonic)
        pause = _FIRST_PAUSE_S
        while True:
            fd = self._open("acquire")
            try:
                while not self._files.lock(fd, shared=shared):
                    left = deadline.remaining()
                    if left == 0:
                        raise self._busy(deadline)
                    self._runtime.sleep(pause if left is None else min(pause, left))
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
                self._runtime.point("lock.acquire.taken")
                if self._is_named(fd):
                    self._held[threading.get_ident()] = _Hold(fd, shared, os.getpid())
                    return
            except BaseException as error:
                self._files.close(fd)
                if isinstance(error, ClosedError):  # by another thread
                    raise self._closed("acquire") from None
                raise
            # It was cleared while we waited: who comes now locks another file.
            self._files.close(fd)

    def release(self) -> None:
        """Give the lock back.

        Raises:
            ProtocolViolationError: The calling thread does not hold it.
            ForkedHandleError: Its parent process holds it.
        """
        self._files.close(self._take_out("release"))

    @contextlib.contextmanager
    def shared(self, timeout: Timeout = DEFAULT) -> Iterator[IPCLock]:
        """Hold the lock together with others that do so too."""
        self.acquire(shared=True, timeout=timeout)
        try:
            yield self
        finally:
            self._leave()

    def clear(self) -> None:
        """Release the lock if the calling thread holds it, and remove the file if nobody else uses it.

        The file of a lock that others hold stays: without it, the next one to acquire would make another file, and both
        would hold "the" lock. The handle can be used again.
        """
        mine = self._mine()
        self._held.pop(threading.get_ident(), None)
        fd, shared = (self._open_existing(), True) if mine is None else (mine.fd, mine.shared)
        if fd is None:
            return
        try:
            # A shared lock becomes exclusive if nobody else has it. An exclusive one is that already.
            if (not shared or self._files.lock(fd)) and self._is_named(fd):
                self._runtime.point("lock.clear.locked")
                self._files.unlink(self._name)
        finally:
            self._files.close(fd)

    def close(self) -> None:
        """Release what any thread of this process holds through this handle. The file stays. Idempotent."""
        self._held.clear()
        self._files.abandon()

    def __enter__(self) -> IPCLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def __reduce__(self) -> Any:
        raise TypeError(f"the lock {self._name} cannot be pickled; open it by name in the other process")

    def __repr__(self) -> str:
        return f"<IPCLock {self._name!r}{' held' if self.held else ''}>"

    # -- helpers -----------------------------------------------------------------------------------------------------

    def _mine(self) -> _Hold | None:
        hold = self._held.get(threading.get_ident())
        return hold if hold is not None and hold.pid == os.getpid() and hold.fd in self._files.open_now else None

    def _leave(self) -> None:
        """Release, unless the block has done that, or cleared."""
        if threading.get_ident() in self._held:
            self.release()

    def _take_out(self, operation: str) -> int:
        hold = self._held.pop(threading.get_ident(), None)
        if hold is None:
            raise ProtocolViolationError(
                f"{operation}: this thread does not hold the lock {self._name}", operation=operation
            )
        if hold.pid != os.getpid():
            raise ForkedHandleError(
                f"{operation}: process {hold.pid} holds the lock {self._name}, not this one, which was forked from it; "
                "acquire it here",
                operation=operation,
            )
        return hold.fd

    def _open(self, operation: str) -> int:
        try:
            return self._files.open_or_make(self._name) if self._create else self._files.open(self._name)
        except FileNotFoundError:
            raise SignalNotFoundError(
                f"{operation}: there is no lock {self._name} in {self._files.directory}", operation=operation
            ) from None
        except ClosedError:
            raise self._closed(operation) from None
        except OSError as error:
            raise SignalError(
                f"{operation}: cannot open the lock {self._name}: {error}", operation=operation
            ) from error

    def _open_existing(self) -> int | None:
        try:
            return self._files.open(self._name)
        except FileNotFoundError:
            return None
        except ClosedError:
            raise self._closed("clear") from None

    def _is_named(self, fd: int) -> bool:
        now, mine = self._files.find(self._name), self._files.status(fd)
        return now is not None and (now.device, now.inode) == (mine.device, mine.inode)

    def _closed(self, operation: str) -> FdcommError:
        return ClosedError(f"{operation}: the lock {self._name} is closed", operation=operation)

    def _busy(self, deadline: Deadline) -> FdcommError:
        return CommTimeoutError(
            f"acquire: others have held the lock {self._name} for {deadline.waited():.3g} s; `fuser "
            f"{self._files.path(self._name)}` names the processes that use it: continue or kill one that is stopped",
            operation="acquire",
            waited_s=deadline.waited(),
        )
