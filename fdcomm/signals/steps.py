"""The life of a segment, one step after the other: create, attach, clear (``spec/signal.toml``).

Each program is a generator that yields the name of a step when it has taken it. Production runs it to its end
(:func:`drive`); tests run several side by side, in any order, and stop one between any two steps, as a kill does.
Steps that are no action of the contract, because nobody can see them from outside, are in :data:`UNSEEN`.

When a program fails, names and marks are as they were. Descriptors are the handle's: whoever runs the program lets go
of them.
"""

from __future__ import annotations

import contextlib
import errno

from fdcomm.errors import ClosedError, FdcommError, SignalError, SignalMismatchError, SignalNotFoundError
from fdcomm.runtime import Runtime
from fdcomm.signals.creating import create
from fdcomm.signals.files import Files, Found
from fdcomm.signals.layout import SUCCESSOR, UNLINKED, Trailer
from fdcomm.signals.segment import Segment
from fdcomm.signals.stepping import BUSY, UNSEEN, Plan, Steps, drive, read_trailer, take_guard

__all__ = ("BUSY", "UNSEEN", "Plan", "Steps", "attach", "clear", "create", "drive", "owner_alive")


def attach(files: Files, plan: Plan) -> Steps[Segment]:
    """Map the segment that has the name. Changes nothing that others can see."""
    guard = None
    fd = _open(files, plan.name)
    yield "Open"
    if fd is None:
        # One may be about to be named. When the guard is free, none is.
        guard = yield from take_guard(files, "ShareGuard", shared=True)
        fd = _open(files, plan.name)
        yield "Open"
        files.close(guard)
        yield "DropGuard"
    if fd is None:
        raise SignalNotFoundError(
            f"there is no signal {plan.name!r} in {files.directory}: its creator has not made it yet or has removed it",
            operation="attach",
        )
    found = files.status(fd)
    trailer = read_trailer(files, fd, found)
    refused = _mismatch(plan, found, trailer)
    segment = None
    if refused is None:
        size = found.size if trailer is None else trailer.layout.nbytes
        segment = Segment(files, plan.name, found, fd, trailer, plan.layout.nbytes or size)
        files.keep_after_fork(fd)
    yield "Validate"
    if refused is not None or segment is None:
        raise refused or SignalError("no segment")
    return segment


def clear(files: Files, segment: Segment, runtime: Runtime) -> Steps[bool]:
    """Remove the segment that this handle owns, unless another one has its name. Returns whether it was removed."""
    guard = yield from take_guard(files, "TakeGuard")
    marked = False
    try:
        here = segment.has_name()
        yield "Look"
        if here:
            marked = True
            runtime.store(segment.words, SUCCESSOR, UNLINKED)
            segment.wake()
            yield "MarkGone"
            files.unlink(segment.name)
            marked = False
            yield "Unlink"
        files.close(guard)
        yield "DropGuard"
    except BaseException:
        with contextlib.suppress(OSError, ClosedError):
            if marked and segment.has_name():
                runtime.store(segment.words, SUCCESSOR, 0)
        files.close(guard)
        raise
    segment.close()
    yield "Close"
    return here


def owner_alive(files: Files, segment: Segment) -> Steps[bool]:
    """Find out whether some process holds the owner's lock. Under the guard: no create may take us for an owner."""
    guard = yield from take_guard(files, "ShareGuard", shared=True)
    asking = -1
    try:
        asking = files.again(segment.fd)
        yield "OpenToAsk"
        return not files.lock(asking, shared=True)
    finally:
        files.close(asking)
        files.close(guard)


def _open(files: Files, name: str) -> int | None:
    try:
        return files.open(name)
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = "; it belongs to another user" if error.errno in (errno.EACCES, errno.EPERM) else ""
        raise SignalError(
            f"cannot open the signal {name!r} in {files.directory}: {error.strerror}{hint}",
            operation="attach",
        ) from error


def _mismatch(plan: Plan, found: Found, trailer: Trailer | None) -> FdcommError | None:
    wanted, there = plan.layout, None if trailer is None else trailer.layout
    if not found.regular:
        return _different(plan.name, "is not a file")
    if there is None or not plan.validate:
        room = found.size if there is None else there.nbytes
        if plan.validate:
            return _different(
                plan.name, "has no trailer of fdcomm; write validate=False to map what other software made"
            )
        if room == 0 or room < wanted.nbytes:
            return _different(plan.name, f"has {room} bytes, and {wanted.nbytes or 'some'} are needed")
        return None
    fits = wanted == there if wanted.dtype else wanted.nbytes in (0, there.nbytes)
    return None if fits else _different(plan.name, f"holds {there}, and the template is {wanted}")


def _different(name: str, reason: str) -> FdcommError:
    return SignalMismatchError(f"the signal {name!r} {reason}", operation="attach")
