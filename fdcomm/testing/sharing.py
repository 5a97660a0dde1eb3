"""What makes two executions the same: histories, and which data tasks really share."""

from __future__ import annotations

from collections.abc import Hashable

from fdcomm.testing.tasks import Task

__all__ = ("Histories", "Sharing")


class Histories:
    """Numbers for histories: equal histories, and only those, get the same number.

    A task's history is the results of its operations. A task is a deterministic function of it, so two states with
    equal histories of all tasks, equal words and equal locks are the same state. Data under a lock is covered by the
    lock's chain: which histories held the lock, in which order.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, history: Hashable) -> int:
        """Return the history's number."""
        numbers = self._numbers
        return numbers.setdefault(history, len(numbers) + 1)


class Sharing:
    """What tasks use together, as far as it is known. It only grows; ``news`` is set when it did.

    A word is private to a lock for as long as every use of it was made under that lock. An object that is announced
    with ``access()`` is constant for as long as nobody changed it.
    """

    def __init__(self) -> None:
        self.news = False
        self.shared: set[str] = set()
        self._locks: dict[str, frozenset[str]] = {}

    def use(self, word: str, held: list[str]) -> None:
        """Note a load or store of a word under these locks."""
        locks = self._locks.get(word)
        if locks is not None and locks <= set(held):
            return
        self._locks[word] = frozenset(held) if locks is None else locks.intersection(held)
        if not self._locks[word]:
            self._share(word)

    def change(self, name: str) -> None:
        """Note a change of an announced object."""
        self._share(name)

    def is_local(self, task: Task, *, spurious: bool) -> bool:
        """Return True if nothing that other tasks can do before the task's next operation depends on that operation.

        ``spurious`` says that waits may still end without a reason, which a notification would forestall.
        """
        kind, name = task.op.kind, task.op.name
        if f"task {task.name}" in self.shared:
            return False  # somebody may kill it before its next operation
        if kind in ("start", "point", "release", "wait"):
            return True  # others cannot take a lock that is held, and cannot notify without it
        if kind == "notify":
            return not spurious
        if kind in ("load", "store"):
            return bool(task.held) and name.partition(" =")[0] not in self.shared
        return kind == "read" and name not in self.shared

    def _share(self, name: str) -> None:
        if name not in self.shared:
            self.shared.add(name)
            self.news = True
