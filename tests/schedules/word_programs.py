"""Programs over the shipping typed access to signals, on memory with store buffers; the published steps beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, SignalReplacedError, SignalTornError
from fdcomm.signals.layout import WAITERS, WAKE
from fdcomm.signals.sequenced import Sequence
from fdcomm.signals.word import Word
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.word_segment import Bed

__all__ = ("PROGRAMS", "RACES", "race", "sequence_of", "word_of")

CELLS = 2


def word_of(bed: Bed) -> Word:
    """Return the word of a bed, as a process opens it."""
    return Word(bed.segment, runtime=bed.runtime, kernel=bed.kernel)


def sequence_of(bed: Bed, cells: int = CELLS) -> Sequence:
    """Return the words of a bed as one, stored and copied word by word."""

    def put(content: tuple[int, ...]) -> None:
        for place in range(cells):
            bed.runtime.store(bed.data, place, content[place])

    def copy() -> tuple[int, ...]:
        return tuple(bed.runtime.load(bed.data, place) for place in range(cells))

    return Sequence(bed.segment, put, copy, bed.runtime, bed.kernel)


def _scenario(bed: Bed, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
    memory = {f"memory of {name}": bed.runtime.memory_of(name) for name in tasks if bed.weak}
    return Scenario({**tasks, **memory}, final=final)


def _never(bed: Bed) -> Deadline:
    return Deadline(None, bed.runtime.monotonic)


# -- set and wait --------------------------------------------------------------------------------------------------


def waiting(
    scheduling: ControlledRuntime, setters: int = 1, sets: int = 1, barrier: bool = True, weak: bool = True
) -> Scenario:
    """Each sets 1, 2, ..; one waits for the last value. It returns without its interval having to end."""
    names = tuple(f"setter {number}" for number in range(setters))
    bed = Bed(scheduling, setters=names if barrier else (), weak=weak)
    waiter = word_of(bed)
    start = bed.runtime.monotonic()
    got: list[int] = []

    def set_all(word: Word) -> None:
        for value in range(1, sets + 1):
            word.set(value)

    def wait() -> None:
        got.append(waiter.wait_for(lambda value: value == sets, None))

    def final() -> None:
        assert got == [sets], f"the waiter returned {got}"
        assert scheduling.scheduler.clock == start, "the waiter slept through its wake-up"
        assert bed.trailer[WAITERS] == 0 or setters > 1, "the flag stays up"

    return _scenario(bed, {name: partial(set_all, word_of(bed)) for name in names} | {"waiter": wait}, final)


def superseded(scheduling: ControlledRuntime) -> Scenario:
    """The segment is replaced while one waits: it is told, without its interval having to end."""
    bed = Bed(scheduling)
    waiter = word_of(bed)
    start = bed.runtime.monotonic()
    told: list[str] = []

    def wait() -> None:
        try:
            waiter.wait_for(bool, None)
        except SignalReplacedError as error:
            told.append(type(error).__name__)

    def final() -> None:
        assert told == ["SignalReplacedError"]
        assert scheduling.scheduler.clock == start, "the waiter slept through the end of its segment"

    return _scenario(bed, {"creator": bed.supersede, "waiter": wait}, final)


def killed(scheduling: ControlledRuntime) -> Scenario:
    """The setter is killed at any moment: what it stored is seen, at the latest at the end of the interval."""
    bed = Bed(scheduling, setters=("setter",), weak=False)
    setter, waiter = word_of(bed), word_of(bed)
    told: list[object] = []

    def wait() -> None:
        try:
            told.append(waiter.wait_for(bool, 1.0))
        except CommTimeoutError:
            told.append("late")

    def kill() -> None:
        bed.runtime.kill("setter")
        bed.kernel.free("setter")

    def final() -> None:
        assert told == ([1] if bed.data[0] else ["late"]), f"the value is {bed.data[0]}, and the waiter was told {told}"

    return _scenario(bed, {"setter": partial(setter.set, 1), "waiter": wait, "killer": kill}, final)


# -- add, compare and set ------------------------------------------------------------------------------------------


def adding(scheduling: ControlledRuntime) -> Scenario:
    """Two add, one compares and sets: nothing is lost."""
    bed = Bed(scheduling, weak=False)
    olds: list[int] = []
    done: list[bool] = []

    def add() -> None:
        olds.append(word_of(bed).add(1, None))

    def compare() -> None:
        done.append(word_of(bed).compare_and_set(0, 10, None))

    def final() -> None:
        assert bed.data[0] == 2 + 10 * done[0], f"the value is {bed.data[0]}"
        assert len(set(olds)) == 2

    return _scenario(bed, {"one": add, "other": add, "third": compare}, final)


# -- several words as one ------------------------------------------------------------------------------------------


def writing(scheduling: ControlledRuntime, writers: int = 1, weak: bool = True) -> Scenario:
    """A reader beside writers: what it gets is of one write."""
    bed = Bed(scheduling, CELLS, weak=weak)
    got: list[Any] = []

    def write(number: int) -> None:
        sequence_of(bed).write((number,) * CELLS, _never(bed))

    def read() -> None:
        got.append(sequence_of(bed).read(_never(bed)))

    def final() -> None:
        assert len(set(got[0])) == 1, f"read {got[0]}"

    tasks: dict[str, Callable[[], None]] = {f"writer {n}": partial(write, n) for n in range(1, writers + 1)}
    return _scenario(bed, tasks | {"reader": read}, final)


def torn(scheduling: ControlledRuntime) -> Scenario:
    """The writer is killed at any moment: the reader gets the words of one write, or the news."""
    bed = Bed(scheduling, CELLS, weak=False)
    told: list[Any] = []
    writer, reader = sequence_of(bed), sequence_of(bed)

    def read() -> None:
        try:
            told.append(reader.read(_never(bed)))
        except SignalTornError:
            told.append("torn")

    def kill() -> None:
        bed.runtime.kill("writer")
        while not bed.runtime.is_drained("writer"):
            bed.runtime.flush("writer")
        bed.kernel.free("writer")

    def final() -> None:
        assert told == ["torn"] or len(set(told[0])) == 1, f"read {told}"

    tasks: dict[str, Callable[[], None]] = {
        "writer": lambda: writer.write((1,) * CELLS, _never(bed)),
        "reader": read,
        "killer": kill,
    }
    return _scenario(bed, tasks, final)


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), bound)


# With store buffers where the order of stores and loads is what it is about; without them, more processes.
PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("set and wait, store buffers", waiting, Bound()),
        _program("set twice, and wait", partial(waiting, sets=2, weak=False), Bound()),
        _program("two set, one waits", partial(waiting, setters=2, weak=False), Bound()),
        _program("set and wait, spurious wake-ups", partial(waiting, weak=False), Bound(spurious=2)),
        _program("replaced while one waits, store buffers", superseded, Bound()),
        _program("the setter is killed", killed, Bound()),
        _program("add, add, compare and set", adding, Bound(preemptions=2)),
        _program("write and read as one, store buffers", writing, Bound()),
        _program("two write, one reads", partial(writing, writers=2, weak=False), Bound(preemptions=2)),
        _program("the writer is killed", torn, Bound()),
    )
)


# -- the published steps, and the obvious ones -----------------------------------------------------------------------


def _lost_update(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """value[0] += 1 in two processes."""
    bed = Bed(scheduling)

    def add() -> None:
        if shipped:
            scheduling.store(bed.data, 0, scheduling.load(bed.data, 0) + 1)
        else:
            word_of(bed).add(1, None)

    def final() -> None:
        assert bed.data[0] == 2, f"two added 1, and the value is {bed.data[0]}"

    return _scenario(bed, {"one": add, "other": add}, final)


def _torn_read(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A pair is written in the place of another one while somebody reads."""
    bed = Bed(scheduling, CELLS)
    got: list[Any] = []

    def write() -> None:
        if shipped:
            for place in range(CELLS):
                scheduling.store(bed.data, place, 1)
        else:
            sequence_of(bed).write((1,) * CELLS, _never(bed))

    def read() -> None:
        if shipped:
            got.append(tuple(scheduling.load(bed.data, place) for place in range(CELLS)))
        else:
            got.append(sequence_of(bed).read(_never(bed)))

    def final() -> None:
        assert len(set(got[0])) == 1, f"read {got[0]}, which nobody wrote"

    return _scenario(bed, {"writer": write, "reader": read}, final)


def _lost_wake_up(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A flag that somebody waits, looked at after the store, and no barrier between."""
    if not shipped:
        return waiting(scheduling)
    bed = Bed(scheduling)
    start = bed.runtime.monotonic()
    runtime, kernel = bed.runtime, bed.kernel

    def set_one() -> None:
        runtime.store(bed.data, 0, 1)
        if runtime.load(bed.trailer, WAITERS):
            runtime.store(bed.trailer, WAKE, kernel.token())
            kernel.wake(1)

    def wait() -> None:
        runtime.store(bed.trailer, WAITERS, 1)
        while True:
            token = runtime.load(bed.trailer, WAKE)
            if runtime.load(bed.data, 0):
                return
            kernel.sleep(1, token, 60.0)

    def final() -> None:
        assert scheduling.scheduler.clock == start, "the waiter slept through its wake-up"

    return _scenario(bed, {"setter": set_one, "waiter": wait}, final)


RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "lost-update": _lost_update,
    "torn-read": _torn_read,
    "lost-wake-up": _lost_wake_up,
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name](runtime, shipped)

    return Program(f"{name}, {'shipped' if shipped else 'ours'}", build, {})
