"""The parts of the word protocol as :mod:`tests.conformance.word_walks` drives them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, SignalReplacedError, SignalTornError
from fdcomm.signals.access import WAITING, WORDS, WRITERS
from fdcomm.signals.layout import LOCK_OWNER, SEQUENCE, SUCCESSOR, WAITERS, WAKE
from fdcomm.signals.sequenced import Sequence
from fdcomm.signals.word import Word
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Task
from models import word, word_counter, word_sequence
from models.kernel import Action
from tests.conformance.word_segment import Bed
from tests.conformance.word_walks import Part, Walk

__all__ = ("CounterPart", "SequencePart", "WordPart")

_LONG_S = 500.0
_DATA = "word 0"


def _trailer(place: int) -> str:
    return f"word 1.{place}"


def _lock(lock: int) -> int:
    return 8 * LOCK_OWNER + lock


class _BedPart(Part):
    """A part in the memory of one segment."""

    bed: Bed

    def holders(self, lock: int) -> dict[int, bool]:
        """Process -> whether it shares the lock."""
        held = self.bed.kernel.locks.get(_lock(lock), {})
        return {int(self.bed.kernel.owners[fd].split()[1]): shared for fd, shared in held.items()}

    def keeper(self, lock: int) -> int:
        """Who has the lock exclusively, or -1."""
        return next((process for process, shared in self.holders(lock).items() if not shared), -1)

    def buffers(self, size: int, names: dict[str, Any]) -> tuple[Any, ...]:
        """The stores of each process that are under way."""
        found = self.bed.runtime.buffers
        return tuple(tuple((names[s[0]], s[3]) for s in found.get(f"process {p}", ())) for p in range(size))

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        del then
        name = f"process {action.param('process')}"
        if action.name == "Flush":
            self.bed.runtime.flush(name)
        elif action.name == "Kill":
            scheduler.kill(name)
        elif action.name == "Freed":
            self.bed.kernel.free(name)
        else:
            return False
        return True


class WordPart(_BedPart):
    """Set and wait."""

    config: word.Config

    def __init__(self, config: word.Config) -> None:
        super().__init__(config, word.Word(config))
        self.names = {
            _DATA: "value",
            _trailer(WAITERS): "waiters",
            _trailer(WAKE): "wake",
            _trailer(SUCCESSOR): "gone",
        }
        self.told: dict[int, str] = {}
        self.tokens = [0]  # the code's number of a token -> the model's

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        setters = tuple(f"process {p}" for p in self.model.setters)
        self.bed = bed = Bed(scheduling, setters=setters)
        self.told, self.tokens = {}, [0]
        programs: dict[int, Callable[[], None]] = {p: partial(self._set, self._word()) for p in self.model.setters}
        programs |= {p: partial(self._wait, p, self._word()) for p in self.model.waiters}
        if self.config.supersede:
            programs[self.model.closer] = bed.supersede
        return programs

    def _word(self) -> Word:
        return Word(self.bed.segment, runtime=self.bed.runtime, kernel=self.bed.kernel)

    def _set(self, opened: Word) -> None:
        for value in range(1, self.config.sets + 1):
            opened.set(value)

    def _wait(self, process: int, opened: Word) -> None:
        try:
            value = opened.wait_for(lambda value: value == self.config.sets, _LONG_S)
            self.told[process] = "done" if value == self.config.sets else f"returned {value}"
        except SignalReplacedError:
            self.told[process] = "replaced"
        except CommTimeoutError:
            self.told[process] = "late"

    def about_to(self, state: Any, process: int) -> str:
        pc = state.pc[process]
        waits = process in self.model.waiters
        if pc in ("done", "replaced", "late"):
            return "ended" if self.told.get(process) == pc else f"return {pc}, not {self.told.get(process)}"
        if pc == "idle" and process in self.model.setters:
            done = state.counts[process]
            return "ended" if done == self.config.sets else f"store {_DATA} = {done + 1}"
        if pc == "barrier":
            left = [q for q in self.model.setters if q not in state.barred[process]]
            return f"acquire barrier reaches process {left[0]}" if left else "acquire barrier ends"
        table = {
            "idle": f"store {_trailer(SUCCESSOR)} = 1",
            "look": f"load {_trailer(WAITERS)}",
            "token": f"load {_trailer(WAKE)}" if waits else self._any_token(),
            "wake": "acquire futex wake",
            "try": f"acquire take {_lock(WAITING)}",
            "clear": f"store {_trailer(WAITERS)} = 0",
            "unlock": f"acquire give {_lock(WAITING)}",
            "peek": f"load {_DATA}",
            "enter": f"acquire take shared {_lock(WAITING)}",
            "announce": f"store {_trailer(WAITERS)} = 1",
            "value": f"load {_DATA}",
            "gone": f"load {_trailer(SUCCESSOR)}",
            # When its time is over the next thing is to leave: the model says so one step later.
            "sleep": f"acquire futex wait {self.tokens.index(state.seen[process])} | acquire take {_lock(WAITING)}",
            "asleep": "waiting futex",
            "leave": f"acquire take {_lock(WAITING)}",
            "dead": "killed | ended",
            "over": "ended",
        }
        return table[pc.partition(":")[0]]

    def _any_token(self) -> str:
        """Tokens are drawn before they are stored: the model numbers them when they are."""
        return " | ".join(f"store {_trailer(WAKE)} = {token}" for token in range(1, self.bed.kernel.tokens + 1))

    def differs(self, state: Any) -> str:
        bed = self.bed
        mem = (bed.data[0], bed.trailer[WAITERS], self.tokens[bed.trailer[WAKE]], bed.trailer[SUCCESSOR])
        buffers = self.buffers(len(state.pc), self.names)
        found = {
            "mem": mem,
            "buf": tuple(tuple((w, self.tokens[v] if w == "wake" else v) for w, v in stores) for stores in buffers),
            "sharers": frozenset(p for p, shared in self.holders(WAITING).items() if shared),
            "keeper": self.keeper(WAITING),
        }
        return "; ".join(f"{name} is {value}" for name, value in found.items() if value != getattr(state, name))

    def is_drivable(self, state: Any, action: Action) -> bool:
        if action.name != "BarrierReaches":
            return True
        process, setter = (number for _, number in action.params)
        return bool(setter == min(q for q in self.model.setters if q not in state.barred[process]))

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        return action.name == "GiveUp" or super().by_hand(scheduler, action, then)

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        if action.name == "StoreToken":
            drawn = int(str(task.op).rpartition(" ")[2])
            self.tokens += [0] * (drawn + 1 - len(self.tokens))
            self.tokens[drawn] = then[0][2].tokens
        if action.name == "SeeGone":
            process = action.param("process")
            later = (
                other.name for _, other, _ in then[1:] if other.param("process") == process and other.name != "Flush"
            )
            if next(later, "") == "GiveUp":
                scheduler.clock += 2 * _LONG_S
        return 1


class CounterPart(_BedPart):
    """Add, compare and set."""

    config: word_counter.Config

    def __init__(self, config: word_counter.Config) -> None:
        super().__init__(config, word_counter.Counter(config))

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        self.bed = bed = Bed(scheduling, weak=False)

        def add(opened: Word) -> None:
            for _ in range(self.config.adds):
                opened.add(1, None)

        def compare(opened: Word) -> None:
            opened.compare_and_set(0, 10, None)

        words = [Word(bed.segment, runtime=bed.runtime, kernel=bed.kernel) for _ in self.model.initial().__next__().pc]
        return {p: partial(add if p < self.config.adders else compare, opened) for p, opened in enumerate(words)}

    def is_silent(self, task: Task) -> bool:
        owner = f"store {_trailer(LOCK_OWNER)}"
        return super().is_silent(task) or str(task.op) == f"load {_trailer(WAITERS)}" or str(task.op).startswith(owner)

    def about_to(self, state: Any, process: int) -> str:
        new = state.old[process] + 1 if process < self.config.adders else 10
        return {
            "idle": f"acquire take {_lock(WORDS)}",
            "load": f"load {_DATA}",
            "store": f"store {_DATA} = {new}",
            "unlock": f"acquire give {_lock(WORDS)}",
            "over": "ended",
            "dead": "killed | ended",
        }[state.pc[process]]

    def differs(self, state: Any) -> str:
        found = (self.bed.data[0], self.keeper(WORDS))
        return "" if found == (state.value, state.lock) else f"value and lock are {found}"

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        if not super().by_hand(scheduler, action, then):
            return False
        self.bed.kernel.free(f"process {action.param('process')}")
        return True


class SequencePart(_BedPart):
    """Several words as one."""

    config: word_sequence.Config

    def __init__(self, config: word_sequence.Config) -> None:
        super().__init__(config, word_sequence.Sequence(config))
        self.names = {f"word {cell}" if cell else _DATA: cell + 1 for cell in range(config.cells)}
        self.names[_trailer(SEQUENCE)] = 0
        self.told: dict[int, Any] = {}

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        self.bed = bed = Bed(scheduling, self.config.cells)
        self.told = {}

        def put(writer: int) -> None:
            content = now().next[writer]
            for cell in range(self.config.cells):
                bed.runtime.store(bed.data, cell, content)

        def copy() -> tuple[int, ...]:
            return tuple(bed.runtime.load(bed.data, cell) for cell in range(self.config.cells))

        def write(process: int, sequence: Sequence) -> None:
            for _ in range(self.config.writes):
                sequence.write(process, Deadline(None, bed.runtime.monotonic))

        def read(process: int, sequence: Sequence) -> None:
            try:
                self.told[process] = sequence.read(Deadline(None, bed.runtime.monotonic))
            except SignalTornError:
                self.told[process] = "torn"

        def opened() -> Sequence:
            return Sequence(bed.segment, put, copy, bed.runtime, bed.kernel)

        writers: dict[int, Callable[[], None]] = {p: partial(write, p, opened()) for p in self.model.writers}
        return writers | {p: partial(read, p, opened()) for p in self.model.readers}

    def is_silent(self, task: Task) -> bool:
        silent = (f"load {_trailer(WAITERS)}", f"load {_trailer(LOCK_OWNER + 1)}", f"store {_trailer(LOCK_OWNER + 1)}")
        return super().is_silent(task) or str(task.op).startswith(silent)

    def about_to(self, state: Any, process: int) -> str:
        pc, done = state.pc[process], len(state.copy[process])
        number, full = _trailer(SEQUENCE), done == self.config.cells
        if pc == "got":
            got = self.told.get(process)
            return "ended" if got == state.copy[process] else f"return {state.copy[process]}, not {got}"
        if pc == "torn":
            return "ended" if self.told.get(process) == "torn" else "say that the writer is dead"
        if pc == "idle":
            return f"acquire take {_lock(WRITERS)}" if state.left[process] else "ended"
        even = f"store {number} = {state.seen[process] + 1}"
        return {
            "begin": f"load {number}",
            "odd store": f"store {number} = {state.seen[process] | 1}",
            "fill": even if full else f"store word {done} = {state.next[process]}",
            "unlock": f"acquire give {_lock(WRITERS)}",
            "before": f"load {number}",
            "odd": f"acquire take {_lock(WRITERS)} | load {number}",
            "copy": f"load {number}" if full else f"load word {done}",
            "dead": "killed | ended",
        }[pc]

    def differs(self, state: Any) -> str:
        found = {
            "mem": (self.bed.trailer[SEQUENCE], *self.bed.data),
            "buf": self.buffers(len(state.pc), self.names),
            "lock": self.keeper(WRITERS),
        }
        return "; ".join(f"{name} is {value}" for name, value in found.items() if value != getattr(state, name))

    def early(self, scheduler: Scheduler, state: Any, then: Walk) -> Task | None:
        """A reader that will look at the number again must fail to get the lock before, while a writer has it."""
        for process in self.model.readers:
            (task,) = (task for task in scheduler._tasks if task.name == f"process {process}")
            coming = (action.name for _, action, _ in then if action.param("process") == process)
            waits = state.pc[process] == "odd" and str(task.op) == f"acquire take {_lock(WRITERS)}"
            if waits and state.lock != -1 and next(coming, "") == "SeeBefore":
                return task
        return None

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        del scheduler, task, then
        return 3 if action.name == "Prove" else 1  # take, look, give
