"""What the programs of :mod:`fdcomm.signals.steps` have in common: how they are run, their guard, their plan."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final, NamedTuple, TypeAlias, TypeVar

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, FdcommError
from fdcomm.runtime import Runtime
from fdcomm.signals.files import Files, Found
from fdcomm.signals.layout import TRAILER_BYTES, Layout, OwnerInfo, Trailer, unpack

__all__ = ("BUSY", "UNSEEN", "Plan", "Steps", "drive", "read_trailer", "take_guard")

T = TypeVar("T")
Steps: TypeAlias = Generator[str, None, T]

BUSY: Final = "Busy"
"""The guard is taken. The next step tries again."""

UNSEEN: Final = (BUSY, "OpenGuard", "OpenOld", "OpenAgain", "OpenToAsk", "LetGo")

_FIRST_PAUSE_S: Final = 0.0002
_LONGEST_PAUSE_S: Final = 0.01


class Plan(NamedTuple):
    """What a create makes, or an attach expects.

    Attributes:
        name: The whole name.
        layout: Data part. For an attach, ``nbytes`` 0 takes what is there.
        fill: Writes the first content into the data part.
        owner: The calling process.
        replace: Replace what a live process owns, or what other software made.
        on_own: Called before a segment of this very process is replaced.
        validate: Of an attach: require the same dtype, shape and size.
    """

    name: str
    layout: Layout
    fill: Callable[[memoryview], None]
    owner: OwnerInfo
    replace: bool = False
    on_own: Callable[[], None] = lambda: None
    validate: bool = True


def drive(program: str, steps: Steps[T], runtime: Runtime, deadline: Deadline) -> T:
    """Run a program to its end. Every step is a point ``signal.<program>.<step>``."""
    pause = _FIRST_PAUSE_S
    try:
        step = next(steps)
        while True:
            try:
                runtime.point(f"signal.{program}.{step}")
                if step == BUSY:
                    if deadline.expired():
                        raise _guard_timeout(program, deadline)
                    left = deadline.remaining()
                    runtime.sleep(pause if left is None else min(pause, left))
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
            except BaseException as error:  # noqa: BLE001 - the program undoes what it did, and raises it again
                step = steps.throw(error)
            else:
                step = next(steps)
    except StopIteration as end:
        value: T = end.value
        return value


def _guard_timeout(program: str, deadline: Deadline) -> FdcommError:
    return CommTimeoutError(
        f"{program}: another process has been changing a signal's name for {deadline.waited():.3g} s; if it is "
        "stopped, continue or kill it",
        operation=program,
        waited_s=deadline.waited(),
    )


def take_guard(files: Files, action: str, *, shared: bool = False) -> Steps[int]:
    fd = files.open_directory()
    try:
        yield "OpenGuard"
        while not files.lock(fd, shared=shared):
            yield BUSY
        yield action
    except BaseException:
        files.close(fd)
        raise
    return fd


def read_trailer(files: Files, fd: int, found: Found) -> Trailer | None:
    if not found.regular or found.size < TRAILER_BYTES:
        return None
    return unpack(files.read(fd, TRAILER_BYTES, found.size - TRAILER_BYTES), found.size)
