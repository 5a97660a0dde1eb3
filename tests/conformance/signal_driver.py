"""The model's state of a real folder and simulated processes, and the steps that lead from one to the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fdcomm.errors import CommTimeoutError, SignalInUseError, SignalMismatchError, SignalNotFoundError, SignalSpaceError
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.layout import SUCCESSOR, TRAILER_BYTES, unpack
from models.kernel import Action
from models.signal import Config, State
from models.signal_state import NOBODY
from tests.conformance.signal_world import NAME, SHIPPING, Process, Programs

__all__ = ("Driver", "ended_with")

_CALLS = ("CallCreate", "CallClear", "CallAttach")


class Driver:
    """Simulated processes, and a look at the folder that does not disturb them."""

    def __init__(self, directory: Path, config: Config, programs: Programs = SHIPPING) -> None:
        self.directory = directory
        self.config = config
        self.processes = [Process(str(directory), number, programs) for number in range(config.processes)]
        self.crashed = False
        self._dead: set[int] = set()
        self._seen: list[int] = []  # a descriptor of every file that was ever made: keeps its inode from use again
        self._inodes: list[int] = []
        self._look = Files(str(directory))

    def end(self) -> None:
        """Let go of everything, and empty the folder."""
        for process in self.processes:
            process.crash()
        for fd in self._seen:
            os.close(fd)
        self._look.abandon()
        for path in self.directory.iterdir():
            path.unlink()

    # -- steps -------------------------------------------------------------------------------------------------------

    def take(self, action: Action, after: State) -> None:
        """Take one step of the model, and end the call if the model says that it is over."""
        name, number = action.name, action.param("process")
        if name == "ForeignCreate":
            (self.directory / NAME).write_bytes(b"foreign")
            self.notice()
            return
        process = self.processes[_known(number)]
        if name == "CallCreate":
            process.call_create(insist=bool(action.param("insist")))
        elif name == "CallClear":
            process.call_clear(self._inodes[_known(action.param("file")) - 1])
        elif name == "CallAttach":
            process.call_attach()
        elif name == "GiveUp":
            process.give_up()
        elif name == "Crash":
            process.crash()
            self.crashed = True
            self._dead.add(process.number)
        elif name == "Restart":
            process.restart()
            self._dead.discard(process.number)
        elif name == "Close" and process.steps is None:
            process.close(self._inodes[_known(action.param("file")) - 1])
        else:
            if name == "NoSpace" and process.files is not None:
                process.files.full = True
            done = process.act()
            if done != name:
                raise AssertionError(f"the code took the step {done or '(its end)'}")
            self.notice()
            if after.pc[process.number] == "idle":
                process.finish()

    def notice(self) -> None:
        """Give a number to a file that is new."""
        for name in (NAME, NAME + NEW):
            found = self._look.find(name)
            if found is not None and found.inode not in self._inodes:
                self._seen.append(os.open(self.directory / name, os.O_RDONLY))
                self._inodes.append(found.inode)

    def inode(self, file: int) -> int:
        """Return the inode of a file of the model."""
        return self._inodes[file - 1]

    # -- state -------------------------------------------------------------------------------------------------------

    def state(self, wanted: State) -> State:
        """Return the state that the folder and the processes are in.

        ``pc``, ``insist``, ``seen`` and ``made`` are where a program is: its next step shows whether it is there.
        """
        kinds: list[str] = []
        marks: list[int] = []
        generations: list[int] = []
        owners: list[Any] = []
        for fd in self._seen:
            size = os.fstat(fd).st_size
            content = os.pread(fd, size, 0)
            trailer = unpack(content[-TRAILER_BYTES:], size)
            word = content[size - TRAILER_BYTES + 8 * SUCCESSOR :][:8] if trailer else b""
            kinds.append(
                "whole" if trailer else "empty" if size == 0 else "foreign" if content.strip(b"\0") else "blank"
            )
            marks.append(int.from_bytes(word, "little", signed=True))
            generations.append(trailer.generation if trailer else 0)
            owners.append(trailer.owner if trailer else None)
        numbers = {inode: number for number, inode in enumerate(self._inodes, 1)}
        rest = self.config.files - len(self._seen)
        guards = {shared: self._holders_of_guard(shared=shared) for shared in (False, True)}
        return wanted._replace(
            name=self._number(NAME, numbers),
            temp=self._number(NAME + NEW, numbers),
            content=(*kinds, *["none"] * rest),
            mark=(*(self._successor(mark, generations) for mark in marks), *[0] * rest),
            lock=(*(self._holder(inode) for inode in self._inodes), *[NOBODY] * rest),
            guard=next(iter(guards[False]), NOBODY) if len(guards[False]) < 2 else -2,
            shared=frozenset(guards[True]),
            pc=tuple(self._pc(number, wanted) for number in range(self.config.processes)),
            owned=tuple(self._owned(process, owners) for process in self.processes),
            attached=tuple(
                frozenset(numbers[segment.found.inode] for _, segment in process.attached) for process in self.processes
            ),
            crashed=self.crashed,
        )

    def _pc(self, number: int, wanted: State) -> str:
        if number in self._dead:
            return "dead"
        if self.processes[number].steps is None:
            return "idle"
        return wanted.pc[number] if wanted.pc[number] not in ("idle", "dead") else "under way"

    def _number(self, name: str, numbers: dict[int, int]) -> int:
        found = self._look.find(name)
        return 0 if found is None else numbers[found.inode]

    def _successor(self, mark: int, generations: list[int]) -> int:
        """A trailer names its successor by generation; the last file of that generation is the one that was meant."""
        if mark <= 0:
            return mark
        return max((number for number, g in enumerate(generations, 1) if g == mark), default=-2)

    def _owned(self, process: Process, owners: list[Any]) -> frozenset[int]:
        """Files that it has a handle of as their maker, or is making and has filled: their trailer names it."""
        books = [*([process.files] if process.files else []), *(book for book, _ in process.owned)]
        made = {os.fstat(fd).st_ino for book in books for fd in book.made & book.open_now}
        return frozenset(
            number
            for number, (inode, owner) in enumerate(zip(self._inodes, owners, strict=True), 1)
            if owner == process.identity and inode in made
        )

    def _holder(self, inode: int) -> int:
        found = [
            process.number
            for process in self.processes
            for book in process.books()
            for fd in book.holders()
            if os.fstat(fd).st_ino == inode
        ]
        fd = os.open(f"/proc/self/fd/{self._seen[self._inodes.index(inode)]}", os.O_RDONLY)
        try:
            free = self._look.lock(fd)
        finally:
            os.close(fd)
        if free != (not found) or len(found) > 1:
            raise AssertionError(f"the lock is {'free' if free else 'taken'}, and {found} believe to hold it")
        return found[0] if found else NOBODY

    def _holders_of_guard(self, *, shared: bool) -> list[int]:
        inode = self.directory.stat().st_ino
        return [
            process.number
            for process in self.processes
            for book in process.books()
            for fd in book.holders(shared=shared)
            if os.fstat(fd).st_ino == inode
        ]


def _known(value: int | None) -> int:
    if value is None:
        raise AssertionError("the action lacks a parameter")
    return value


def ended_with(action: Action, before: State, after: State) -> type[Exception] | None:
    """Return the error that a call must have ended with in this step; None: it has not ended, or it was well."""
    p = action.param("process")
    if p is None or after.pc[p] != "idle" or before.pc[p] in ("idle", "dead"):
        return None
    if action.name == "GiveUp":
        return CommTimeoutError
    if action.name == "DropGuard" and before.pc[p] == "attach-leave":
        return SignalNotFoundError
    if action.name == "Validate":
        return None if before.content[before.seen[p] - 1] == "whole" else SignalMismatchError
    if action.name == "DropGuard" and not before.made[p]:
        return SignalInUseError
    if action.name == "DropGuard" and before.name != before.made[p]:
        return SignalSpaceError
    return None
