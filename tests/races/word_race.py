"""Races of typed access: explored under the controlled scheduler, or re-enacted with FastDeploy's lock file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fdcomm.errors import CommTimeoutError
from fdcomm.signals.lock import IPCLock
from fdcomm.testing import Bound, Exhaustive, explore
from tests.races.program_race import ProgramRace, failure_in_all
from tests.races.race import Race
from tests.schedules.word_programs import race

__all__ = ("ExploredRace", "LockRace", "OurLocks", "ShippedLocks")


@dataclass(frozen=True)
class ExploredRace(ProgramRace):
    """All schedules of a program: one fails on the published steps, none on ours."""

    def run(self, *, shipped: bool) -> str:
        """Explore all schedules."""
        return failure_in_all(explore(race(self.program, shipped=shipped), Exhaustive(), Bound()))


class _ShippedLock:
    """flock on a file that is opened once and removed by ``clear``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def acquire(self) -> bool:
        """Take the lock if it is free: the published one would wait."""
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def clear(self) -> None:
        """Close and remove."""
        self.close()
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close, as the end of the process does."""
        with contextlib.suppress(OSError):
            os.close(self._fd)


class _OurLock(IPCLock):
    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        try:
            self.acquire(timeout=0)
        except CommTimeoutError:
            return False
        return True


class ShippedLocks:
    """Processes are handles: their locks exclude each other as those of processes do."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))

    def open(self) -> _ShippedLock:
        """Open the lock."""
        lock = _ShippedLock(self._folder / "fd_lock_race")
        self._stack.callback(lock.close)
        return lock

    def __enter__(self) -> ShippedLocks:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


class OurLocks:
    """The same, with ours."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._folder = self._stack.enter_context(tempfile.TemporaryDirectory())

    def open(self) -> _OurLock:
        """Open the lock."""
        lock = _OurLock("race", directory=self._folder)
        self._stack.callback(lock.close)
        return lock

    def __enter__(self) -> OurLocks:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


@dataclass(frozen=True)
class LockRace(Race):
    """A race of the lock between processes."""

    shipped: Callable[..., str]
    ours: Callable[..., str]

    def on_shipped(self) -> str:
        """Return what went wrong on the published lock."""
        with ShippedLocks() as variant:
            return self.shipped(variant)

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with OurLocks() as variant:
            return self.ours(variant)
