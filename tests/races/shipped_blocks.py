"""The published prefix cache's side of swaps, written anew from its description, for race tests. Nothing is corrected.

One call is one step of one of its threads; the order of the calls is the race.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ("ShippedCache", "ShippedStorage")


class ShippedCache:
    """Host blocks; task ``t`` brings host block ``t`` back to the device, which sets the host block free."""

    def __init__(self, blocks: int = 1) -> None:
        self.blocks = blocks
        self.free: list[int] = []
        self.events: dict[int, bool] = {}
        self.status = "normal"
        self.queue: list[int] = []
        self.running: list[int] = []
        self.results: list[int] = []
        self.paused = False
        self.full = False
        self.receiver = True
        self.locked = False

    # -- who issues --------------------------------------------------------------------------------------------------

    def issue(self, task: int) -> str:
        """Record an event, and put the task in the queue; all under the lock of scheduling."""
        self.locked = True
        self.events[task] = False
        if self.full:
            return "waits for room"
        self.queue.append(task)
        self.locked = False
        return "issued"

    def go_on(self, task: int) -> None:
        """There is room for a task whose issue waits."""
        self.full = False
        self.queue.append(task)
        self.locked = False

    def wait(self, task: int) -> str:
        """One turn of the wait: it looks, sleeps 0.1 s, and gives up when the status is not normal."""
        if not self.events[task] and self.status == "normal":
            return "waits"
        done = self.events[task]
        del self.events[task]
        return "done" if done else "left"

    def schedule(self) -> str:
        """What every step of scheduling begins with."""
        return "blocked" if self.locked else "scheduled"

    # -- the ranks ---------------------------------------------------------------------------------------------------

    def pull(self) -> None:
        """Take the next task."""
        if self.queue and not self.paused:
            self.running.append(self.queue.pop(0))

    def finish(self) -> None:
        """Post the result of what runs."""
        if self.running:
            self.results.append(self.running.pop(0))

    # -- the receiver ------------------------------------------------------------------------------------------------

    def pop(self) -> int:
        """Take a result."""
        return self.results.pop(0)

    def handle(self, task: int, *, bad: bool = False) -> None:
        """Put the block on the free list, and wake who waits. What raises ends the thread, if the status is normal."""
        if not self.receiver:
            return
        try:
            if bad:
                raise ValueError("the node of this task is not in the tree")
            self.free.append(task)
            if task in self.events:
                self.events[task] = True
        except ValueError:
            self.receiver = self.status != "normal"

    # -- the reset ---------------------------------------------------------------------------------------------------

    def reset(self, form: str = "clearing") -> Iterator[str]:
        """Yield what each step waits for, until it has it.

        ``clearing`` waits until nothing runs, then until no result is queued; ``queued``, an earlier version, until
        nothing is queued; ``updating`` and ``control`` wait for nothing, and ``control`` leaves the status alone.
        """
        if form != "control":
            self.status = "resetting"
        while form in ("clearing", "queued") and (self.running or (form == "queued" and self.queue)):
            yield "tasks"
        while form in ("clearing", "queued") and self.results:
            yield "results"
        yield "the maps"
        self.events.clear()
        self.free = list(range(1, self.blocks + 1))
        self.status = "normal"
        yield "nothing"

    def finish_reset(self, reset: Iterator[str], turns: int = 10) -> bool:
        """Let the reset have its turns; return whether it is over."""
        return any(waits == "nothing" for _, waits in zip(range(turns), reset, strict=False))


class ShippedStorage:
    """Results of reads from a storage: every rank's are collected, and then replaced by the shortest."""

    def __init__(self, ranks: int) -> None:
        self._ranks = ranks
        self.blocks: dict[int, list[object]] = {}

    def result(self, task: int, blocks: list[object]) -> None:
        """A rank has read these blocks."""
        found = self.blocks.setdefault(task, [])
        found.append(blocks)
        if len(found) == self._ranks:
            self.blocks[task] = min((one for one in found if isinstance(one, list)), key=len)
