"""The races of rings in shared memory: the published steps, or the obvious ones, and ours, under the same schedules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import CommTimeoutError, FencedError
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BEGUN, BELL, CURSOR, GATE, LIVES, SEQ, SIZE
from fdcomm.ring.members import Place, attach, fence
from fdcomm.ring.publisher import Publisher
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.ring_bed import Bed, Poll
from tests.schedules.ring_bias_programs import BIAS_RACES
from tests.schedules.ring_clear_programs import clearing
from tests.schedules.ring_clear_races import CLEAR_RACES, FEW
from tests.schedules.ring_indicator import indicator
from tests.schedules.ring_last_programs import two_last
from tests.schedules.ring_programs import (
    delivering,
    never,
    read,
    reader_killed,
    ring_bed,
    scenario,
    write,
    writer_of,
    zombie,
)

__all__ = ("BOUND", "OUR_BOUNDS", "RACES", "race")

BOUND = Bound(preemptions=2)
_FEWER = Bound(preemptions=1)
OUR_BOUNDS = dict.fromkeys(
    ("number-first", "overwritten", "waits-for-the-dead", "zombie", "comes-back", "cleared", "slept-through", *FEW),
    _FEWER,
)
"""Ours has more processes in these, or more steps; ``ring_programs.PROGRAMS`` has them with more preemptions."""
OUR_BOUNDS |= dict.fromkeys((*BIAS_RACES, "two-last"), Bound())  # with a bound fewer schedules are found equal


def _steps(bed: Bed) -> Any:
    return bed.board.words


def _number_first(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B05: the flag that announces a payload is stored before it, or becomes visible before it."""
    if not shipped:
        return delivering(scheduling)
    bed = ring_bed(scheduling, setters=("writer",))
    words, place = _steps(bed), bed.shape.of_slot(0)
    got: list[int] = []

    def put() -> None:
        words[place + SEQ] = 1
        words[place + SIZE] = 1

    def get() -> None:
        if words[place + SEQ] == 1:
            got.append(words[place + SIZE])

    def final() -> None:
        assert got in ([], [1]), f"the reader got {got} instead of message 1"

    return scenario(bed, {"writer": put, "reader": get}, final)


def _overwritten(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """The writer goes round the ring without looking where its readers are."""
    if not shipped:
        return delivering(scheduling, puts=2, weak=False)
    bed = ring_bed(scheduling, weak=False)
    publisher = writer_of(bed)
    got: list[int] = []

    def put() -> None:
        for number in (1, 2):
            publisher.publish(number)

    def get() -> None:
        consumer = Consumer(bed.board, Place(0, 0, 0, 0), turns=0)
        while consumer.position < 2:
            got.append(consumer.begin(None, "get"))
            consumer.end()

    def final() -> None:
        assert got == [1, 2], f"the reader got {got}"

    return scenario(bed, {"writer": put, "reader": get}, final)


def _waits_for_the_dead(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B83: a reader dies before it acknowledges, and the writer waits for it without a limit."""
    if not shipped:
        return reader_killed(scheduling)
    bed = ring_bed(scheduling, weak=False)
    words, cursor = _steps(bed), bed.shape.of_line(0, CURSOR)

    def put() -> None:
        for _ in range(40):
            if words[cursor] >= 1:
                return
            bed.runtime.sleep(1.0)
        raise AssertionError("the writer still waits for a reader that is dead")

    def get() -> None:
        words[cursor] = 1

    tasks: dict[str, Callable[[], None]] = {
        "writer": put,
        "reader": get,
        "killer": lambda: bed.runtime.kill("reader"),
    }
    return scenario(bed, tasks, lambda: None)


def _waits_for_the_slow(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """B06: a reader does not come, and the writer waits without a limit and without a word."""
    bed = ring_bed(scheduling, weak=False)
    words, cursor = _steps(bed), bed.shape.of_line(0, CURSOR)
    publisher = writer_of(bed)
    publisher.publish(1)
    told: list[tuple[int, ...]] = []

    def put() -> None:
        if not shipped:
            try:
                publisher.make_room(5.0, "put")
            except CommTimeoutError as error:
                told.append(error.missing)
            return
        for _ in range(40):
            if words[cursor] >= 1:
                return
            bed.runtime.sleep(1.0)

    def final() -> None:
        assert told == [(0,)], "the put still waits, and nobody is told for whom"

    return scenario(bed, {"writer": put}, final)


def _zombie(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A reader that was given up while it copied gives its caller what it has."""
    if not shipped:
        return zombie(scheduling)
    bed = ring_bed(scheduling, 2, weak=False)
    words, place = _steps(bed), bed.shape.of_slot(0)
    publisher = writer_of(bed)
    publisher.publish(1)
    bed.words[bed.shape.of_line(0, CURSOR)] = 1
    told: list[int] = []

    def get() -> None:
        if words[place + SEQ] == 1:
            told.append(words[place + SIZE])

    def give_up_and_put() -> None:
        fence(bed.board, 1, never(bed))
        write(publisher, [2])

    def final() -> None:
        assert told in ([], [1]), f"asked for message 1, the reader got {told}"

    return scenario(bed, {"reader": get, "writer": give_up_and_put}, final)


class _LivesFirst(Publisher):
    """Looks who is counted, and then at their cursors."""

    def look(self) -> bool:
        words = self._words
        lives = tuple((place, words[place]) for place, _ in self._lives)
        self._lives = lives
        low = self.head
        for _, place in self._counted():
            low = min(low, words[place])
        self.passed = low
        return True


def _comes_back(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A rank comes back between the writer's look who is counted and its look at the cursors."""
    bed = ring_bed(scheduling, 2, setters=("second", "writer"), weak=False)
    bed.words[LIVES + 1] = 1
    board = bed.board
    publisher = _LivesFirst(board, patience=Poll()) if shipped else Publisher(board, patience=Poll())  # type: ignore
    publisher.publish(1)
    told: list[Any] = []

    def first() -> None:
        # Announced, copied, and given back, without the looks that are not needed here.
        board.words[bed.shape.of_line(0, BEGUN)] = 1
        board.words[bed.shape.of_line(0, CURSOR)] = 1

    def put() -> None:
        if publisher.look() and publisher.passed >= 1:
            publisher.publish(2)

    def second() -> None:
        place = attach(board, 1, never(bed))
        consumer = Consumer(board, place, turns=0)
        try:
            told.append(consumer.begin(0.0, "get") - place.position)
        except CommTimeoutError:
            told.append("nothing yet")

    def final() -> None:
        assert told in ([1], ["nothing yet"]), "what the rank that came back should get was overwritten"

    return scenario(bed, {"reader": first, "writer": put, "second": second}, final)


def _cleared(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A clear looks whether anybody has begun, and takes back what nobody had a moment ago."""
    if not shipped:
        return clearing(scheduling, ranks=1, weak=False)
    bed = ring_bed(scheduling, 2, weak=False)
    words, place = _steps(bed), bed.shape.of_slot(0)
    publisher = writer_of(bed)
    publisher.publish(1)
    got: dict[int, int] = {}

    def get(line: int) -> None:
        if words[place + SEQ] == 1:
            got[line] = words[place + SIZE]
            words[bed.shape.of_line(line, BEGUN)] = 1

    def take_back() -> None:
        if not any(words[bed.shape.of_line(line, BEGUN)] for line in range(2)):
            words[place + SIZE] = -1

    def final() -> None:
        assert len(got) < 2 or len(set(got.values())) == 1, f"some ranks got the message and some did not: {got}"

    return scenario(bed, {"one": partial(get, 0), "other": partial(get, 1), "clearer": take_back}, final)


def _counts_anew(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """The writer is killed, and the next one begins to count at the beginning."""
    bed = ring_bed(scheduling, slots=2, weak=False)
    first = writer_of(bed)
    first.publish(11)
    got: list[Any] = []

    def put() -> None:
        second = writer_of(bed)
        if shipped:
            second.head = second.slot = 0
        write(second, [22], None)

    def get() -> None:
        try:
            read(bed, Place(0, 0, 0, 0), 2, got)
        except FencedError:
            got.append("overwritten")

    def final() -> None:
        assert got == [11, 22], f"11 and 22 were put, and the reader got {got}"

    return scenario(bed, {"writer": put, "reader": get}, final)


def _slept_through(scheduling: ControlledRuntime, shipped: bool) -> Scenario:
    """A flag that somebody sleeps, looked at after the store of the number, and no barrier between."""
    if not shipped:
        return delivering(scheduling)
    bed = ring_bed(scheduling)
    words, kernel = _steps(bed), bed.kernel
    place = bed.shape.of_slot(0)
    start = bed.runtime.monotonic()

    def put() -> None:
        words[place + SEQ] = 1
        if words[GATE + 2]:  # any word will do for the flag here
            words[BELL] = 1
            kernel.wake(1 + BELL)

    def get() -> None:
        words[GATE + 2] = 1
        while True:
            token = words[BELL]
            if words[place + SEQ] == 1:
                return
            kernel.sleep(1 + BELL, token, 60.0)

    def final() -> None:
        assert scheduling.scheduler.clock == start, "the reader slept through its wake-up"

    return scenario(bed, {"writer": put, "reader": get}, final)


RACES: dict[str, Callable[[ControlledRuntime, bool], Scenario]] = {
    "number-first": _number_first,
    "overwritten": _overwritten,
    "waits-for-the-dead": _waits_for_the_dead,
    "waits-for-the-slow": _waits_for_the_slow,
    "zombie": _zombie,
    "comes-back": _comes_back,
    "cleared": _cleared,
    "counts-anew": _counts_anew,
    "slept-through": _slept_through,
    "indicator": indicator,
    "two-last": two_last,
    "two-last-fenced": partial(two_last, fenced=True),
    **CLEAR_RACES,
    **BIAS_RACES,
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name](runtime, shipped)

    return Program(f"ring {name}, {'shipped' if shipped else 'ours'}", build, {})
