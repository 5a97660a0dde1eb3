"""The biased writer's place as :mod:`tests.conformance.word_walks` drives it, through ``Producer.put`` as it ships.

The ring has one slot, whose number is the last message's: what the model calls ``head``. All other words of the ring
reach memory at once, and nothing is seen of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from fdcomm.errors import CommTimeoutError
from fdcomm.ring.board import Board
from fdcomm.ring.layout import BIAS, CURSOR, HEAD, SEQ, Shape
from fdcomm.ring.locks import _TOKENS, WRITER, KernelLocks
from fdcomm.ring.place import WriterPlace
from fdcomm.ring.producer import Producer
from fdcomm.testing import ControlledRuntime
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.tasks import Task
from models import ring_bias, ring_bias_state
from models.kernel import Action
from tests.conformance.ring_bed import Bed
from tests.conformance.word_walks import Part, Walk

__all__ = ("BiasPart", "Process", "bias_bed")

_NEVER = 10**9


class Interrupt(Exception):
    """Comes where the number is stored, and not noted."""


class _Files:
    """Descriptors of one process: the locks that are taken with them are the simulated kernel's."""

    def __init__(self, first: int) -> None:
        self._next = first

    def again(self, fd: int) -> int:
        """Open the file once more."""
        self._next += 1
        return self._next

    def call(self, fd: int, function: Callable[[int], Any]) -> Any:
        """Call with a descriptor."""
        return function(fd)


class _Deaf:
    """A kernel without barriers."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def joins_barriers(self) -> bool:
        """They do not come here."""
        return False

    def barrier(self) -> bool:
        """It reaches nobody else."""
        return False

    def fence(self) -> None:
        """What it does for readers that sleep is not seen here."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class _Words:
    """The words as a process has them that may be interrupted after it has stored a message's number.

    An access to one of those that the model has is a step of its task.
    """

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._seq = bed.shape.of_slot(0, SEQ)
        self.cut = False
        self.stored: list[int] = []

    def _of(self, place: int) -> Any:
        return self._bed.words if place in self._bed.direct else self._bed.board.words

    def __getitem__(self, place: int, /) -> int:
        return int(self._of(place)[place])

    def __setitem__(self, place: int, value: int, /) -> None:
        self._of(place)[place] = value
        if place == self._seq:
            self.stored.append(value)
            if self.cut:
                self.cut = False
                raise Interrupt


class _Limit:
    """A deadline that is over when the test says so."""

    def __init__(self) -> None:
        self.late = False

    def remaining(self) -> float | None:
        """The caller's error, at once: nobody is asked for the name of who has the place."""
        if self.late:
            self.late = False
            raise CommTimeoutError("put: the time is over", operation="put")
        return None


class _Producer(Producer):
    limit: Any = None

    def _deadline(self, limit: Any, operation: str) -> Any:
        return self.limit


class Process:
    """A producer with descriptors, locks and a view of its own.

    Args:
        bed: The ring.
        number: Of the process.
        deaf: Its kernel has no barrier.
        kind: The class of its place.
        row: How many puts in a row make it biased.
    """

    def __init__(
        self, bed: Bed, number: int, deaf: bool = False, kind: type[WriterPlace] = WriterPlace, row: int = _NEVER
    ) -> None:
        shape, kernel = bed.shape, _Deaf(bed.kernel) if deaf else bed.kernel
        segment: Any = SimpleNamespace(files=_Files(100 * (number + 1)), fd=0, name="ring")
        mine: Any = kernel
        locks = KernelLocks(segment, mine, bed.runtime)
        self.words = _Words(bed)
        board = Board(shape, self.words, bed.board.flags, mine, bed.runtime, bed.locks, lambda word: 1 + word)
        memory: Any = SimpleNamespace(board=board, shape=shape, locks=locks, payloads=(bytearray(64),), segment=segment)
        self.producer = _Producer(memory, 64)
        self.limit = self.producer.limit = _Limit()
        self.place = self.producer._place = kind(board, locks, 1)
        self.place._wanted = row
        self.done = 0

    def put(self, count: int) -> None:
        """Put, whatever comes."""
        for _ in range(count):
            with contextlib.suppress(CommTimeoutError, Interrupt):
                self.producer._do(b"x", None, "put", 1)
                self.done += 1


def bias_bed(scheduling: ControlledRuntime, processes: int, tokens: int) -> Bed:
    """Return a ring of one slot, whose reader is always done with everything."""
    shape = Shape(1, 1, 64)
    shown = {BIAS, *(BIAS + token for token in range(1, tokens + 1)), shape.of_slot(0, SEQ)}
    everything = set(range(shape.nbytes // 8))
    bed = Bed(scheduling, shape, everything - shown, [f"process {number}" for number in range(processes)])
    bed.words[shape.of_line(0, CURSOR)] = 10**6
    return bed


class BiasPart(Part):
    """Every step of the model, through the code."""

    config: ring_bias_state.Config
    model: ring_bias.RingBias
    bed: Bed
    processes: list[Process]

    def __init__(self, config: ring_bias_state.Config, kind: type[WriterPlace] = WriterPlace) -> None:
        super().__init__(config, ring_bias.RingBias(config))
        self._kind = kind

    def build(self, scheduling: ControlledRuntime, now: Callable[[], Any]) -> dict[int, Callable[[], None]]:
        del now
        config = self.config
        self.bed = bed = bias_bed(scheduling, config.writers, config.tokens)
        self._seq = bed.shape.of_slot(0, SEQ)
        self.processes = [Process(bed, p, p in config.deaf, self._kind) for p in self.model.writers]
        return {p: partial(process.put, config.puts) for p, process in enumerate(self.processes)}

    def is_silent(self, task: Task) -> bool:
        return super().is_silent(task) or str(task.op) == "acquire barrier ends"

    def about_to(self, state: Any, process: int) -> str:
        mine, aim, pc = state.mine[process], state.aim[process], state.pc[process]
        name = self.bed.name
        bias, seq, take = f"{name(BIAS)}", name(self._seq), f"acquire take {WRITER}"
        word, other, give = name(BIAS + mine), name(BIAS + aim), f"acquire give {WRITER}"
        if pc == "idle" and state.asked[process] == self.config.puts:
            return "ended"
        return {
            "idle": f"store {word} = 1" if mine else take,
            "mark": f"store {word} = 1",
            "look": f"load {bias}",
            "unmark": f"store {word} = 0",
            "drop": f"acquire give {_TOKENS + mine}",
            "wait": take,
            "check": f"load {bias}",
            "revoke": f"store {bias} = {-aim}",
            "barrier": f"acquire barrier reaches process {state.at[process]}",
            "await": f"load {other}",
            "life": f"acquire take {_TOKENS + aim}",
            "late": f"load {other} | {give}",
            "settle": f"store {bias} = 0",
            "see": f"load {seq}",
            "publish": f"store {seq} = {state.known[process] + 1}",
            "leave": f"store {word} = 0",
            "keep": f"{give} | acquire take {_TOKENS + 1}",
            "clean": f"store {word} = 0",
            "claim": f"store {bias} = {mine}",
            "give": give,
            "dead": "killed | ended",
        }[pc]

    def prepare(self, scheduler: Scheduler, task: Task, action: Action, then: Walk) -> int:
        """Let the code decide as the model does; say how many accesses it is."""
        del scheduler, task
        p: int = action.params[0][1]
        process, (before, _, after) = self.processes[p], then[0]
        comes = [step.name for _, step, _ in then[1:] if step.param("process") == p]
        following = next((name for name in comes if name not in ("Flush", "Stop")), "")
        if action.name == "Publish":
            process.place._wanted = 0 if following == "TakeToken" else _NEVER
        elif action.name == "Cut":
            process.words.cut = True
        elif action.name == "TakeToken":
            return int(after.mine[p])  # one after the other, until one is free
        elif action.name == "GiveUp" and before.pc[p] == "wait":
            process.limit.late = True
            return 2  # it tries once more before it waits
        elif action.name == "SeeLife":
            process.limit.late = following == "GiveUp"
            return 2 if after.pc[p] == "settle" else 1  # a lock that was free is given back
        elif action.name == "See":
            return 1 + int(self.bed.words[HEAD] < after.known[p])
        return 1

    def differs(self, state: Any) -> str:
        words, locks = self.bed.words, self.bed.kernel.locks
        owners = self.bed.kernel.owners

        def holder(place: int) -> int:
            return next((int(owners[fd].split()[1]) for fd in locks.get(place, {})), -1)

        tokens = range(1, self.config.tokens + 1)
        rests = [p for p in self.model.writers if state.pc[p] == "idle" and state.mine[p]]
        found = {
            "bias": (words[BIAS],) == state.mem.bias,
            "putting": tuple(words[BIAS + token] for token in tokens) == state.mem.putting,
            "head": (words[self._seq],) == state.mem.head,
            "stores under way": [len(self.bed.runtime.buffers.get(f"process {p}", ())) for p in self.model.writers]
            == list(map(len, state.buf)),
            "lock": holder(WRITER) == state.lock,
            "tokens": tuple(holder(_TOKENS + token) for token in tokens) == state.held,
            "sure": all(self.processes[p].place.sure == state.sure[p] for p in rests),
            "known": all(self.processes[p].producer._publisher.head == state.known[p] for p in rests),
        }
        return ", ".join(name for name, same in found.items() if not same)

    def by_hand(self, scheduler: Scheduler, action: Action, then: Walk) -> bool:
        name = f"process {action.param('process')}"
        if action.name == "Flush":
            self.bed.runtime.flush(name)
        elif action.name == "Kill":
            scheduler.kill(name)
            self.bed.kernel.free(name)
        return action.name in ("Ask", "Flush", "Kill", "Stop")
