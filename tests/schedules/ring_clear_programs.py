"""Programs over the shipping code of the ring in which somebody clears: what is taken back, and the room it makes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import CommTimeoutError
from fdcomm.ring.clearing import clear, complete
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BEGUN, GATE, SEQ, Shape
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.ring_bed import Bed, HeldLocks
from tests.schedules.ring_programs import first, never, ring_bed, scenario, write, writer_of

__all__ = ("LARGE_PROGRAMS", "PROGRAMS", "RANDOM_PROGRAMS", "clearing", "waiting_put")

_SLOT_BYTES = 64


def _read_until(bed: Bed, line: int, last: int, got: list[int]) -> None:
    """Get messages, up to the one that is not taken back. Each has the number that the reader counts."""
    consumer = Consumer(bed.board, first(line), turns=0)
    while not got or got[-1] != last:
        size = consumer.begin(None, "get")
        consumer.end()
        consumer.tell()
        assert size == consumer.position, f"asked for message {consumer.position}, the reader got {size}"
        got.append(size)


def clearing(
    scheduling: ControlledRuntime, ranks: int = 2, slots: int = 1, rounds: int = 1, weak: bool = True
) -> Scenario:
    """Clears beside readers, and a put after each: a message is for all of them or for none."""
    names = tuple(f"reader {line}" for line in range(ranks))
    shape = Shape(ranks, slots, _SLOT_BYTES)
    late = {GATE, *(shape.of_line(line, BEGUN) for line in range(ranks))}
    late |= {shape.of_slot(slot, SEQ) for slot in range(slots)}
    bed = ring_bed(scheduling, ranks, slots, setters=names, weak=weak, plain=set(range(shape.nbytes // 8)) - late)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    publisher = writer_of(bed)
    publisher.publish(1)
    last = rounds + 1
    got: dict[str, list[int]] = {name: [] for name in names}

    def clear_and_put() -> None:
        for number in range(2, last + 1):
            clear(bed.board, None, never(bed))
            write(publisher, [number])

    def final() -> None:
        one, *others = got.values()
        assert all(other == one for other in others), f"got {got}"
        assert one == sorted(set(one)), f"got {got}"

    tasks: dict[str, Callable[[], None]] = {
        name: partial(_read_until, bed, line, last, got[name]) for line, name in enumerate(names)
    }
    return scenario(bed, {**tasks, "clearer": clear_and_put}, final)


def tickets(scheduling: ControlledRuntime, ranks: int = 1) -> Scenario:
    """Readers take messages by their numbers, beside a clear: the one that is next and not taken back, or nothing."""
    names = tuple(f"reader {line}" for line in range(ranks))
    bed = ring_bed(scheduling, ranks, setters=names, weak=False)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    publisher = writer_of(bed)
    publisher.publish(1)
    got: dict[str, list[int]] = {name: [] for name in names}

    def take(line: int, name: str) -> None:
        consumer = Consumer(bed.board, first(line), turns=0)
        while consumer.position < 2:
            ticket = consumer.next_number()
            size = consumer.try_begin(ticket) if ticket else consumer.begin(None, "get")
            if size is None:
                bed.runtime.sleep(0.001)
            else:
                assert size == consumer.position + 1, f"asked for message {consumer.position + 1}, got {size}"
                assert ticket in (0, size), f"asked for ticket {ticket}, got {size}"
                consumer.end()
                consumer.tell()
                got[name].append(size)

    def clear_and_put() -> None:
        clear(bed.board, None, never(bed))
        write(publisher, [2])

    def final() -> None:
        assert list(got.values()) in ([[2]] * ranks, [[1, 2]] * ranks), f"got {got}"

    tasks: dict[str, Callable[[], Any]] = {name: partial(take, line, name) for line, name in enumerate(names)}
    return scenario(bed, {**tasks, "clearer": clear_and_put}, final)


def clear_killed(scheduling: ControlledRuntime) -> Scenario:
    """A clear is killed at any moment: who gets its lock does the rest, and the ring goes on."""
    bed = ring_bed(scheduling, setters=("reader",), weak=False)
    publisher = writer_of(bed)
    publisher.publish(1)
    got: list[int] = []

    def kill() -> None:
        bed.runtime.kill("clearer")
        complete(bed.board)
        write(publisher, [2])

    def final() -> None:
        assert got in ([1, 2], [2]), f"got {got}"
        assert bed.words[GATE] % 2 == 0

    tasks: dict[str, Callable[[], Any]] = {"reader": partial(_read_until, bed, 0, 2, got), "killer": kill}
    return scenario(bed, {"clearer": lambda: clear(bed.board, None, never(bed)), **tasks}, final)


def writer_killed(scheduling: ControlledRuntime) -> Scenario:
    """The writer is killed at any moment of a put after a clear: the next one goes on, and the reader gets all."""
    bed = ring_bed(scheduling, setters=("reader",), weak=False)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    writer_of(bed).publish(1)
    clear(bed.board, None, never(bed))
    got: list[int] = []

    def take_over() -> None:
        bed.runtime.kill("writer")
        publisher = writer_of(bed)
        write(publisher, range(publisher.head + 1, 4))

    def final() -> None:
        assert got == [2, 3], f"got {got}"

    tasks: dict[str, Callable[[], Any]] = {
        "writer": lambda: write(writer_of(bed), [2]),
        "reader": partial(_read_until, bed, 0, 3, got),
        "killer": take_over,
    }
    return scenario(bed, tasks, final)


def waiting_put(scheduling: ControlledRuntime, weak: bool = False, writer: Any = writer_of) -> Scenario:
    """The ring is full and no reader comes: a clear makes room, also for a put that sleeps already."""
    bed = ring_bed(scheduling, setters=("clearer",), weak=weak)
    start = bed.runtime.monotonic()
    publisher = writer(bed)
    publisher.publish(1)
    told: list[str] = []

    def put() -> None:
        try:
            write(publisher, [2], 1.0)
        except CommTimeoutError:
            told.append("a put after a clear waits for a reader")

    def final() -> None:
        assert not told, told[0]
        assert publisher.head == 2
        assert scheduling.scheduler.clock == start, "the writer slept through the clear"

    tasks: dict[str, Callable[[], Any]] = {"writer": put, "clearer": lambda: clear(bed.board, None, never(bed))}
    return scenario(bed, tasks, final)


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("a clear beside a reader, store buffers", partial(clearing, ranks=1), Bound(preemptions=1)),
        _program("a clear is killed", clear_killed, Bound(preemptions=1)),
        _program("a put waits, and a clear makes room", waiting_put, Bound()),
        _program("the writer is killed after a clear", writer_killed, Bound(preemptions=1)),
        _program("tickets beside a clear", tickets, Bound(preemptions=2)),
        _program("2 clears beside a reader", partial(clearing, ranks=1, rounds=2, weak=False), Bound(preemptions=2)),
    )
)
LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program(
            "a put waits, and a clear makes room, store buffers", partial(waiting_put, weak=True), Bound(preemptions=3)
        ),
    )
)

# Too many schedules to try all: random ones, in which time passes as it likes.
_RANDOM: dict[str, Callable[[ControlledRuntime], Scenario]] = {
    "a clear beside 2 readers, store buffers": clearing,
    "3 clears beside 2 readers, 2 slots, store buffers": partial(clearing, slots=2, rounds=3),
}
RANDOM_PROGRAMS = {name: Program(name, build, {}) for name, build in _RANDOM.items()}
