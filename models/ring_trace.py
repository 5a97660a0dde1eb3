"""Recorded accesses of processes at a ring, judged by ``models/ring.py``.

Accesses are recorded in their order, each with a system call, so a store is in memory before the next access of
anybody: where the model has a store buffer, each store is followed by its Flush. Loads in which a process only polls
are no steps of the model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action
from models.ring import Ring
from models.ring_state import VOID, Config, State

__all__ = ("accept_channel",)

Event = dict[str, Any]
_LINE = ("v", "protocol", "dp")
_BOUNDS = ("ranks", "slots", "puts", "joins", "clears")
_WORDS = ("seq", "data", "begun", "cursor", "life", "gate")
_MARKS = ("attached", "got", "kill", "look", "looked", "fence", "fenced")


class _Malformed(Exception):
    """The event cannot be one of this run."""


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open with its bounds, and then what the processes noted."""
    opening, *rest = events
    bounds = [opening.get(name) for name in _BOUNDS]
    if opening.get("action") != "Open" or not all(type(value) is int and value >= 0 for value in bounds):
        return Verdict(
            channel, False, 1, f"the first event must be Open, with {', '.join(_BOUNDS)}", json.dumps(opening)
        )
    model = _model(bounds)
    reader = _Reading(model, opening)
    observations: list[Observation[State]] = []
    wrong = ""
    for event in rest:
        try:
            observations += reader.observe(event)
        except _Malformed as error:
            wrong = str(error)
            break
    verdict = judge(model, model.initial(), observations, channel)
    if wrong and verdict.accepted:
        return replace(verdict, accepted=False, reason=wrong, event=json.dumps(event))
    return verdict


def _model(bounds: list[Any]) -> Ring:
    ranks, slots, puts, joins, clears = bounds
    mortal = frozenset(range(ranks + joins + 2))
    return Ring(Config(ranks, slots, puts, joins, clears, mortal))


class _Reading:
    """What is known of each process from its own records: which of its accesses are steps."""

    def __init__(self, model: Ring, opening: Event) -> None:
        self._model = model
        self._opening = opening
        size = model.clearer + 1
        self._attached = [False] * size
        self._killed = [False] * size
        self._doing = [""] * size
        self._position = [0] * size
        self._looks = False
        self._fencing = False
        self._free = False
        self._low = 0
        self._head = 0
        self._counted = list(model.ranks)
        self._lives = [0] * model.config.ranks
        self._learned = False
        self._room = model.config.slots

    def observe(self, event: Event) -> Iterator[Observation[State]]:
        """Yield the steps that an event stands for."""
        if any(event.get(key) != self._opening.get(key) for key in _LINE):
            raise _Malformed("v, protocol and dp are those of Open")
        process, what, value = event.get("process"), event.get("action"), event.get("value")
        if type(process) is not int or not 0 <= process <= self._model.clearer or type(value) is not int:
            raise _Malformed(f"there is no process {process}, or no value")
        if what in _MARKS:
            yield from self._mark(event, str(what), process, value)
        elif what in ("load", "store") and event.get("word") in _WORDS and type(event.get("place")) is int:
            steps = {self._model.writer: self._writer, self._model.clearer: self._clearer}.get(process, self._reader)
            yield from steps(event, process, str(what), str(event["word"]), int(event["place"]), value)
        else:
            raise _Malformed(f"{what!r} is nothing that a process notes")

    # -- what they do ----------------------------------------------------------------------------------------------

    def _step(self, event: Event, name: str, key: str, number: int, check: Any = None) -> Observation[State]:
        def differs(before: State, after: State) -> str:
            return str(check(before, after) or "") if check else ""

        return Observation(json.dumps(event), Action(name, ((key, number),)), differs)

    def _stored(self, event: Event, name: str, process: int, check: Any = None) -> Iterator[Observation[State]]:
        yield self._step(event, name, "process", process)
        flush = self._step(event, "Flush", "process", process, check)
        yield replace(flush, action=Action("Flush", (("process", process), ("store", 1))))

    def _mark(self, event: Event, what: str, process: int, value: int) -> Iterator[Observation[State]]:
        writer = self._model.writer
        if what == "attached":
            if process == writer and self._killed[process]:
                yield self._step(event, "TakeOver", "process", process, lambda a, b: self._heads(b))
            self._attached[process] = True
        elif what == "kill":
            self._attached[process], self._killed[process] = False, True
            self._doing[process] = ""
            self._looks = self._fencing = False if process == writer else self._looks
            yield self._step(event, "Kill", "process", process)
        elif what == "got":
            line = self._line_of(event, process)
            wrong = f"the caller got {value}"
            yield Observation(json.dumps(event), None, lambda a, b: "" if b.got[line][-1:] == (value,) else wrong)
        elif what in ("look", "looked"):
            self._looks = what == "look"
            if not self._looks and not self._free:
                self._free = self._low + self._model.config.slots > self._head and any(
                    not life % 2 for life in self._lives
                )
            elif self._looks and not self._free:
                yield from self._scan(event)
        else:
            self._fencing = what == "fence"

    def _heads(self, after: State) -> str:
        self._head, self._lives, self._free = after.head, list(after.known), False
        return ""

    def _scan(self, event: Event) -> Iterator[Observation[State]]:
        self._low = self._head
        yield self._step(event, "StartPut", "process", self._model.writer)

    def _writer(
        self, event: Event, process: int, what: str, word: str, place: int, value: int
    ) -> Iterator[Observation[State]]:
        if not self._attached[process]:
            return
        if what == "store":
            if word == "data":
                if not self._free:
                    yield self._step(event, "StartPut", "process", process)
                yield from self._stored(event, "Fill", process)
            elif word == "seq":
                self._head, self._free = value, False
                yield from self._stored(event, "Publish", process, lambda a, b: self._is(b.head, value))
            elif word == "life":
                yield self._step(event, "Fence", "rank", place)
        elif self._looks and not self._free:
            if word == "cursor":
                self._low = min(self._low, value)
                yield self._step(event, "LoadCursor", "process", process)
            elif word == "life":
                if value != self._lives[place]:
                    self._lives[place], self._low = value, self._head
                yield self._step(event, "LoadLife", "process", process, lambda a, b: self._is(b.known[place], value))

    def _is(self, found: object, noted: object) -> str:
        return "" if found == noted else f"the model says {found}, and {noted} was noted"

    def _line_of(self, event: Event, process: int) -> int:
        if process not in self._model.lines:
            raise _Malformed(f"process {process} reads nothing")
        return process

    def _reader(
        self, event: Event, process: int, what: str, word: str, place: int, value: int
    ) -> Iterator[Observation[State]]:
        model, doing = self._model, self._doing
        if not self._attached[process]:
            yield from self._comes(event, process, what, word, place, value)
            return
        number = self._position[process] + 1
        if word == "seq" and value >= number and not doing[process]:
            doing[process] = "begin"
            yield self._step(event, "SeeSeq", "process", process)
        elif word == "begun" and what == "store":
            doing[process] = "gate"
            yield from self._stored(event, "StoreBegun", process, lambda a, b: self._is(b.mem.begun[place], value))
        elif word == "gate" and what == "load" and value % 2 == 0 and doing[process] == "gate":
            doing[process] = "copy"
            yield self._step(event, "SeeGate", "process", process)
        elif word == "gate" and what == "store":
            yield from self._clearer(event, model.clearer, what, word, place, value)
        elif word == "data" and what == "load" and doing[process] == "copy":
            doing[process] = "check"
            wrong = lambda a, b: self._is(b.took[process] == VOID, value == VOID)  # noqa: E731
            yield self._step(event, "CopyData", "process", process, wrong)
        elif word == "life" and doing[process] == "check":
            doing[process] = "release"
            yield self._step(event, "SeeLife", "process", process)
        elif word == "cursor" and what == "store":
            doing[process], self._position[process] = "", value
            yield from self._stored(event, "StoreCursor", process, lambda a, b: self._is(b.mem.cursor[place], value))

    def _comes(
        self, event: Event, process: int, what: str, word: str, place: int, value: int
    ) -> Iterator[Observation[State]]:
        lines = self._model.lines
        if word == "life" and what == "store":
            if value % 2:
                yield self._step(event, "Fence", "rank", place)
                return
            yield from self._stored(event, "StoreLife", process)
            for _ in lines:
                yield self._step(event, "BarrierReaches", "process", process)
        elif word == "begun" and what == "load" and place in lines:
            yield self._step(event, "SeeBegun", "process", process)
        elif word == "cursor" and what == "store":
            self._position[process] = value
            yield from self._stored(event, "StoreStart", process, lambda a, b: self._is(b.start[process], value))

    def _clearer(
        self, event: Event, process: int, what: str, word: str, place: int, value: int
    ) -> Iterator[Observation[State]]:
        if word == "gate" and what == "store":
            if value % 2 == 0:
                yield from self._stored(event, "OpenGate", process)
                return
            yield from self._stored(event, "CloseGate", process)
            for _ in self._model.lines:
                yield self._step(event, "BarrierReaches", "process", process)
        elif word == "seq":
            yield self._step(event, "SeeHead", "process", process)
        elif word == "begun" and place in self._model.lines:
            yield self._step(event, "SeeBegun", "process", process)
        elif word == "data" and what == "store":
            yield from self._stored(event, "StoreVoid", process, lambda a, b: self._is(value, VOID))
