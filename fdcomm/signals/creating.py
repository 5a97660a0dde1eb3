"""Create: make a segment, and give it its name, in the place of one that has no owner any more."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Final

from fdcomm.errors import ClosedError, FdcommError, SignalError, SignalInUseError, SignalSpaceError
from fdcomm.runtime import Runtime
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.layout import SUCCESSOR, TRAILER_BYTES, pack, segment_bytes, unpack
from fdcomm.signals.segment import Segment
from fdcomm.signals.stepping import Plan, Steps, read_trailer, take_guard

__all__ = ("create",)

# What open() says of a name that leads to something else than a file of ours.
_NOT_OURS: Final = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR)
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM)


def create(files: Files, plan: Plan, runtime: Runtime) -> Steps[Segment]:
    """Make a segment and give it its name, in the place of one that has no owner any more."""
    guard = yield from take_guard(files, "TakeGuard")
    work = _Create(files, plan, runtime)
    try:
        while True:
            if work.open_old():
                yield "OpenOld"
            refused = work.examine()
            yield "Examine"
            if refused is not None:
                break
            files.unlink(plan.name + NEW)
            yield "DropTemp"
            made = files.make(plan.name + NEW)
            work.has_temp = True
            yield "MakeTemp"
            try:
                files.reserve(made, segment_bytes(plan.layout.nbytes))
            except OSError as error:
                refused = _no_space(files, plan, error)
                yield "NoSpace"
                files.unlink(plan.name + NEW)
                yield "DropTemp"
                break
            yield "Allocate"
            again = files.open(plan.name + NEW)
            yield "OpenAgain"
            segment = work.fill(again)
            yield "Fill"
            if not files.lock(made):
                raise SignalError(f"somebody else has locked the new segment {plan.name!r}", operation="create")
            segment.own(made)
            yield "TakeLock"
            if work.old is not None:
                work.mark(work.old, _generation(work.old))
                yield "Supersede"
            if work.seen is not None:
                files.rename(plan.name + NEW, plan.name)
                work.published, work.has_temp = segment, False
                yield "Publish"
                break
            if files.link(plan.name + NEW, plan.name):
                work.published = segment
                yield "Publish"
                files.unlink(plan.name + NEW)
                work.has_temp = False
                yield "DropTemp"
                break
            # Other software has made the name since it was found free.
            files.close(again)
            files.close(made)
            yield "Publish"
            files.unlink(plan.name + NEW)
            yield "DropTemp"
        if work.seen is not None:
            files.close(work.seen)
            yield "LetGo"
        files.close(guard)
        yield "DropGuard"
    except BaseException:
        work.undo(guard)
        files.close(guard)
        raise
    if refused is not None:
        raise refused
    files.keep_after_fork(segment.fd)
    return segment


class _Create:
    """What one create has found and done."""

    def __init__(self, files: Files, plan: Plan, runtime: Runtime) -> None:
        self.files, self.plan, self.runtime = files, plan, runtime
        self.seen: int | None = None
        self.old: Segment | None = None
        self.has_temp = False
        self.published: Segment | None = None
        self._marked: Segment | None = None
        self._problem: FdcommError | None = None

    def open_old(self) -> bool:
        """Open what has the name now."""
        self.seen = self.old = self._problem = None
        try:
            self.seen = self.files.open(self.plan.name)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise
            self._problem = _in_use(self.plan.name, f"is taken by something else ({error.strerror})")
            return False
        return True

    def examine(self) -> FdcommError | None:
        """Look at what was opened; return why it may not be replaced."""
        if self.seen is None:
            return self._problem
        files, plan, seen = self.files, self.plan, self.seen
        found = files.status(seen)
        trailer = read_trailer(files, seen, found)
        if not found.regular:
            return _in_use(plan.name, "is not a file")
        if trailer is None:
            reason = "was made by other software; replace=True replaces it, create=False with validate=False attaches"
            return None if plan.replace else _in_use(plan.name, reason)
        stale, own = files.lock(seen), trailer.owner == plan.owner
        allowed = stale or own or plan.replace
        if allowed or trailer.successor != 0:
            old = Segment(files, plan.name, found, seen, trailer, trailer.layout.nbytes)
            if trailer.successor != 0:
                # Under the guard no replacement is under way: whoever set this died before it could change the name.
                self.runtime.store(old.words, SUCCESSOR, 0)
            self.old = old if allowed else None
        if own and not stale:
            plan.on_own()
        if allowed:
            return None
        pid = trailer.owner.pid
        return _in_use(plan.name, f"belongs to process {pid}, which is alive; replace=True replaces it all the same")

    def fill(self, fd: int) -> Segment:
        """Write the content and the trailer of the new file."""
        plan = self.plan
        content = pack(plan.layout, plan.owner, 1 if self.old is None else _generation(self.old))
        found = self.files.status(fd)
        segment = Segment(self.files, plan.name, found, fd, unpack(content, found.size), plan.layout.nbytes)
        plan.fill(segment.data())
        memoryview(segment.memory).cast("B")[-TRAILER_BYTES:] = content
        return segment

    def mark(self, segment: Segment, value: int) -> None:
        """Tell those who have a segment mapped that it is not the current one."""
        self._marked = segment
        self.runtime.store(segment.words, SUCCESSOR, value)
        segment.wake()

    def undo(self, guard: int) -> None:
        """Leave no trace of a create that failed."""
        with contextlib.suppress(OSError, ClosedError):
            if guard not in self.files.open_now and not self.files.lock(self.files.open_directory()):
                return  # the segment stays; it has no owner, so it stops nobody
            if self.published is not None and self.published.has_name():
                self.files.unlink(self.plan.name)
            elif self._marked is not None and self._marked.has_name():
                self.runtime.store(self._marked.words, SUCCESSOR, 0)
        with contextlib.suppress(OSError, ClosedError):
            if self.has_temp:
                self.files.unlink(self.plan.name + NEW)


def _generation(old: Segment) -> int:
    """Return the generation of the segment that comes after this one."""
    return 1 if old.trailer is None else old.trailer.generation + 1


def _in_use(name: str, reason: str) -> FdcommError:
    return SignalInUseError(f"the signal {name!r} {reason}", operation="create")


def _no_space(files: Files, plan: Plan, error: OSError) -> FdcommError:
    size = segment_bytes(plan.layout.nbytes)
    hint = "; free space there (df shows it)" if error.errno in _NO_SPACE else ""
    found = SignalSpaceError(
        f"cannot reserve {size} bytes for the signal {plan.name!r} in {files.directory}: {error.strerror}{hint}",
        operation="create",
    )
    found.errno = error.errno or errno.ENOSPC
    found.strerror = error.strerror or os.strerror(found.errno)
    return found
