"""Sleeping and waking at the ring as :mod:`tests.conformance.word_walks` drives it, through the code that ships.

Each teller tells once: in the code the numbers of messages are in words of their slots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BELL, CURSOR, SEQ, WANT, WANT_BELL, Shape
from fdcomm.ring.members import Place
from fdcomm.ring.publisher import Publisher
from fdcomm.ring.waiting import Patience
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Task
from models import ring_wait
from models.kernel import Action
from tests.conformance.ring_bed import Bed, Poll
from tests.conformance.word_walks import Part, Walk

__all__ = ("ReadersSleep", "WriterSleeps")


class _WaitPart(Part):
    """What both sides' sleeps have in common."""

    config: ring_wait.Config
    model: ring_wait.RingWait
    bell: int
    shown: tuple[int, ...]
    """The tellers' words."""

    def __init__(self, config: ring_wait.Config) -> None:
        if config.tells != 1:
            raise ValueError("each teller tells once")
        super().__init__(config, ring_wait.RingWait(config))

    def _make(self, scheduling: ControlledRuntime, ranks: int, *flags: int) -> None:
        """Make the bed. Stores that the model does not have reach memory at once."""
        shape = Shape(ranks, 1, 64)
        everything = set(range(shape.nbytes // 8))
        setters = [f"process {teller}" for teller in self.model.tellers]
        self.bed = Bed(scheduling, shape, everything - {self.bell, *self.shown, *flags}, setters)
        self.hidden = {self.bed.name(place) for place in everything - {self.bell, *self.shown, *flags}}

    def token(self, teller: int) -> int:
        """What a teller stores in the futex word."""
        raise NotImplementedError

    def flag(self, process: int) -> str:
        """What the scheduler calls a sleeper's flag, and the word that tellers load."""
        raise NotImplementedError

    def is_up(self, process: int) -> bool:
        """Whether a sleeper's flag is up in memory."""
        raise NotImplementedError

    def is_silent(self, task: Task) -> bool:
        what, _, word = str(task.op).partition(" ")
        if what in ("load", "store"):
            return word.partition(" =")[0] in self.hidden
        return super().is_silent(task) or str(task.op) == "acquire barrier ends"

    def _seen(self, number: int) -> int:
        return self.token(number - 1) if number else 0

    def about_to(self, state: Any, process: int) -> str:
        bell, look = self.bed.name(self.bell), f"load {self.bed.name(self.shown[state.at[process]])}"
        return (
            {
                "idle": "ended" if state.counts[process] else f"store {self.bed.name(self.shown[process])} = 1",
                "look": f"load {self.flag(self.model.sleepers[0])}",
                "bell": f"store {bell} = {self._seen(state.seen[process] - self.config.tellers)}",
                "wake": "acquire futex wake",
                "peek": look,
                "flag": f"store {self.flag(process)} = 1",
                "barrier": f"acquire barrier reaches process {state.at[process]}",
                "token": f"load {bell}",
                "due": look,
                "sleep": f"acquire futex wait {self._seen(max(0, state.seen[process] - self.config.tellers))}",
                "asleep": "waiting futex",
                "again": look,
                "down": f"store {self.flag(process)} = 0",
                "over": f"store {self.flag(process)} = 0",
                "done": "ended",
                "dead": "killed | ended",
            }[state.pc[process]]
            if state.pc[process] != "idle" or process < self.config.tellers
            else ""
        )

    def differs(self, state: Any) -> str:
        words = self.bed.words
        found = {
            "word": tuple(words[place] for place in self.shown) == state.mem.word,
            "bell": words[self.bell] == self._seen(max(0, state.mem.bell[0] - self.config.tellers)),
            "flags": all(self.is_up(p) == (state.mem.flag[p] == 1) for p in self.model.sleepers),
            "stores under way": [len(self.bed.runtime.buffers.get(f"process {p}", ())) for p in range(len(state.pc))]
            == list(map(len, state.buf)),
        }
        return ", ".join(name for name, same in found.items() if not same)

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        name = f"process {action.param('process')}"
        if action.name == "Flush":
            self.bed.runtime.flush(name)
        elif action.name == "Kill":
            scheduler.kill(name)
        else:
            return False
        return True


class ReadersSleep(_WaitPart):
    """Readers sleep until the writer has put."""

    bell = BELL

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        self.shown = (Shape(self.config.sleepers, 1, 64).of_slot(0, SEQ),)
        self._make(scheduling, self.config.sleepers)
        board = self.bed.board
        publisher = Publisher(board, patience=Patience(board, 0))

        def read(line: int) -> None:
            consumer = Consumer(board, Place(line, line, 0, 0), turns=0)
            consumer.begin(None, "get")
            consumer.end()
            consumer.tell()

        programs: dict[int, Callable[[], None]] = {0: partial(publisher.publish, 1)}
        return programs | {p: partial(read, p - 1) for p in self.model.sleepers}

    def token(self, teller: int) -> int:
        return 1

    def flag(self, process: int) -> str:
        return self.bed.runtime._word(self.bed.flags, process - 1)

    def is_up(self, process: int) -> bool:
        return bool(memoryview(self.bed.flags.obj).cast("B")[process - 1])


class WriterSleeps(_WaitPart):
    """A writer sleeps until all readers are done with its message."""

    bell = WANT_BELL

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        ranks = self.config.tellers
        shape = Shape(ranks, 1, 64)
        self.shown = tuple(shape.of_line(line, CURSOR) for line in range(ranks))
        self._make(scheduling, ranks, WANT)
        board = self.bed.board
        self.bed.words[shape.of_slot(0, SEQ)] = 1
        publisher = Publisher(board, turns=0)

        def read(line: int) -> None:
            consumer = Consumer(board, Place(line, line, 0, 0), patience=Poll())  # type: ignore[arg-type]
            consumer.begin(None, "get")
            consumer.end()
            consumer.tell()

        programs: dict[int, Callable[[], None]] = {line: partial(read, line) for line in range(ranks)}
        return programs | {ranks: partial(publisher.wait_passed, 1, None, "put")}

    def token(self, teller: int) -> int:
        return self.bed.shape.lines + teller

    def flag(self, process: int) -> str:
        return self.bed.name(WANT)

    def is_up(self, process: int) -> bool:
        return self.bed.words[WANT] == 1

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        """The code looks at all cursors also where the first ones say that it is not time."""
        if action.name not in ("Peek", "SeeDue", "SeeAgain"):
            return 1
        before, sleeper = then[0][0], self.config.tellers
        at = before.at[sleeper]
        there = self.bed.words[self.shown[at]] >= 1
        return 1 if there else self.config.tellers - at
