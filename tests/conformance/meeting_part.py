"""The meeting as :mod:`tests.conformance.word_walks` drives it, through the code that ships."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import BarrierBrokenError, CommTimeoutError, FdcommError, FencedError, PeerLostError
from fdcomm.meeting import members
from fdcomm.meeting.attendant import Attendant
from fdcomm.meeting.chair import Chair
from fdcomm.meeting.layout import (
    BROKEN,
    ENDING,
    KINDS,
    LIVES,
    LOST,
    PLACE,
    STATE,
    TURN,
    closed_to,
    endings_of,
    next_round,
    next_turn,
    read_why,
    why,
)
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Task
from models.kernel import Action
from models.meeting import Meeting
from models.meeting_state import KINDS as NAMES
from models.meeting_state import STATES, Config, State, load, passed
from tests.conformance.meeting_bed import MeetingBed
from tests.conformance.word_walks import Part, Walk

__all__ = ("LABELS", "MeetingPart", "turn_of")

LABELS = ("", "other")
_ENDS = (CommTimeoutError, BarrierBrokenError, PeerLostError, FencedError)


def turn_of(turn: int) -> int:
    """The turn of the code for one of the model."""
    return turn if turn < 0 else (turn // 16) * next_round(0) + turn % 16 // 4 * ENDING + turn % 4


class _ClosedTo(Sequence[int]):
    """At which barrier a wait is, is known when it begins to look at the turn."""

    def __init__(self, part: MeetingPart, process: int) -> None:
        self._part, self._process = part, process

    def __getitem__(self, place: Any) -> Any:
        return closed_to(self._part.place(self._process))

    def __len__(self) -> int:
        return self._part.config.places


class _Asked(Attendant):
    """Its time is over when the model says so: that look at the clock is a step of its own."""

    def __init__(self, part: MeetingPart, scheduling: ControlledRuntime, number: int, rank: int, life: int) -> None:
        super().__init__(part.bed.room(number), rank, life, turns=0)
        self._part, self._scheduling, self._process = part, scheduling, number
        self._closed = _ClosedTo(part, number)

    def _refused(self, turn: int, place: int, operation: str) -> FdcommError:
        return super()._refused(turn, self._part.place(self._process), operation)

    def _write(self, label: str) -> None:
        self._place = self._part.place(self._process)
        super()._write(self._part.label(self._process))

    def _over(self, deadline: Deadline) -> bool:
        self._scheduling.access(f"clock of {self._process}", change=False)
        return self._process in self._part.late


class MeetingPart(Part):
    """All processes of the model."""

    config: Config
    model: Meeting

    def __init__(self, config: Config) -> None:
        super().__init__(config, Meeting(config))

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        self._now = now
        self.bed = bed = MeetingBed(
            scheduling,
            self.config.ranks,
            [f"process {number}" for number in self.model.everybody],
            places=self.config.places,
        )
        self.late: set[int] = set()
        self.asked = ""
        self._numbers: dict[int, int] = {}
        self._left: dict[int, list[int]] = {}

        def wait(number: int, rank: int, life: int) -> None:
            attendant = _Asked(self, scheduling, number, rank, life)
            for _ in range(self.config.calls):
                with contextlib.suppress(*_ENDS):
                    attendant.wait("", None)
                self.late.discard(number)

        def ask() -> None:
            scheduling.access("asked", change=False)
            never = Deadline(None, bed.runtime.monotonic)
            if self.asked == "abort":
                members.abort(bed.room(self.model.owner), never)
            elif self.asked == "part":
                room = bed.room(self.model.owner)
                room.take(never, "wait")
                Chair(room).part(room.words[TURN])
                room.give()
            else:
                members.fence(bed.room(self.model.owner), 0, never)
            if self.config.aborts:
                scheduling.access("asked", change=False)
                members.reset(bed.room(self.model.owner), never)

        def come(number: int) -> None:
            scheduling.access("comes", change=False)
            life = members.attach(bed.room(number), 0, Deadline(None, bed.runtime.monotonic))
            wait(number, 0, life)

        programs: dict[int, Callable[[], None]] = {rank: partial(wait, rank, rank, 0) for rank in self.model.ranks}
        if self.model.owner in self.model.everybody:
            asks = self.config.aborts or self.config.fences or self.config.parts
            programs[self.model.owner] = ask if asks else lambda: None
        if self.config.comes:
            programs[self.model.second] = partial(come, self.model.second)
        return programs

    def line(self, process: int) -> int:
        """The line of a process."""
        return self.config.ranks if process == self.model.second else process

    # -- what comes next -----------------------------------------------------------------------------------------------

    def is_silent(self, task: Task) -> bool:
        what, _, word = str(task.op).partition(" ")
        if super().is_silent(task) or str(task.op) == "acquire barrier ends":
            return True
        if what == "store" and word.partition(" =")[0] in self.bed.hidden:
            return True
        if what != "load" or not task.name.startswith("process ") or word == self.bed.name(TURN):
            return False
        return str(task.op) not in self.about_to(self._now(), int(task.name.split()[1])).split(" | ")

    def about_to(self, state: State, process: int) -> str:
        p, bed, pc = process, self.bed, state.pc[process]
        name, stamp = bed.name, turn_of(state.stamp[p])
        turn = f"load {name(TURN)}"
        if pc in ("out", "ask", "away", "done", "dead"):
            waits = turn if state.calls[p] < self.config.calls else "ended"
            resets = p == self.model.owner and self.config.aborts and not state.calls[p]
            return {
                "out": waits,
                "ask": "read asked",
                "away": "read comes",
                "done": "read asked" if resets else "ended",
                "dead": "killed | ended",
            }[pc]
        if pc in ("life?", "mine"):
            return f"load {name(LIVES + self.model.rank_of(p))}"
        if pc in ("scan", "rescan", "look"):
            return f"load {name(LIVES + state.at[p] % self.config.ranks)}"
        rank = min(state.at[p], self.config.ranks - 1)
        number = self.bed.numbers[self.line(p)]
        flag = bed.runtime._word(bed.flags, self.line(p))
        return {
            "label": f"store {name(number)} = {self._said(state.label[p])}",
            "word": f"store {name(bed.arrivals[self.line(p)])} = {stamp}",
            "see": turn,
            "then": turn,
            "count": self._count(state, p),
            "why": f"load {name(bed.whys[(state.stamp[p] % 16 // 4 + 1) % 8])}",
            "wait": f"read clock of {p}",
            "barrier": f"acquire barrier reaches process {state.at[p]}",
            "due": turn,
            "sleep": f"acquire futex wait {stamp}",
            "asleep": "waiting futex",
            "again": turn,
            "miss": f"load {name(LIVES)}",
            "down": f"store {flag} = 0",
            "lock": "acquire take 0",
            "turn": turn,
            "clear": f"store {name(bed.arrivals[self.line(p)])} = -1",
            "life": f"store {name(LIVES + rank)} = {load(state, p, 'life', rank) + 1}",
            "why1": self._why(state, p),
            "next": f"store {name(TURN)} = {self._next(state, p)}",
            "next1": f"store {name(TURN)} = {self._next(state, p)}",
            "flags": f"load {bed.runtime._word(bed.flags, 0)}",
            "wake": "acquire futex wake",
            "give": "acquire give 0",
        }[pc]

    def _next(self, state: State, p: int) -> int:
        stamp, do = turn_of(state.stamp[p]), state.do[p]
        if do == "join":
            others = any(load(state, p, "life", rank) % 2 for rank in self.model.ranks if rank)
            return next_turn(stamp, stamp & BROKEN | others)
        if state.pc[p] == "next":
            return next_round(stamp)
        if do == "reset":
            return next_turn(stamp, stamp & LOST)
        return next_turn(stamp, stamp & STATE | STATES.get(do, 0))

    def _why(self, state: State, p: int) -> str:
        after = self._next(state._replace(pc=("next1",) * len(state.pc)), p)
        word = self.bed.whys[endings_of(after) % 8]
        return f"store {self.bed.name(word)} = {why(after, 0, KINDS.index(NAMES.get(state.do[p], 'lost')))}"

    def _count(self, state: State, p: int) -> str:
        model, stamp, place = self.model, state.stamp[p], min(state.at[p], self.config.places - 1)
        passes = load(state, p, "passes", model._bank(stamp) + place) + (place == model.place(state.label[p]))
        return f"store {self.bed.name(self.bed.counts[model._bank(passed(stamp)) + place])} = {passes}"

    # -- steps of several accesses -------------------------------------------------------------------------------------

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        before = then[0][0]
        p = int(task.name.split()[1])
        if action.name == "Begin":
            self._numbers[p] = action.param("label") or 0
        elif action.name in ("AskAbort", "AskFence", "AskPart"):
            self.asked = action.name.removeprefix("Ask").lower()
        elif action.name == "Timeout":
            self.late.add(p)
        elif action.name == "SeeNext":
            self.late.discard(p)  # the model may see only later again that its time is over
        elif action.name == "RaiseFlag":
            return 2
        elif action.name in ("Scan", "Rescan", "LookLocked"):
            rank = before.at[p] % self.config.ranks
            line = self.model.counted(load(before, p, "life", rank), rank)
            return 3 if load(before, p, "word", line) == before.stamp[p] else 2
        elif action.name == "SeeDead":
            return self._asks(before)
        elif action.name == "SeeTurnLocked":
            if p == self.model.owner:
                return 2 if before.do[p] == "fence" else 1
            if before.do[p] == "fence" and before.mem.turn[0] == before.stamp[p]:
                gone = any(self.model.gone(before, rank) for rank in self.model.ranks)
                return 1 + self._asks(before) + gone
        return 1

    def _asks(self, state: State) -> int:
        """How many words are loaded until somebody is found to be gone."""
        loads = 0
        for rank in self.model.ranks:
            loads += 1 if state.mem.life[rank] % 2 else 2
            if self.model.gone(state, rank):
                break
        return loads

    def label(self, process: int) -> str:
        """What a process's next wait is for."""
        return LABELS[self._numbers[process] % self.config.labels]

    def place(self, process: int) -> int:
        """At which barrier that is."""
        return self.model.place(self._numbers[process])

    def _said(self, label: int) -> int:
        return self.model.place(label) * PLACE + _number(label % self.config.labels)

    def differs(self, state: Any) -> str:
        bed, words = self.bed, self.bed.words
        lines = {p: self.line(p) for p in self.model.waiters}
        flags = memoryview(bed.flags.obj).cast("B")
        whys = [
            "none" if not (word := words[place]) else read_why(word, word // 16 * ENDING)[0] for place in bed.whys[:4]
        ]
        lives = tuple(words[LIVES + rank] for rank in self.model.ranks)
        found = {
            "turn": words[TURN] == turn_of(state.mem.turn[0]),
            "words": all(words[bed.arrivals[line]] == turn_of(state.mem.word[p]) for p, line in lines.items()),
            "labels": all(words[bed.numbers[line]] == self._said(state.mem.label[p]) for p, line in lines.items()),
            "counts": tuple(words[place] for place in bed.counts) == state.mem.passes,
            "flags": all(flags[line] == state.mem.flag[p] for p, line in lines.items()),
            "lives": lives == state.mem.life,
            "reasons": tuple(whys) == state.mem.why,
            "lock": list(bed.kernel.locks.get(0, {})) == ([] if state.lock < 0 else [state.lock]),
            "stores under way": [len(bed.runtime.buffers.get(f"process {p}", ())) for p in self.model.everybody]
            == list(map(len, state.buf)),
        }
        return ", ".join(name for name, same in found.items() if not same)

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        p = action.param("process")
        name = f"process {p}"
        if action.name == "Flush":
            self.bed.runtime.flush(name)
        elif action.name == "Kill" and p is not None:
            scheduler.kill(name)
            self.bed.kernel.free(name)
            if p in self.model.waiters:
                self.bed.locks.dead.add(self.line(p))
        else:
            return False
        return True


def _number(label: int) -> int:
    return 1 + zlib.crc32(LABELS[label].encode()) if label else 0
