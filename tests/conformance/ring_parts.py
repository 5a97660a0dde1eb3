"""The slots of the ring as :mod:`tests.conformance.word_walks` drives them, through the code that ships."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import FencedError, PeerLostError
from fdcomm.ring.clearing import clear, complete
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BEGUN, CLEARED, CURSOR, GATE, LIVES, PID, SEQ, SIZE, WANT, Shape
from fdcomm.ring.members import Place, attach
from fdcomm.ring.publisher import Publisher
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Task
from models import ring
from models.kernel import Action
from models.ring_state import load
from tests.conformance.ring_bed import Bed, Poll
from tests.conformance.word_walks import Part, Walk

__all__ = ("RingPart",)

_SLOT_BYTES = 64


class RingPart(Part):
    """Put, get, give up, come back, clear, take over. A payload is its size: a number that nobody else puts."""

    config: ring.Config
    model: ring.Ring

    def __init__(self, config: ring.Config) -> None:
        super().__init__(config, ring.Ring(config))
        self.shape = shape = Shape(config.ranks, config.slots, _SLOT_BYTES)
        self.lines = self.model.lines
        places = {
            "seq": [shape.of_slot(slot, SEQ) for slot in range(shape.slots)],
            "data": [shape.of_slot(slot, SIZE) for slot in range(shape.slots)],
            "begun": [shape.of_line(line, BEGUN) for line in self.model.words],
            "cursor": [shape.of_line(line, CURSOR) for line in self.model.words],
            "life": [LIVES + rank for rank in range(shape.ranks)],
            "gate": [GATE],
        }
        self.places: dict[str, list[int]] = places
        self.words = {place: (word, number) for word, all_ in places.items() for number, place in enumerate(all_)}
        self._now: Callable[[], Any] = lambda: None

    # -- the code ------------------------------------------------------------------------------------------------

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        setters = [f"process {line}" for line in self.lines]
        self.bed = Bed(scheduling, self.shape, [CLEARED], setters)
        self._now = now
        # Of lines that the model does not have nothing is of interest.
        others = range(len(self.model.words), self.shape.lines)
        silent = [WANT, CLEARED, *(self.shape.of_line(line, BEGUN) for line in others)]
        silent += [self.shape.of_line(line, PID) for line in range(self.shape.lines)]
        self.silent = {self.bed.name(place) for place in silent}
        self.silent |= {self.bed.runtime._word(self.bed.flags, place) for place in range(len(self.shape.flag_words))}
        self.publisher = Publisher(self.bed.board, patience=self._poll())
        programs: dict[int, Callable[[], None]] = {
            line: partial(self._read, Place(line, line, 0, 0)) for line in self.lines[: self.config.ranks]
        }
        programs |= {line: partial(self._come, self.model.rank_of(line)) for line in self.lines[self.config.ranks :]}
        programs[self.model.writer] = lambda: self._write(self.publisher)
        programs[self.model.clearer] = self._clear
        return programs

    def spares(self) -> dict[int, Callable[[], None]]:
        def write() -> None:
            self._write(Publisher(self.bed.board, patience=self._poll()))

        def clear_again() -> None:
            complete(self.bed.board)
            self._clear()

        return {self.model.writer: write, self.model.clearer: clear_again}

    def _poll(self) -> Any:
        return Poll()

    def _never(self) -> Deadline:
        return Deadline(None, self.bed.runtime.monotonic)

    def _write(self, publisher: Publisher) -> None:
        while self._now().sent < self.config.puts:
            while publisher.head >= publisher.room:
                with contextlib.suppress(PeerLostError):
                    publisher.make_room(None, "put")
            publisher.publish(self._now().sent + 1)

    def _read(self, place: Place) -> None:
        consumer = Consumer(self.bed.board, place, patience=self._poll())
        with contextlib.suppress(FencedError):
            while True:
                consumer.begin(None, "get")
                consumer.end()
                consumer.tell()

    def _come(self, rank: int) -> None:
        self._read(attach(self.bed.board, rank, self._never()))

    def _clear(self) -> None:
        while load(self._now(), self.model.clearer, "gate", 0) < 2 * self.config.clears:
            clear(self.bed.board, None, self._never())

    # -- beside the model ----------------------------------------------------------------------------------------

    def is_silent(self, task: Task) -> bool:
        what, _, word = str(task.op).partition(" ")
        if what in ("load", "store"):
            return word.partition(" =")[0] in self.silent
        return super().is_silent(task) or str(task.op) == "acquire barrier ends"

    def _name(self, word: str, number: int) -> str:
        return self.bed.name(self.places[word][number])

    def _store(self, word: str, number: int, value: int) -> str:
        return f"store {self._name(word, number)} = {value}"

    def about_to(self, state: Any, process: int) -> str:
        if process == self.model.writer:
            return self._writer(state)
        if process == self.model.clearer:
            return self._clearer(state)
        pc, slot, rank = state.pc[process], state.pos[process] % self.config.slots, self.model.rank_of(process)
        if pc in ("barrier", "look"):
            return self._looks(state, process)
        return {
            "out": f"load {self._name('life', rank)}",
            "start": self._store("cursor", self.model.line(process), state.low[process]),
            "idle": f"load {self._name('seq', slot)}",
            "begin": self._store("begun", self.model.line(process), state.pos[process] + 1),
            "gate": f"load {self._name('gate', 0)}",
            "copy": f"load {self._name('data', slot)}",
            "check": f"load {self._name('life', rank)}",
            "void": f"load {self._name('life', rank)}",
            "skip": self._store("cursor", self.model.line(process), state.low[process]),
            "release": self._store("cursor", self.model.line(process), state.pos[process] + 1),
            "fenced": "ended",
            "dead": "killed | ended",
        }[pc]

    def _looks(self, state: Any, process: int) -> str:
        at = state.at[process]
        if state.pc[process] == "barrier":
            return f"acquire barrier reaches process {at}"
        return f"load {self._name('begun', at)}"

    def _writer(self, state: Any) -> str:
        model, writer = self.model, self.model.writer
        pc = state.pc[writer]
        if pc == "dead":  # its successor
            return f"load {self._name('life', 0)} | killed | ended"
        if pc == "idle":
            if state.sent == self.config.puts:
                return "ended"
            # The model says that a put begins, the code only what it does first.
            after = model.start_put(state, writer)
            return "" if after is None else self._writer(after)
        slot = state.head % self.config.slots
        return {
            "scan": f"load {self._name('cursor', model.line_of(state.known, state.at[writer]))}"
            if pc == "scan"
            else "",
            "lives": f"load {self._name('life', state.at[writer])}" if pc == "lives" else "",
            "voids": f"load {self._name('seq', state.low[writer] % self.config.slots)}",
            "fill": self._store("data", slot, state.sent + 1),
            "publish": self._store("seq", slot, state.head + 1),
        }[pc]

    def _clearer(self, state: Any) -> str:
        clearer = self.model.clearer
        pc, at = state.pc[clearer], state.at[clearer]
        gate = load(state, clearer, "gate", 0)
        if pc in ("barrier", "look"):
            return self._looks(state, clearer)
        if pc == "idle":
            return f"load {self._name('gate', 0)}" if gate < 2 * self.config.clears else "ended"
        return {
            "head": f"load {self._name('seq', at)}" if pc == "head" else "",
            "see": f"load {self._name('seq', self.model.slot(at))}",
            "mark": self._store("seq", self.model.slot(at), -at),
            "open": f"load {self._name('gate', 0)}",
            "dead": f"load {self._name('gate', 0)} | killed | ended",
        }[pc]

    def differs(self, state: Any) -> str:
        words = self.bed.words
        for word, places in self.places.items():
            found = tuple(words[place] for place in places)
            if found != getattr(state.mem, word):
                return f"{word} is {found}"
        buffers = self.bed.runtime.buffers
        stores = tuple(
            tuple(
                (*self.words[store[2]], store[3]) for store in buffers.get(f"process {p}", ()) if store[2] in self.words
            )
            for p in range(len(state.pc))
        )
        return "" if stores == state.buf else f"under way is {stores}"

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        process = action.param("process")
        name = f"process {process}"
        if action.name == "Flush":
            while self.bed.runtime.buffers[name][0][2] not in self.words:
                self.bed.runtime.flush(name)  # a word that the model does not have
            self.bed.runtime.flush(name)
        elif action.name == "Fence":
            self.bed.words[LIVES + (action.param("rank") or 0)] += 1
        elif action.name == "Kill":
            scheduler.kill(name)
            if process in (self.model.writer, self.model.clearer):
                self.succeed(scheduler, process)
        else:
            return action.name == "StartPut"
        return True

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        """CloseGate: ``complete`` looks, ``clear`` looks and stores. StoreLife: the life is seen, the process noted."""
        return {
            "TakeOver": self.config.ranks + self.config.slots,
            "SeeFence": 2,
            "StoreLife": 3,
            "CloseGate": 3,
            "OpenGate": 2,
        }.get(action.name, 1)
