"""From the memory accesses that processes at a ring noted to the actions that they are.

Accesses are recorded in their order, each with a system call, so a store is in memory before the next access of
anybody: each store is followed by its Flush. Loads in which a process only polls are no actions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ("Reading",)

Record = dict[str, Any]
Event = dict[str, Any]
VOID = -1


class Reading:
    """What is known of each process from its own records: which of its accesses are actions.

    Args:
        ranks: Number of ranks.
        slots: Number of slots.
        joins: Ranks that have a second reader.
    """

    def __init__(self, ranks: int, slots: int, joins: int) -> None:
        self._lines = ranks + joins
        self._writer, self._clearer = self._lines, self._lines + 1
        size = self._clearer + 1
        self._slots = slots
        self._attached = [False] * size
        self._killed = [False] * size
        self._doing = [""] * size
        self._position = [0] * size
        self._lives = [0] * ranks
        self._looks = self._free = False
        self._low = self._head = self._seen = 0

    def read(self, record: Record) -> Iterator[Event]:
        """Yield the actions that a record stands for."""
        what, process, value = record["op"], record["process"], record["value"]
        if what in ("load", "store"):
            steps = {self._writer: self._write, self._clearer: self._clear}.get(process, self._get)
            yield from steps(process, what, record["word"], record["place"], value)
        elif what == "attached":
            if process == self._writer and self._killed[process]:
                self._head, self._free = self._seen, False
                yield _action("TakeOver", process, self._head)
            self._attached[process] = True
        elif what == "kill":
            self._attached[process], self._killed[process], self._doing[process] = False, True, ""
            self._looks = self._looks and process != self._writer
            yield _action("Kill", process)
        elif what == "got":
            yield _action("Got", process, value)
        elif what == "look":
            self._looks = True
            if not self._free:
                self._low = self._head
                yield _action("StartPut", process)
        elif what == "looked":
            self._looks = False
            counted = any(not life % 2 for life in self._lives)
            self._free = self._free or (self._low + self._slots > self._head and counted)

    def _write(self, process: int, what: str, word: str, place: int, value: int) -> Iterator[Event]:
        if not self._attached[process]:
            if word == "seq":
                self._seen = max(self._seen, value)
            elif word == "life":
                self._lives[place] = value
        elif what == "store" and word == "data":
            if not self._free:
                yield _action("StartPut", process)
            yield from _stored("Fill", process)
        elif what == "store" and word == "seq":
            self._head, self._free = value, False
            yield from _stored("Publish", process, value)
        elif what == "store" and word == "life":
            yield _action("Fence", place)
        elif self._looks and not self._free and word == "cursor":
            self._low = min(self._low, value)
            yield _action("LoadCursor", process, value)
        elif self._looks and not self._free and word == "life":
            if value != self._lives[place]:
                self._lives[place], self._low = value, self._head
            yield _action("LoadLife", process, value)

    def _get(self, process: int, what: str, word: str, place: int, value: int) -> Iterator[Event]:
        doing = self._doing
        if not self._attached[process]:
            yield from self._come(process, what, word, place, value)
        elif word == "seq" and value > self._position[process] and not doing[process]:
            doing[process] = "begin"
            yield _action("SeeSeq", process, value)
        elif what == "store" and word == "begun":
            doing[process] = "gate"
            yield from _stored("StoreBegun", process, value)
        elif what == "load" and word == "gate" and value % 2 == 0 and doing[process] == "gate":
            doing[process] = "copy"
            yield _action("SeeGate", process, value)
        elif what == "load" and word == "data" and doing[process] == "copy":
            doing[process] = "check"
            yield _action("CopyData", process, min(value, 0))
        elif word == "life" and doing[process] == "check":
            doing[process] = "release"
            yield _action("SeeLife", process, value)
        elif what == "store" and word == "cursor":
            doing[process], self._position[process] = "", value
            yield from _stored("StoreCursor", process, value)

    def _come(self, process: int, what: str, word: str, place: int, value: int) -> Iterator[Event]:
        if what == "store" and word == "life":
            if value % 2:
                yield _action("Fence", place)
                return
            yield from _stored("StoreLife", process, value)
            yield from (_action("BarrierReaches", process) for _ in range(self._lines))
        elif what == "load" and word == "begun" and place < self._lines:
            yield _action("SeeBegun", process, value)
        elif what == "store" and word == "cursor":
            self._position[process] = value
            yield from _stored("StoreStart", process, value)

    def _clear(self, process: int, what: str, word: str, place: int, value: int) -> Iterator[Event]:
        if what == "store" and word == "gate" and value % 2:
            yield from _stored("CloseGate", process, value)
            yield from (_action("BarrierReaches", process) for _ in range(self._lines))
        elif what == "store" and word == "gate":
            yield from _stored("OpenGate", process, value)
        elif word == "seq":
            yield _action("SeeHead", process, value)
        elif word == "begun" and place < self._lines:
            yield _action("SeeBegun", process, value)
        elif what == "store" and word == "data":
            yield from _stored("StoreVoid", process)


def _action(name: str, who: int, value: int = 0) -> Event:
    return {"action": name, "who": who, "value": value}


def _stored(name: str, process: int, value: int = 0) -> Iterator[Event]:
    yield _action(name, process, value)
    yield _action("Flush", process)
