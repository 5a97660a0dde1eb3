"""Programs over the shipping steps of signals. Every step that others can see is a choice; the folder is a real one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fdcomm.deadline import Deadline
from fdcomm.errors import SignalError, SignalInUseError, SignalMismatchError, SignalNotFoundError
from fdcomm.runtime import Words
from fdcomm.signals.files import NEW, Files
from fdcomm.signals.layout import OwnerInfo
from fdcomm.signals.segment import Segment
from fdcomm.signals.steps import BUSY, UNSEEN, Plan, drive
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.signal_faults import changed
from tests.conformance.signal_world import LAYOUT, NAME, SHIPPING, Book, Programs

__all__ = ("FAULTY", "LARGER", "PROGRAMS", "Bed", "faulty")

_MEMORY: Final = "/dev/shm" if os.path.isdir("/dev/shm") else None
_READS: Final = ("Open", "ShareGuard", "Validate", "Look")


class FolderRuntime:
    """A controlled runtime for which the folder, with its files and locks, is what the tasks share."""

    def __init__(self, controlled: ControlledRuntime) -> None:
        self._controlled = controlled
        self.condition = controlled.condition
        self.monotonic = controlled.monotonic
        self.sleep = controlled.sleep
        self.spawn = controlled.spawn
        self.kill = controlled.kill

    def load(self, words: Words, index: int) -> int:
        """Part of a step."""
        return words[index]

    def store(self, words: Words, index: int, value: int) -> None:
        """Part of a step."""
        words[index] = value

    def point(self, name: str) -> None:
        """The step was taken; the next one may be another task's."""
        step = name.rpartition(".")[2]
        if step not in UNSEEN or step == BUSY:
            self._controlled.access("the folder", change=step not in _READS)

    def look(self) -> None:
        """Announce that the folder is looked at."""
        self._controlled.access("the folder", change=False)


class Bed:
    """A folder, and what the tasks were told."""

    def __init__(self, controlled: ControlledRuntime, programs: Programs = SHIPPING) -> None:
        self.runtime: Any = FolderRuntime(controlled)
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix=f"fdcomm-test-{os.getpid()}-", dir=_MEMORY)
        self.look = Files(self.folder)
        self.books: dict[str, Book] = {}
        self.made: dict[str, Segment] = {}
        self.told: dict[str, str] = {}

    def close(self) -> None:
        """Remove everything."""
        for book in (*self.books.values(), self.look):
            book.abandon()
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        os.rmdir(self.folder)

    # -- what a task does ------------------------------------------------------------------------------------------

    def create(self, who: str, *, insist: bool = False) -> None:
        """Make the signal; its content is the maker's number."""
        number = int(who[-1])

        def fill(data: memoryview) -> None:
            data[:] = number.to_bytes(8, "little")

        plan = Plan(NAME, LAYOUT, fill, OwnerInfo(1000 + number, 1, (1, 2), 3), replace=insist)
        segment = self._run(who, "create", plan, self.runtime)
        if segment is not None:
            self.made[who] = segment

    def attach(self, who: str) -> None:
        """Attach; note whose content is there."""
        segment = self._run(who, "attach", Plan(NAME, LAYOUT, lambda data: None, OwnerInfo(1, 1, (1, 2), 3)))
        if segment is not None:
            self.made[who] = segment
            self.told[who] = f"maker {int.from_bytes(segment.data(), 'little')}"

    def clear(self, who: str) -> None:
        """Clear what this task has made."""
        steps = self.programs["clear"](self.books[who], self.made[who], self.runtime)
        removed = drive("clear", steps, self.runtime, self._deadline())
        self.told[f"{who} clears"] = str(removed)

    def kill(self, who: str) -> None:
        """Kill a task: it stops where it is, and the kernel closes what it had open."""
        self.runtime.kill(who)
        if who in self.books:
            self.books[who].abandon()
        self.made.pop(who, None)
        self.told[who] = "killed"
        self.runtime.point("kill")

    def _run(self, who: str, program: str, *arguments: Any) -> Segment | None:
        book = self.books[who] = Book(self.folder)
        self.runtime.point("begin")
        try:
            segment: Segment = drive(program, self.programs[program](book, *arguments), self.runtime, self._deadline())
        except (SignalInUseError, SignalNotFoundError, SignalMismatchError) as error:
            book.abandon()
            self.told[who] = type(error).__name__
            return None
        except SignalError as error:
            raise AssertionError(str(error)) from error
        self.told[who] = "made"
        return segment

    def _deadline(self) -> Deadline:
        return Deadline(None, self.runtime.monotonic)

    # -- what must hold ----------------------------------------------------------------------------------------------

    def invariant(self) -> None:
        """Whoever has mapped something has a whole segment, and knows when it is not the current one."""
        found = self.look.find(NAME)
        assert found is None or found.size == 64 + 256, f"the name leads to {found}"
        for who, segment in self.made.items():
            if segment.files.open_now:
                current = found is not None and found.inode == segment.found.inode
                assert segment.superseded() != current, f"{who}: superseded is {segment.superseded()}"

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks."""

        def at_the_end() -> None:
            assert self.look.find(NAME + NEW) is None, "half a segment is left"
            final()

        return Scenario(tasks, invariant=self.invariant, final=at_the_end, close=self.close)

    def current(self) -> str:
        """Return who has made the segment that has the name."""
        found = self.look.find(NAME)
        makers = [who for who, s in self.made.items() if who.startswith("maker")]
        return next((w for w in makers if found is not None and self.made[w].found.inode == found.inode), "nobody")


# -- programs ----------------------------------------------------------------------------------------------------------


def two_makers(runtime: ControlledRuntime, programs: Programs = SHIPPING, insist: bool = False) -> Scenario:
    """Two processes make one name while a third attaches."""
    bed = Bed(runtime, programs)

    def final() -> None:
        told = bed.told
        makers = sorted((told["maker 1"], told["maker 2"]))
        assert makers == ["SignalInUseError", "made"] or (insist and makers == ["made", "made"]), f"told {told}"
        assert told[bed.current()] == "made", f"{bed.current()} is current, told {told}"
        assert told["user"] in ("SignalNotFoundError", "maker 1", "maker 2"), f"told {told}"

    return bed.scenario(
        {
            "maker 1": partial(bed.create, "maker 1"),
            "maker 2": partial(bed.create, "maker 2", insist=insist),
            "user": partial(bed.attach, "user"),
        },
        final,
    )


def replaced_while_cleared(runtime: ControlledRuntime, programs: Programs = SHIPPING) -> Scenario:
    """An owner clears while another process insists on the name: what is new is never removed."""
    bed = Bed(runtime, programs)
    bed.create("maker 1")
    bed.attach("user")

    def final() -> None:
        assert (bed.told["maker 2"], bed.current()) == ("made", "maker 2"), f"told {bed.told}"
        assert bed.made["user"].superseded()

    return bed.scenario(
        {"owner": partial(bed.clear, "maker 1"), "maker 2": partial(bed.create, "maker 2", insist=True)}, final
    )


def killed(runtime: ControlledRuntime, programs: Programs = SHIPPING) -> Scenario:
    """A maker is killed at any point of its create, over an older segment; then another one makes the name."""
    bed = Bed(runtime, programs)
    bed.create("maker 0")
    bed.made["maker 0"].close()
    del bed.made["maker 0"]

    def successor() -> None:
        bed.kill("maker 1")
        bed.create("maker 2")

    def final() -> None:
        assert bed.told["maker 2"] == "made", f"told {bed.told}"
        assert bed.current() == "maker 2"
        assert bed.told["user"] in ("maker 0", "maker 1", "maker 2"), f"told {bed.told}"

    return bed.scenario(
        {
            "maker 1": partial(bed.create, "maker 1"),
            "maker 2": successor,
            "user": partial(bed.attach, "user"),
        },
        final,
    )


def made_again(runtime: ControlledRuntime, programs: Programs = SHIPPING) -> Scenario:
    """A process clears and makes the name anew while another attaches twice: it finds the old, the new, or none."""
    bed = Bed(runtime, programs)
    bed.create("maker 1")

    def restart() -> None:
        bed.clear("maker 1")
        bed.create("maker 2")

    def user() -> None:
        bed.attach("user")
        bed.attach("user again")

    def final() -> None:
        assert bed.told["maker 1 clears"] == "True"
        assert bed.current() == "maker 2"
        order = ["maker 1", "SignalNotFoundError", "maker 2"]
        first, second = (order.index(bed.told[who]) for who in ("user", "user again"))
        assert first <= second, f"told {bed.told}"

    return bed.scenario({"restart": restart, "user": user}, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "two makers and a user": (Program("two makers", two_makers), Bound(preemptions=1)),
    "clear and replace": (Program("clear and replace", replaced_while_cleared), Bound(preemptions=2)),
    "a killed maker": (Program("killed", killed), Bound(preemptions=1)),
    "clear and make again": (Program("made again", made_again), Bound(preemptions=2)),
}
LARGER: dict[str, tuple[Program, Bound]] = {
    "two makers and a user, more preemptions": (PROGRAMS["two makers and a user"][0], Bound(preemptions=3)),
    "two makers, one insists": (Program("two makers, insist", partial(two_makers, insist=True)), Bound(preemptions=3)),
    "clear and replace, more preemptions": (PROGRAMS["clear and replace"][0], Bound(preemptions=4, ticks=1)),
    "a killed maker, more preemptions": (PROGRAMS["a killed maker"][0], Bound(preemptions=3)),
    "clear and make again, more preemptions": (PROGRAMS["clear and make again"][0], Bound(preemptions=4)),
}

# fault of tests.conformance.signal_faults -> the program that finds it.
FAULTY: dict[str, Callable[..., Scenario]] = {
    "GuardTaken": two_makers,
    "LockFirst": two_makers,
    "InodeChecked": replaced_while_cleared,
    "Supersedes": killed,
    "TempDropped": killed,
    "ClearMarks": made_again,
}


def faulty(fault: str) -> Program:
    """Return the program of a fault, with that fault."""
    return Program(f"signal without {fault}", partial(FAULTY[fault], programs=changed(fault)))
