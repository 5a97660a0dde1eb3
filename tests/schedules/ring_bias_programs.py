"""Programs over the shipping code of producers one of which is biased, on memory with store buffers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.ring.layout import BIAS, SEQ
from fdcomm.ring.place import WriterPlace
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.ring_bed import Bed
from tests.conformance.ring_bias_part import Process, bias_bed
from tests.schedules.ring_programs import scenario

__all__ = (
    "BIAS_RACES",
    "LARGE_PROGRAMS",
    "PROGRAMS",
    "RANDOM_PROGRAMS",
    "LooksFirst",
    "killed",
    "numbers",
    "putting",
)

_PATIENCE = 4


class LooksFirst(WriterPlace):
    """The obvious order: it looks whether it is biased, and then says that it puts."""

    def enter(self, words: Any) -> bool:
        """Look, say, go."""
        if not self._mark or words[BIAS] != self._token:
            self.drop()
            return False
        self.inside = True
        words[self._mark] = 1
        return True


class _WaitsForTheWord(WriterPlace):
    """It goes by the word alone, which stays as it is when its process is killed."""

    def end(self, bias: int, deadline: Any, operation: str) -> None:
        """Wait until the word is 0."""
        self._locks.is_token_free = lambda token: False  # type: ignore[method-assign]
        super().end(bias, deadline, operation)


class _GoesOn(WriterPlace):
    """It goes on from its own last put, also when others have put since."""

    def end(self, bias: int, deadline: Any, operation: str) -> None:
        """End the bias, and see nothing."""
        super().end(bias, deadline, operation)
        for user in self._board.users:
            user.sync = lambda: None


class _Patient:
    """A deadline that does not come; who asks again and again waits for somebody who does not come either."""

    def __init__(self, asks: int = _PATIENCE) -> None:
        self._asks = asks

    def remaining(self) -> float | None:
        """None, some times."""
        self._asks -= 1
        if self._asks < 0:
            raise AssertionError("the put still waits for a process that is dead")
        return None


def numbers(bed: Bed, processes: list[Process]) -> None:
    """Each put has a number of its own, up to that which the ring has."""
    found = sorted(number for process in processes for number in process.words.stored)
    last = bed.words[bed.shape.of_slot(0, SEQ)]
    assert found == list(range(1, last + 1)), f"the puts got the numbers {found}, and the last message is {last}"


def putting(
    scheduling: ControlledRuntime,
    puts: tuple[int, ...] = (1, 1),
    tokens: int = 1,
    row: int = 10**9,
    kind: type[WriterPlace] = WriterPlace,
) -> Scenario:
    """The first process is biased; all put. ``row``: after so many in a row each becomes biased (again)."""
    bed = bias_bed(scheduling, len(puts), tokens)
    processes = [Process(bed, number, kind=kind, row=row) for number in range(len(puts))]
    processes[0].place._wanted = 1
    processes[0].put(1)
    if not processes[0].place._token:
        raise RuntimeError("it is not biased")
    tasks = {f"process {number}": partial(process.put, puts[number]) for number, process in enumerate(processes)}
    return scenario(bed, tasks, partial(numbers, bed, processes))


def killed(scheduling: ControlledRuntime, kind: type[WriterPlace] = WriterPlace) -> Scenario:
    """The biased process is killed at any moment: the other one's put ends, and has a number of its own."""
    bed = bias_bed(scheduling, 2, 1)
    processes = [Process(bed, number, kind=kind) for number in range(2)]
    processes[0].place._wanted = 1
    processes[0].put(1)
    processes[1].limit = processes[1].producer.limit = _Patient()  # type: ignore[assignment]
    for holders in bed.kernel.locks.values():
        bed.kernel.owners.update(dict.fromkeys(holders, "process 0"))

    def kill() -> None:
        bed.runtime.kill("process 0")
        while not bed.runtime.is_drained("process 0"):
            bed.runtime.flush("process 0")
        bed.kernel.free("process 0")

    def final() -> None:
        numbers(bed, processes)
        assert processes[1].done == 1

    tasks: dict[str, Callable[[], None]] = {
        "process 0": partial(processes[0].put, 1),
        "process 1": partial(processes[1].put, 1),
        "killer": kill,
    }
    return scenario(bed, tasks, final)


def left(scheduling: ControlledRuntime, kind: type[WriterPlace] = WriterPlace) -> Scenario:
    """The biased process was killed in its second put; two more put."""
    bed = bias_bed(scheduling, 3, 1)
    processes = [Process(bed, number, kind=kind) for number in range(3)]
    processes[0].place._wanted = 1
    processes[0].put(1)
    bed.words[BIAS + 1] = 1
    for holders in bed.kernel.locks.values():
        holders.clear()
    for process in processes[1:]:
        process.limit = process.producer.limit = _Patient()  # type: ignore[assignment]
    tasks = {f"process {number}": partial(processes[number].put, 1) for number in (1, 2)}
    return scenario(bed, tasks, partial(numbers, bed, processes))


def _race(
    build: Callable[..., Scenario], obvious: type[WriterPlace], scheduling: ControlledRuntime, shipped: bool
) -> Scenario:
    return build(scheduling, kind=obvious if shipped else WriterPlace)


BIAS_RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "bias": partial(_race, putting, LooksFirst),
    "bias-dead": partial(_race, left, _WaitsForTheWord),
    "bias-number": partial(_race, putting, _GoesOn),
}


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict((_program("a bias is ended", putting, Bound()),))

LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("a biased process is killed", killed, Bound()),
        _program(
            "a bias is ended, and comes back", partial(putting, puts=(2, 2), tokens=2, row=1), Bound(preemptions=2)
        ),
    )
)

_MANY: dict[str, Callable[[ControlledRuntime], Scenario]] = {
    "2 processes end a bias": partial(putting, puts=(1, 1, 1)),
    "3 processes, biased in turn": partial(putting, puts=(3, 3, 3), tokens=3, row=2),
}

# Too many schedules to try all.
RANDOM_PROGRAMS: dict[str, Program] = {name: Program(name, build, {}) for name, build in _MANY.items()}
