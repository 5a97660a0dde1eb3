"""The blocks protocol as a pure object: free lists of cache blocks, the transfers that hold blocks, and resets.

One method per action of ``spec/blocks.toml`` (``tla/blocks/Blocks.tla``). A block is in exactly one place: free, in a
lease that somebody has, or in a task in flight. Every change of place is checked, so no block can be there twice.
What a rank may still write to after its task's result was handled is the late task's, until that has settled.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Literal, TypeAlias

from fdcomm.core.block_tasks import Lease, Task
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("OUTCOMES", "Blocks", "Lease", "Phase", "Task")

Phase: TypeAlias = Literal["open", "resetting", "lost", "closed"]

OUTCOMES = ("ok", "failed", "cancelled")
_FREE, _LEASED, _IN_TASK = 0, 1, 2
_PLACES = ("free", "leased", "in a task")


class Blocks:
    """Free lists of ``device`` blocks, numbered from 0, and of ``host`` blocks, numbered after them."""

    def __init__(self, device: int, host: int) -> None:
        if min(device, host) < 0:
            raise ConfigError(f"device={device} and host={host} must be at least 0")
        self.device = device
        self.host = host
        self.phase: Phase = "open"
        self.generation = 0
        self.issued = 0
        self.leases: dict[int, Lease] = {}
        """By first block."""
        self.tasks: dict[int, Task] = {}
        """Tasks in flight, by index."""
        self._numbers: dict[int, Task] = {}
        self._place = bytearray(device + host)
        self._heaps = (list(range(device)), list(range(device, device + host)))

    # -- the lists -----------------------------------------------------------------------------------------------

    def allocate(self, kind: int, n: int) -> Lease | None:
        """Allocate: the n lowest free blocks of the device (kind 0) or of the host (1). None when there are fewer."""
        self._require_open("Allocate")
        if kind not in (0, 1) or n < 1:
            raise ConfigError(f"allocate: kind={kind!r} must be 0 or 1, and n={n} at least 1")
        heap = self._heaps[kind]
        if len(heap) < n:
            return None
        lease = Lease(tuple(heappop(heap) for _ in range(n)), self.generation)
        self._move(lease, _FREE, _LEASED)
        self.leases[lease.ids[0]] = lease
        return lease

    def free(self, lease: Lease) -> bool:
        """Free: True. FreeStale: False, a reset has taken the blocks back, and nothing is changed.

        Raises:
            ProtocolViolationError: The lease was freed before, is in a task, or is of other lists.
        """
        if lease.generation < self.generation:
            return False
        self._take(lease, "Free")
        self._release(lease, _LEASED)
        return True

    # -- issuing -------------------------------------------------------------------------------------------------

    def reserve(self, source: Lease, target: Lease | None) -> Task:
        """Reserve: the blocks are a new task's. To be followed by :meth:`register` or :meth:`refuse`.

        Raises:
            ProtocolViolationError: A lease is not current, or both are one.
        """
        self._require_open("Reserve")
        if source is target:
            raise ProtocolViolationError("Reserve: source and target are one lease")
        task = Task(self.issued + 1, source, target)
        for lease in task.leases:
            self._look(lease, "Reserve")
        for lease in task.leases:
            self._take(lease, "Reserve")
            self._move(lease, _LEASED, _IN_TASK)
        self.issued = task.index
        self.tasks[task.index] = task
        return task

    def register(self, task: Task, number: int) -> None:
        """Register: the port has taken the task, under this number."""
        self._require_issuing(task, "Register")
        if number in self._numbers:
            raise ProtocolViolationError(f"Register: the port has given the number {number} twice")
        task.number = number
        self._numbers[number] = task

    def refuse(self, task: Task) -> bool:
        """Refuse: the port has not taken the task. True: the leases are the issuer's again; else they are free."""
        self._require_issuing(task, "Refuse")
        del self.tasks[task.index]
        if task.told:
            for lease in task.leases:
                self._release(lease, _IN_TASK)
            return False
        task.told = "refused"
        for lease in task.leases:
            self._give(lease)
        return True

    def find(self, number: int) -> Task | None:
        """Return the task that the port knows under this number, and whose result was not handled."""
        task = self._numbers.get(number)
        return None if task is None or task.late else task

    def find_late(self, number: int) -> Task | None:
        """Return the late task that the port knows under this number."""
        task = self._numbers.get(number)
        return task if task is not None and task.late else None

    # -- results, and who waits ----------------------------------------------------------------------------------

    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        """Handle: the task has ended; ``late``: it has failed, and ranks may be at it until :meth:`settle`.

        Returns what its issuer has now; None when it was told something before, or when all that it gave may be
        written to: then it is free later.
        """
        if outcome not in OUTCOMES or (late and outcome != "failed"):
            what = "no outcome, or none of a late task" if late else "no outcome"
            raise ProtocolViolationError(f"Handle: {outcome!r} is {what}")
        self._require_serving("Handle")
        if task.number is None or self.find(task.number) is not task:
            raise ProtocolViolationError(f"Handle: task {task.index} is over, or has no number yet")
        task.late = late
        if not late:
            self._forget(task)
        left = [lease for lease in task.leases if not (late and lease is task.written)]
        mine = None
        if not task.told:
            task.told = outcome
            wanted = task.source if task.target is None or outcome != "ok" else task.target
            mine = wanted if wanted in left else None
        for lease in left:
            if lease is mine:
                self._give(lease)
            else:
                self._release(lease, _IN_TASK)
        return mine

    def settle(self, task: Task) -> None:
        """Settle: no rank is at a late task any more. What it had is free.

        Raises:
            ProtocolViolationError: It is not late, or there was an end.
        """
        self._require_serving("Settle")
        if task.number is None or self.find_late(task.number) is not task:
            raise ProtocolViolationError(f"Settle: task {task.index} is not late")
        self._forget(task)
        self._release(task.written, _IN_TASK)

    def cancel(self, task: Task) -> bool:
        """Cancel: its issuer gives up. False when it has been told something."""
        if task.told:
            return False
        task.told = "cancelled"
        return True

    # -- resets, and the ends ------------------------------------------------------------------------------------

    def begin_reset(self) -> list[Task]:
        """BeginReset. Returns the tasks whose issuers are told ``cancelled``."""
        self._require_open("BeginReset")
        self.phase = "resetting"
        return self._tell("cancelled")

    def rebuild(self) -> bool:
        """Rebuild: every block is free, and every lease stale. False while a task is in flight."""
        if self.phase != "resetting":
            raise ProtocolViolationError(f"Rebuild: there is no reset; the client is {self.phase}")
        if self.tasks:
            return False
        self.generation += 1
        self.leases.clear()
        self._place = bytearray(self.device + self.host)
        self._heaps = (list(range(self.device)), list(range(self.device, self.device + self.host)))
        self.phase = "open"
        return True

    def lose(self) -> list[Task]:
        """Lose: the port is gone. Returns the tasks whose issuers are told ``lost``."""
        return self._end("Lose", "lost")

    def close(self) -> list[Task]:
        """Close. Returns the tasks whose issuers are told ``closed``."""
        return self._end("Close", "closed")

    # -- reads ---------------------------------------------------------------------------------------------------

    @property
    def serving(self) -> bool:
        """True until the port is lost, or the client closed."""
        return self.phase in ("open", "resetting")

    def count(self, kind: int) -> int:
        """Return how many blocks of a kind are free."""
        return len(self._heaps[kind])

    def free_ids(self) -> list[int]:
        """Return the free blocks, in order."""
        return sorted([*self._heaps[0], *self._heaps[1]])

    def check(self) -> None:
        """Look at every block.

        Raises:
            ProtocolViolationError: One is in no place, or in several.
        """
        where = [(_FREE, block) for heap in self._heaps for block in heap]
        where += [(_LEASED, block) for lease in self.leases.values() for block in lease.ids]
        where += [(_IN_TASK, block) for task in self.tasks.values() for lease in task.held for block in lease.ids]
        wanted = [(place, block) for block, place in enumerate(self._place)]
        if sorted(where, key=lambda item: item[1]) != wanted:
            raise ProtocolViolationError(f"the lists have {sorted(where)}, and the blocks are {wanted}")

    # -- helpers -------------------------------------------------------------------------------------------------

    def _require_open(self, action: str) -> None:
        if self.phase != "open":
            raise ProtocolViolationError(f"{action}: the client is {self.phase}")

    def _forget(self, task: Task) -> None:
        del self.tasks[task.index]
        if task.number is not None:
            del self._numbers[task.number]

    def _require_serving(self, action: str) -> None:
        if not self.serving:
            raise ProtocolViolationError(f"{action}: the client is {self.phase}")

    def _require_issuing(self, task: Task, action: str) -> None:
        if self.tasks.get(task.index) is not task or task.number is not None:
            raise ProtocolViolationError(f"{action}: task {task.index} is not being issued")

    def _look(self, lease: Lease, action: str) -> None:
        if lease.generation != self.generation or self.leases.get(lease.ids[0]) is not lease:
            raise ProtocolViolationError(f"{action}: nobody has a lease of {lease.ids}: freed, in a task, or foreign")

    def _take(self, lease: Lease, action: str) -> None:
        self._look(lease, action)
        del self.leases[lease.ids[0]]

    def _give(self, lease: Lease) -> None:
        self._move(lease, _IN_TASK, _LEASED)
        self.leases[lease.ids[0]] = lease

    def _release(self, lease: Lease, place: int) -> None:
        self._move(lease, place, _FREE)
        for block in lease.ids:
            heappush(self._heaps[block >= self.device], block)

    def _move(self, lease: Lease, place: int, to: int) -> None:
        for block in lease.ids:
            if self._place[block] != place:
                raise ProtocolViolationError(
                    f"block {block} is {_PLACES[self._place[block]]}, and should be {_PLACES[place]}: this is a bug"
                )
        for block in lease.ids:
            self._place[block] = to

    def _tell(self, word: str) -> list[Task]:
        told = [task for task in self.tasks.values() if not task.told]
        for task in told:
            task.told = word
        return told

    def _end(self, action: str, phase: Phase) -> list[Task]:
        self._require_serving(action)
        self.phase = phase
        return self._tell(phase)
