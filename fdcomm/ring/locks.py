"""Locks on bytes of the ring's file, each with an open file description of its own. They end with their process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError
from fdcomm.ring.layout import MOST_RANKS
from fdcomm.runtime import Runtime
from fdcomm.signals.files import Files
from fdcomm.signals.kernel import Kernel
from fdcomm.signals.segment import Segment

__all__ = ("KernelLocks",)

T = TypeVar("T")

_MEMBERS: Final = 0
WRITER: Final = 1
_LINES: Final = 64
_TOKENS: Final = _LINES + 2 * MOST_RANKS
_FIRST_PAUSE_S: Final = 0.00005
_LONGEST_PAUSE_S: Final = 0.005


class KernelLocks:
    """Locks on bytes of the ring's file, each with an open file description of its own."""

    def __init__(self, segment: Segment, kernel: Kernel, runtime: Runtime) -> None:
        self._segment = segment
        self._kernel = kernel
        self._runtime = runtime
        self._taken: dict[int, int] = {}
        self._writer = -1

    @contextlib.contextmanager
    def members(self, deadline: Deadline, operation: str) -> Iterator[None]:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._until(lambda: self._try(_MEMBERS), deadline, operation, "the members' lock", lambda: "")
        try:
            yield
        finally:
            self._segment.files.close(fd)

    def try_members(self) -> Any:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_MEMBERS)
        return None if fd is None else _Closing(self._segment.files, fd)

    def open_writer(self) -> None:
        """Open the descriptor on which :meth:`try_writer` locks."""
        if self._writer < 0:
            self._writer = self._segment.files.again(self._segment.fd)

    def try_writer(self) -> bool:
        """Take the writer's place, if it is free. After :meth:`open_writer`."""
        return self._segment.files.call(self._writer, self._take_writer)

    def wait_writer(self, deadline: Deadline, operation: str, who: Callable[[], str]) -> None:
        """Take it, if need be after others have left it. It goes with the process, or with :meth:`leave_writer`."""
        self.open_writer()
        self.wait_until(self.try_writer, deadline, operation, who)

    def leave_writer(self) -> None:
        """Give it back."""
        self._segment.files.call(self._writer, self._give_writer)

    def wait_until(
        self, attempt: Callable[[], bool], deadline: Deadline, operation: str, who: Callable[[], str]
    ) -> None:
        """Wait for the writer's place: for its lock or, with that, for who puts without it."""
        self._until(attempt, deadline, operation, "the writer's place", who)

    def try_token(self, token: int) -> bool:
        """Take a token for as long as this process lives, if nobody has it. With the lock."""
        return self._segment.files.call(self._writer, lambda fd: self._kernel.take(fd, _TOKENS + token, shared=False))

    def give_token(self, token: int) -> None:
        """Give it back."""
        self._segment.files.call(self._writer, lambda fd: self._kernel.give(fd, _TOKENS + token))

    def is_token_free(self, token: int) -> bool:
        """Return False while another process has it. With the lock, so nobody takes it meanwhile."""
        free = self.try_token(token)
        if free:
            self.give_token(token)
        return free

    def _take_writer(self, fd: int) -> bool:
        return self._kernel.take(fd, WRITER, shared=False)

    def _give_writer(self, fd: int) -> None:
        self._kernel.give(fd, WRITER)

    def take_line(self, line: int) -> bool:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_LINES + line)
        if fd is not None:
            self._taken[_LINES + line] = fd
        return fd is not None

    def give_line(self, line: int) -> None:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._taken.pop(_LINES + line, None)
        if fd is not None:
            self._segment.files.close(fd)

    def is_held(self, line: int) -> bool:
        """See :class:`fdcomm.ring.board.Locks`."""
        fd = self._try(_LINES + line)
        if fd is None:
            return True
        self._segment.files.close(fd)
        return False

    def _try(self, place: int) -> int | None:
        files = self._segment.files
        fd = files.again(self._segment.fd)
        if files.call(fd, lambda fd: self._kernel.take(fd, place, shared=False)):
            return fd
        files.close(fd)
        return None

    def _until(
        self, attempt: Callable[[], T | None], deadline: Deadline, operation: str, what: str, who: Callable[[], str]
    ) -> T:
        """Return what an attempt returns that takes the lock: neither None nor False."""
        pause = _FIRST_PAUSE_S
        while (taken := attempt()) is None or taken is False:
            left = deadline.remaining()
            if left == 0:
                raise CommTimeoutError(
                    f"{operation}: {what} of the ring {self._segment.name!r} is held{who()}, for "
                    f"{deadline.waited():.3g} s now; if that process is stopped, continue or kill it",
                    operation=operation,
                    waited_s=deadline.waited(),
                )
            self._runtime.sleep(pause if left is None else min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        return taken


class _Closing:
    """Gives a lock back at the end of a block."""

    def __init__(self, files: Files, fd: int) -> None:
        self._files = files
        self._fd = fd

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self._files.close(self._fd)
