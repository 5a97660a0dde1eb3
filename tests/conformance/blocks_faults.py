"""Faulty cores of blocks: each of these must be found."""

from __future__ import annotations

from fdcomm.core.blocks import Blocks, Lease, Task

__all__ = ("CORE",)


class LosesTarget(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        mine = super().handle(task, outcome, late)
        if mine is not None and task.target is not None:
            del self.leases[mine.ids[0]]
        return mine


class FreesSource(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        if task.target is None and not task.told and outcome == "ok":
            task.told = "x"
            super().handle(task, outcome, late)
            task.told = outcome
            return None
        return super().handle(task, outcome, late)


class FailedMoves(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        mine = super().handle(task, "ok" if outcome == "failed" and not late else outcome, late)
        if task.told == "ok":
            task.told = outcome
        return mine


class CancelFrees(Blocks):
    def cancel(self, task: Task) -> bool:
        done = super().cancel(task)
        if done:
            for lease in task.leases:
                self._release(lease, 2)
        return done


class CancelUndoes(Blocks):
    def cancel(self, task: Task) -> bool:
        task.told = ""
        return super().cancel(task)


class RebuildsAtOnce(Blocks):
    def rebuild(self) -> bool:
        self.tasks.clear()
        return super().rebuild()


class RebuildWaitsForNumbers(Blocks):
    def rebuild(self) -> bool:
        self.tasks = {index: task for index, task in self.tasks.items() if task.number is not None}
        return super().rebuild()


class StaleFrees(Blocks):
    def free(self, lease: Lease) -> bool:
        if lease.generation < self.generation and lease.ids[0] in self.leases:
            lease = self.leases[lease.ids[0]]
        return super().free(lease)


class ResetTellsNobody(Blocks):
    def begin_reset(self) -> list[Task]:
        self.phase = "resetting"
        return []


class EndTellsNobody(Blocks):
    def lose(self) -> list[Task]:
        self.phase = "lost"
        return []


class ResetGivesOut(Blocks):
    def _require_open(self, action: str) -> None:
        if self.phase != "resetting":
            super()._require_open(action)


class RefuseForgets(Blocks):
    def refuse(self, task: Task) -> bool:
        told = task.told
        back = super().refuse(task)
        if back and not told:
            for lease in task.leases:
                self._take(lease, "Refuse")
                self._release(lease, 1)
        return back


class RefuseAlwaysGives(Blocks):
    def refuse(self, task: Task) -> bool:
        told, task.told = task.told, ""
        super().refuse(task)
        task.told = told or task.told
        return True


class AnyBlocks(Blocks):
    def allocate(self, kind: int, n: int) -> Lease | None:
        return super().allocate(kind if self.count(kind) >= n else 1 - kind, n)


class HighestFirst(Blocks):
    def allocate(self, kind: int, n: int) -> Lease | None:
        heap = self._heaps[kind]
        heap.sort(reverse=True)
        if len(heap) > 1 and n == 1:
            lease = Lease((heap.pop(0),), self.generation)
            heap.sort()
            self._move(lease, 0, 1)
            self.leases[lease.ids[0]] = lease
            return lease
        heap.sort()
        return super().allocate(kind, n)


class HandlesAfterTheEnd(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        phase, self.phase = self.phase, "open"
        try:
            return super().handle(task, outcome, late)
        finally:
            self.phase = phase


class FreesWithTheResult(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        return super().handle(task, outcome)


class KeepsSource(Blocks):
    def handle(self, task: Task, outcome: str, late: bool = False) -> Lease | None:
        mine = super().handle(task, outcome, late)
        if mine is not None and late:
            self._take(mine, "Handle")
            self._move(mine, 1, 2)
            return None
        return mine


class RebuildsOverLate(Blocks):
    def rebuild(self) -> bool:
        self.tasks = {index: task for index, task in self.tasks.items() if not task.late}
        return super().rebuild()


class SettlesAnything(Blocks):
    def settle(self, task: Task) -> None:
        task.late = True
        self._numbers.setdefault(task.number or 0, task)
        super().settle(task)


class SettlesAfterTheEnd(Blocks):
    def settle(self, task: Task) -> None:
        phase, self.phase = self.phase, "open"
        try:
            super().settle(task)
        finally:
            self.phase = phase


CORE: dict[str, type[Blocks]] = {
    fault.__name__: fault
    for fault in (
        LosesTarget,
        FreesSource,
        FailedMoves,
        CancelFrees,
        CancelUndoes,
        RebuildsAtOnce,
        RebuildWaitsForNumbers,
        StaleFrees,
        ResetTellsNobody,
        EndTellsNobody,
        ResetGivesOut,
        RefuseForgets,
        RefuseAlwaysGives,
        AnyBlocks,
        HighestFirst,
        HandlesAfterTheEnd,
        FreesWithTheResult,
        KeepsSource,
        RebuildsOverLate,
        SettlesAnything,
        SettlesAfterTheEnd,
    )
}
