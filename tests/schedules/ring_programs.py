"""Programs over the shipping code of the ring, on memory with store buffers, with its real sleeps and wake-ups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from fdcomm.deadline import Deadline
from fdcomm.errors import CommTimeoutError, FencedError, PeerLostError
from fdcomm.ring.clearing import clear, complete
from fdcomm.ring.consumer import Consumer
from fdcomm.ring.layout import BEGUN, GATE, LIVES, PID, Shape
from fdcomm.ring.members import Place, attach, fence
from fdcomm.ring.publisher import Publisher
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.ring_bed import Bed, HeldLocks

__all__ = ("LARGE_PROGRAMS", "PROGRAMS", "RANDOM_PROGRAMS", "never", "read", "ring_bed", "scenario", "writer_of")

_SLOT_BYTES = 64


def ring_bed(
    scheduling: ControlledRuntime,
    ranks: int = 1,
    slots: int = 1,
    *,
    setters: Iterable[str] = (),
    weak: bool = True,
    plain: Iterable[int] = (),
) -> Bed:
    """Return a ring whose readers have come. Stores to words of ``plain`` reach memory at once."""
    bed = Bed(scheduling, Shape(ranks, slots, _SLOT_BYTES), plain, setters, weak=weak)
    for line in range(ranks):
        bed.words[bed.shape.of_line(line, PID)] = 1 + line
    return bed


def writer_of(bed: Bed) -> Publisher:
    """Return the writer's side. It does not look twice before it sleeps."""
    return Publisher(bed.board, turns=0)


def write(publisher: Publisher, numbers: Iterable[int], timeout: float | None = None) -> None:
    """Put messages that are these numbers."""
    for number in numbers:
        if publisher.head >= publisher.room:
            publisher.make_room(timeout, "put")
        publisher.publish(number)


def read(bed: Bed, place: Place, count: int, got: list[int]) -> None:
    """Get that many messages."""
    consumer = Consumer(bed.board, place, turns=0)
    for _ in range(count):
        size = consumer.begin(None, "get")
        consumer.end()
        consumer.tell()
        got.append(size)


def never(bed: Bed) -> Deadline:
    """Return a deadline that does not come."""
    return Deadline(None, bed.runtime.monotonic)


def scenario(bed: Bed, tasks: Mapping[str, Callable[[], Any]], final: Callable[[], None]) -> Scenario:
    """Return the scenario of these processes, each with its store buffer."""
    memory = {f"memory of {name}": bed.runtime.memory_of(name) for name in tasks if bed.weak}
    return Scenario({**tasks, **memory}, final=final)


def _first(line: int) -> Place:
    return Place(line, line, 0, 0)


# -- put and get ---------------------------------------------------------------------------------------------------


def delivering(
    scheduling: ControlledRuntime, puts: int = 1, ranks: int = 1, slots: int = 1, weak: bool = True, timed: bool = True
) -> Scenario:
    """Everybody gets everything, and nobody sleeps until his interval ends."""
    names = tuple(f"reader {line}" for line in range(ranks))
    bed = ring_bed(scheduling, ranks, slots, setters=("writer",), weak=weak)
    start = bed.runtime.monotonic()
    got: dict[str, list[int]] = {name: [] for name in names}
    publisher = writer_of(bed)
    tasks: dict[str, Callable[[], None]] = {"writer": partial(write, publisher, range(1, puts + 1))}
    tasks |= {name: partial(read, bed, _first(line), puts, got[name]) for line, name in enumerate(names)}

    def final() -> None:
        assert all(sizes == list(range(1, puts + 1)) for sizes in got.values()), f"got {got}"
        assert not timed or scheduling.scheduler.clock == start, "somebody slept through his wake-up"

    return scenario(bed, tasks, final)


def full(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """The writer sleeps until the slot is free again."""
    bed = ring_bed(scheduling, setters=("reader",), weak=weak)
    start = bed.runtime.monotonic()
    publisher = writer_of(bed)
    publisher.publish(1)
    got: list[int] = []

    def final() -> None:
        assert got == [1], f"got {got}"
        assert publisher.head == 2
        assert scheduling.scheduler.clock == start, "the writer slept through its wake-up"

    tasks: dict[str, Callable[[], None]] = {
        "writer": partial(write, publisher, [2]),
        "reader": partial(read, bed, _first(0), 1, got),
    }
    return scenario(bed, tasks, final)


# -- who is given up -----------------------------------------------------------------------------------------------


def reader_killed(scheduling: ControlledRuntime) -> Scenario:
    """A reader is killed at any moment: the other one gets everything, and the put ends."""
    bed = ring_bed(scheduling, 2, setters=("reader 0", "reader 1"), weak=False)
    publisher = writer_of(bed)
    publisher.publish(1)
    got: list[int] = []

    def kill() -> None:
        bed.runtime.kill("reader 1")
        bed.locks.dead.add(1)

    def final() -> None:
        assert (publisher.head, got) == (2, [1]), f"head {publisher.head}, got {got}"

    tasks: dict[str, Callable[[], None]] = {
        "writer": partial(write, publisher, [2]),
        "reader 0": partial(read, bed, _first(0), 1, got),
        "reader 1": partial(read, bed, _first(1), 1, []),
        "killer": kill,
    }
    return scenario(bed, tasks, final)


def zombie(scheduling: ControlledRuntime) -> Scenario:
    """A reader is given up while it copies: it returns the message that it began, or the news."""
    bed = ring_bed(scheduling, 2, weak=True, plain=(*range(LIVES), *_begun(2)))
    publisher = writer_of(bed)
    publisher.publish(1)
    bed.words[bed.shape.of_line(0, 0)] = 1  # rank 0 is done with it
    told: list[Any] = []

    def get() -> None:
        try:
            read(bed, _first(1), 1, told)
        except FencedError:
            told.append("given up")

    def give_up_and_put() -> None:
        fence(bed.board, 1, never(bed))
        bed.kernel.fence()  # the lock of the members, given back
        write(publisher, [2])

    def final() -> None:
        assert told in ([1], ["given up"]), f"told {told}"

    return scenario(bed, {"reader": get, "writer": give_up_and_put}, final)


def come_back(scheduling: ControlledRuntime) -> Scenario:
    """A rank comes back while another one reads and the writer puts: it gets what nobody had begun, and what comes."""
    bed = ring_bed(scheduling, 2, setters=("reader", "second", "writer"), weak=False)
    bed.words[LIVES + 1] = 1
    publisher = writer_of(bed)
    publisher.publish(1)
    got: list[int] = []
    later: list[int] = []

    def second() -> None:
        place = attach(bed.board, 1, never(bed))
        read(bed, place, 2 - place.position, later)

    def final() -> None:
        assert got == [1, 2], f"rank 0 got {got}"
        assert later in ([1, 2], [2], []), f"rank 1 got {later}"

    tasks: dict[str, Callable[[], None]] = {
        "reader": partial(read, bed, _first(0), 2, got),
        "writer": partial(write, publisher, [2]),
        "second": second,
    }
    return scenario(bed, tasks, final)


def everybody_lost(scheduling: ControlledRuntime) -> Scenario:
    """The only rank is given up while a put waits for it: the put says so."""
    bed = ring_bed(scheduling, weak=False)
    publisher = writer_of(bed)
    publisher.publish(1)
    told: list[str] = []

    def put() -> None:
        try:
            write(publisher, [2], 10.0)
        except (PeerLostError, CommTimeoutError) as error:
            told.append(type(error).__name__)

    def final() -> None:
        assert told == ["PeerLostError"], f"told {told}"

    return scenario(bed, {"writer": put, "host": lambda: fence(bed.board, 0, never(bed))}, final)


# -- a clear -------------------------------------------------------------------------------------------------------


def clearing(scheduling: ControlledRuntime, ranks: int = 2, weak: bool = True) -> Scenario:
    """A clear beside readers: a message is for all of them or for none."""
    names = tuple(f"reader {line}" for line in range(ranks))
    shape = Shape(ranks, 1, _SLOT_BYTES)
    late = {GATE, *(shape.of_line(line, BEGUN) for line in range(ranks))}
    bed = ring_bed(scheduling, ranks, setters=names, weak=weak, plain=set(range(shape.nbytes // 8)) - late)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    publisher = writer_of(bed)
    publisher.publish(1)
    got: dict[str, list[int]] = {name: [] for name in names}

    def get(line: int, name: str) -> None:
        consumer = Consumer(bed.board, _first(line), turns=0)
        while 2 not in got[name]:
            size = consumer.begin(None, "get")
            consumer.end()
            consumer.tell()
            got[name].append(size)

    def clear_and_put() -> None:
        clear(bed.board, None, never(bed))
        write(publisher, [2])

    def final() -> None:
        assert list(got.values()) in ([[2]] * ranks, [[1, 2]] * ranks), f"got {got}"

    tasks: dict[str, Callable[[], None]] = {name: partial(get, line, name) for line, name in enumerate(names)}
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

    def get() -> None:
        consumer = Consumer(bed.board, _first(0), turns=0)
        while not got or got[-1] != 2:
            size = consumer.begin(None, "get")
            consumer.end()
            consumer.tell()
            got.append(size)

    def final() -> None:
        assert got in ([1, 2], [2]), f"got {got}"
        assert bed.words[GATE] % 2 == 0

    tasks: dict[str, Callable[[], Any]] = {"reader": get, "killer": kill}
    return scenario(bed, {"clearer": lambda: clear(bed.board, None, never(bed)), **tasks}, final)


def _begun(ranks: int) -> list[int]:
    shape = Shape(ranks, 1, _SLOT_BYTES)
    return [shape.of_line(line, BEGUN) for line in range(shape.lines)]


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("put and get, store buffers", delivering, Bound(preemptions=3)),
        _program("2 puts, 1 slot", partial(delivering, puts=2, weak=False), Bound(preemptions=2)),
        _program("the ring is full", full, Bound()),
        _program("a reader is killed", reader_killed, Bound(preemptions=1)),
        _program("a reader is given up while it copies, store buffers", zombie, Bound(preemptions=3)),
        _program("a rank comes back", come_back, Bound(preemptions=1)),
        _program("nobody is counted any more", everybody_lost, Bound()),
        _program("a clear beside a reader, store buffers", partial(clearing, ranks=1), Bound(preemptions=1)),
        _program("a clear is killed", clear_killed, Bound(preemptions=1)),
    )
)

LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (_program("the ring is full, store buffers", partial(full, weak=True), Bound(preemptions=3)),)
)


def _random(name: str, build: Callable[[ControlledRuntime], Scenario]) -> tuple[str, Program]:
    return name, Program(name, build, {})


# Too many schedules to try all: random ones, in which time passes as it likes.
RANDOM_PROGRAMS: dict[str, Program] = dict(
    (
        _random("a clear beside 2 readers, store buffers", clearing),
        _random("2 readers, 2 puts, store buffers", partial(delivering, puts=2, ranks=2, timed=False)),
        _random("4 puts, 2 slots, store buffers", partial(delivering, puts=4, slots=2, timed=False)),
    )
)
