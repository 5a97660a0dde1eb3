"""Programs over the shipping host service. Each takes the runtime and returns one fresh scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import CommTimeoutError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from fdcomm.testing.schedule import Constant
from tests.schedules.endings import close_while_it_waits, end_of_the_host, fence_of_a_producer, fence_of_a_rank
from tests.schedules.testbed import Testbed

__all__ = ("PROGRAMS", "program")


def deliver(runtime: ControlledRuntime, ranks: int, batches: int, depth: int) -> Scenario:
    """One putter, some readers, everything blocking: each reader gets each batch once and in order."""
    bed = Testbed(runtime, ranks, depth)
    engine, readers = bed.session(0, "producer"), bed.readers()

    def put() -> None:
        for _ in range(batches):
            bed.put(engine)

    def read(rank: int) -> None:
        for _ in range(batches):
            bed.get(readers[rank], rank)

    def final() -> None:
        expected = list(range(1, batches + 1))
        assert all(ids == expected for ids in bed.got.values()), f"got {bed.got}"
        assert bed.core.num_tasks() == 0

    return bed.scenario({"put": put, **{f"read {r}": partial(read, r) for r in range(ranks)}}, final)


def two_putters(runtime: ControlledRuntime, puts: int) -> Scenario:
    """Two putters of a full queue and a reader: batches come in the order in which the calls arrived."""
    bed = Testbed(runtime, 1)
    engines, (reader,) = [bed.session(0, "producer") for _ in range(2)], bed.readers()
    bed.put(engines[0], 0.0)
    batches = 1 + 2 * puts

    def put(session: int) -> None:
        for _ in range(puts):
            bed.put(session)

    def read() -> None:
        for _ in range(batches):
            bed.get(reader, 0)

    def final() -> None:
        assert bed.got[0] == list(range(1, batches + 1)), f"got {bed.got[0]}"

    tasks: dict[str, Callable[[], None]] = {f"put {n}": partial(put, session) for n, session in enumerate(engines)}
    return bed.scenario({**tasks, "read": read}, final)


def clear_by_every_rank(runtime: ControlledRuntime) -> Scenario:
    """Both ranks clear after one event, while the engine puts a new batch: P1.5, and P1.4 for a started batch.

    The engine clears first and then puts: the ranks' clears are of the epoch before, so the new batch survives.
    """
    bed = Testbed(runtime, 2)
    engine, readers = bed.session(0, "producer"), bed.readers()
    old = bed.put(engine, 0.0)
    bed.get(readers[0], 0)
    new: list[int] = []

    def engine_side() -> None:
        bed.service.act(engine, "dispatch", "clear_data")
        new.append(bed.put(engine))

    def rank(number: int) -> None:
        bed.service.act(readers[number], "dispatch", "clear_data")
        for _ in range(1 + number):  # rank 0 has the old batch, rank 1 has none yet
            bed.get(readers[number], number)

    def final() -> None:
        assert bed.got == {0: [old, *new], 1: [old, *new]}, f"got {bed.got}: the new batch is {new}"

    return bed.scenario({"engine": engine_side, "rank 0": partial(rank, 0), "rank 1": partial(rank, 1)}, final)


def clear_and_put(runtime: ControlledRuntime) -> Scenario:
    """Two ranks clear while a put that did not clear goes on: it is dropped whole or delivered to both, never split."""
    bed = Testbed(runtime, 2, depth=2)
    engine, readers = bed.session(0, "producer"), bed.readers()

    def put() -> None:
        bed.put(engine)
        bed.put(engine)

    def rank(number: int) -> None:
        bed.get(readers[number], number, 0.0)
        bed.service.act(readers[number], "dispatch", "clear_data")
        bed.get(readers[number], number, 0.0)

    def final() -> None:
        # What is left over is read now, so that the two can be compared.
        for number, session in enumerate(readers):
            while bed.get(session, number, 0.0):
                pass
        assert bed.got[0] == bed.got[1], f"the ranks differ: {bed.got}"

    return bed.scenario({"put": put, "rank 0": partial(rank, 0), "rank 1": partial(rank, 1)}, final)


def poll_then_get(runtime: ControlledRuntime, batches: int) -> Scenario:
    """A reader polls the exist word, then gets without waiting: the word never lies and no wake-up is lost."""
    bed = Testbed(runtime, 1)
    engine, (reader,) = bed.session(0, "producer"), bed.readers()

    def put() -> None:
        for _ in range(batches):
            bed.put(engine)

    def read() -> None:
        for _ in range(batches):
            while not runtime.load(bed.words, 0):
                runtime.sleep(0.001)
            assert bed.get(reader, 0, 0.0), "exist was 1, and there was nothing to read"

    def final() -> None:
        assert bed.words[0] == 0
        assert bed.got[0] == list(range(1, batches + 1))

    return bed.scenario({"put": put, "read": read}, final)


def tickets(runtime: ControlledRuntime) -> Scenario:
    """Rank 0 hands a ticket to rank 1 while both may clear: both get the batch of the ticket, or neither does."""
    bed = Testbed(runtime, 2)
    engine, readers = bed.session(0, "producer"), bed.readers()
    got: dict[int, int] = {}

    def put() -> None:
        bed.put(engine, 0.0)
        bed.service.act(engine, "dispatch", "clear_data")
        with bed.expect(CommTimeoutError):
            bed.put(engine, 0.0)

    handed = runtime.condition()
    ticket: list[int] = []

    def detector() -> None:
        seen = runtime.load(bed.words, 1)
        with handed:
            ticket.append(seen)
            handed.notify_all()
        take(0, seen)

    def follower() -> None:
        with handed:
            while not ticket:
                handed.wait()
        take(1, ticket[0])

    def take(rank: int, wanted: int) -> None:
        got[rank] = bed.service.act(readers[rank], "dispatch", "get_tasks", wanted, 0.0)[0] if wanted else 0

    def final() -> None:
        assert got[0] == got[1], f"ticket {ticket[0]}: the ranks got {got}"

    return bed.scenario({"put": put, "rank 0": detector, "rank 1": follower}, final)


def put_with_timeout(runtime: ControlledRuntime, *, comes: bool) -> Scenario:
    """A put of one second while the queue is full, and a reader that comes or does not come."""
    bed = Testbed(runtime, 1)
    engine, (reader,) = bed.session(0, "producer"), bed.readers()
    bed.put(engine, 0.0)
    start = runtime.monotonic()
    answers: list[int] = []
    errors: list[CommTimeoutError] = []

    def put() -> None:
        try:
            answers.append(bed.put(engine, 1.0))
        except CommTimeoutError as error:
            errors.append(error)

    def read() -> None:
        if comes:
            bed.get(reader, 0, 0.0)

    def final() -> None:
        assert len(answers) + len(errors) == 1
        for error in errors:
            assert error.missing == (0,), f"it waited for ranks {error.missing}"
            assert error.waited_s >= 1.0, f"it gave up after {error.waited_s} s"
        assert runtime.monotonic() - start <= 1.001
        assert bool(answers) == (bed.core.num_tasks() == 1 and bed.got[0] == [1]), "answered, and not put"
        assert comes or errors, "nobody read, and put returned"

    return bed.scenario({"put": put, "read": read}, final)


def get_with_timeout(runtime: ControlledRuntime) -> Scenario:
    """A get of one second and a put: what the get gave up is there for the next get."""
    bed = Testbed(runtime, 1)
    engine, (reader,) = bed.session(0, "producer"), bed.readers()

    def put() -> None:
        bed.put(engine)

    def read() -> None:
        with bed.expect(CommTimeoutError):
            bed.get(reader, 0, 1.0)

    def final() -> None:
        if bed.raised:
            assert bed.get(reader, 0, 0.0) == 1
        assert bed.got[0] == [1]

    return bed.scenario({"put": put, "read": read}, final)


_BUILDS: dict[str, Callable[..., Scenario]] = {
    "deliver": deliver,
    "two putters": two_putters,
    "clear by every rank": clear_by_every_rank,
    "clear and put": clear_and_put,
    "fence of a rank": fence_of_a_rank,
    "fence of a producer": fence_of_a_producer,
    "poll then get": poll_then_get,
    "tickets": tickets,
    "put with timeout": put_with_timeout,
    "get with timeout": get_with_timeout,
    "close while it waits": close_while_it_waits,
    "end of the host": end_of_the_host,
}


def program(name: str, **constants: Constant) -> Program:
    """Return a program by name."""
    return Program(name, partial(_BUILDS[name], **constants), constants)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "1 putter, 2 readers, 2 batches": (program("deliver", ranks=2, batches=2, depth=1), Bound()),
    "1 putter, 2 readers, 1 batch": (program("deliver", ranks=2, batches=1, depth=1), Bound(spurious=1)),
    "2 putters, 1 reader": (program("two putters", puts=1), Bound(spurious=1)),
    "clear by every rank of one epoch, and a new put": (program("clear by every rank"), Bound()),
    "two ranks clear while batches are put": (program("clear and put"), Bound()),
    "fence of a rank that a put waits for": (program("fence of a rank"), Bound(spurious=1)),
    "fence of a producer whose put waits": (program("fence of a producer"), Bound()),
    "poll of the exist word, then get": (program("poll then get", batches=2), Bound()),
    "tickets, with a clear between": (program("tickets"), Bound()),
    "put of 1 s, the reader comes": (program("put with timeout", comes=True), Bound(ticks=1, spurious=1)),
    "put of 1 s, the reader does not come": (program("put with timeout", comes=False), Bound(ticks=1, spurious=1)),
    "get of 1 s and a put": (program("get with timeout"), Bound(ticks=1, spurious=1)),
    "close while put waits": (program("close while it waits", method="put"), Bound(spurious=1)),
    "close while get waits": (program("close while it waits", method="get"), Bound(spurious=1)),
    "end of the host": (program("end of the host"), Bound(spurious=1)),
}
"""What is explored exhaustively: (program, bound). Preemptions are not limited."""

LARGER: dict[str, Program] = {
    "1 putter, 3 readers, 4 batches, depth 2": program("deliver", ranks=3, batches=4, depth=2),
    "2 putters with 3 batches each, 1 reader": program("two putters", puts=3),
    "poll of the exist word, 6 batches": program("poll then get", batches=6),
}
"""Too large to be exhausted: explored at random."""
