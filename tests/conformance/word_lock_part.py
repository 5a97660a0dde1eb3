"""The lock between processes as :mod:`tests.conformance.word_walks` drives it, on files of a simulated machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.signals.files import Files, Found
from fdcomm.signals.lock import IPCLock
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Op, Task
from models import word_lock
from models.kernel import Action
from tests.conformance.word_walks import Part, Walk

__all__ = ("LockPart", "Machine", "MachineFiles")


class Machine:
    """One name, the files that have had it, and the locks of the kernel."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.runtime = runtime
        self.path = 0
        self.made = 0
        self.files: dict[int, int] = {}
        self.owners: dict[int, str] = {}
        self.locks: dict[int, str] = {}
        self._descriptors = 0

    def open(self, make: bool) -> int:
        """Open the file that has the name."""
        self.step("open")
        if not self.path and not make:
            raise FileNotFoundError
        if not self.path:
            self.made += 1
            self.path = self.made
        self._descriptors += 1
        self.files[self._descriptors] = self.path
        task = self.runtime.scheduler.current
        self.owners[self._descriptors] = "" if task is None else task.name
        self.changed()
        return self._descriptors

    def lock(self, fd: int, kind: str) -> bool:
        """flock without waiting: what was held is given back first."""
        self.step(f"lock {kind}")
        self.locks.pop(fd, None)
        others = [
            self.locks[other] for other, file in self.files.items() if file == self.files[fd] and other in self.locks
        ]
        free = not others or (kind == "shared" and "exclusive" not in others)
        if free:
            self.locks[fd] = kind
        self.changed()
        return free

    def close(self, fd: int) -> None:
        """Close a descriptor, and so give back its lock."""
        self.files.pop(fd, None)
        self.locks.pop(fd, None)
        self.changed()

    def kill(self, name: str) -> None:
        """The kernel closes what a dead task has open."""
        for fd in [fd for fd in self.files if self.owners[fd] == name]:
            self.close(fd)

    def step(self, what: str) -> None:
        """Announce a system call."""
        task = self.runtime.scheduler.step(Op("change", what))
        if task is not None:
            self.runtime.scheduler.touch("files", task, change=True)

    def changed(self) -> None:
        """Note the new state."""
        state = (self.path, self.made, tuple(sorted(self.files.items())), tuple(sorted(self.locks.items())))
        self.runtime.scheduler.chains["state of the files"] = hash(state)


class MachineFiles(Files):
    """The system calls of a handle, on a machine."""

    def __init__(self, machine: Machine) -> None:
        super().__init__("nowhere")
        self.machine = machine

    @property
    def open_now(self) -> frozenset[int]:
        return frozenset(self.machine.files)

    def open_or_make(self, name: str) -> int:
        return self.machine.open(make=True)

    def open(self, name: str) -> int:
        return self.machine.open(make=False)

    def lock(self, fd: int, *, shared: bool = False) -> bool:
        return self.machine.lock(fd, "shared" if shared else "exclusive")

    def status(self, fd: int) -> Found:
        return Found(1, self.machine.files[fd], 0, True, 0)

    def find(self, name: str) -> Found | None:
        self.machine.step("find")
        return Found(1, self.machine.path, 0, True, 0) if self.machine.path else None

    def unlink(self, name: str) -> bool:
        self.machine.step("unlink")
        self.machine.path = 0
        self.machine.changed()
        return True

    def close(self, fd: int) -> None:
        self.machine.step("close")
        self.machine.close(fd)


class LockPart(Part):
    """acquire, release and clear."""

    config: word_lock.Config

    def __init__(self, config: word_lock.Config) -> None:
        super().__init__(config, word_lock.IpcLock(config))
        self.calls: dict[int, str] = {}

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        self.machine = machine = Machine(scheduling)
        self.calls = {}

        def run(process: int, lock: IPCLock) -> None:
            while True:
                scheduling.access(f"what {process} calls", change=False)
                call = self.calls.pop(process)
                if call == "acquire":
                    lock.acquire(process in self.config.sharers, None)
                elif call == "release":
                    lock.release()
                elif call == "clear":
                    lock.clear()

        programs: dict[int, Callable[[], None]] = {}
        for process in range(self.config.processes):
            files = MachineFiles(machine)
            programs[process] = partial(run, process, IPCLock("x", runtime=scheduling, files=files))
        # To open a handle makes the file. In the model it is made by the first acquire.
        machine.path = machine.made = 0
        return programs

    def about_to(self, state: Any, process: int) -> str:
        pc, calls = state.pc[process], f"read what {process} calls"
        kind = "shared" if process in self.config.sharers else "exclusive"
        return {
            "idle": calls,
            "again": "change open",
            "take": f"change lock {kind}",
            "check": "change find",
            "holds": calls,
            "try": "change lock exclusive",
            "look": "change find",
            "remove": "change unlink",
            "close": "change close",
            "dead": "killed",
        }[pc]

    def differs(self, state: Any) -> str:
        machine, processes = self.machine, range(self.config.processes)
        mine = {int(machine.owners[fd].split()[1]): fd for fd in machine.files}
        found = {
            "path": machine.path,
            "made": machine.made,
            "fd": tuple(machine.files[mine[p]] if p in mine else 0 for p in processes),
            "locked": tuple(machine.locks.get(mine.get(p, 0), "no") for p in processes),
        }
        return "; ".join(f"{name} is {value}" for name, value in found.items() if value != getattr(state, name))

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        process = action.param("process")
        if action.name == "Kill":
            scheduler.kill(f"process {process}")
            self.machine.kill(f"process {process}")
            return True
        return False

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        """A call begins with its choice; the end of a system call that finds nothing to do is no step of its own."""
        del scheduler, task
        before, _, after = then[0]
        process = action.params[0][1]
        if action.name == "Open":
            self.calls[process] = "acquire"
            return 1 if before.pc[process] == "again" else 2
        if action.name == "Release":
            self.calls[process] = "release"
            return 2
        if action.name == "BeginClear":
            self.calls[process] = "clear"
            if before.pc[process] == "idle":
                return 2
            if process in self.config.sharers:
                # flock gives back what it is to change before it looks: the first half of TryTake's system call.
                fd = next(fd for fd in self.machine.files if self.machine.owners[fd] == f"process {process}")
                self.machine.locks.pop(fd)
            return 1
        return 2 if action.name == "CheckFile" and after.pc[process] == "again" else 1
